// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the parts of reading a core.

#pragma once

#include "sframe/elf/core.h"

namespace sframe::elf {

/// Reads the notes of a core into it.
class NoteReader {
public:
  explicit NoteReader(Core& core) : core_(core) {}
  void read(std::span<const std::byte> notes, std::uint64_t align);

private:
  void status(std::span<const std::byte> body);
  void fp_registers(std::span<const std::byte> body);
  void process(std::span<const std::byte> body);
  void signal(std::span<const std::byte> body);
  void auxiliary(std::span<const std::byte> body);
  void files(std::span<const std::byte> body);
  void pac_mask(std::span<const std::byte> body);
  void x86_shadow(std::span<const std::byte> body);
  void arm_shadow(std::span<const std::byte> body);
  void report(const char* what);

  Core& core_;
};

/// Finds the images among a core's mappings.
class ModuleFinder {
public:
  explicit ModuleFinder(Core& core) : core_(core) {}
  void find();
  /// For a minidump, with the modules that it lists, by address and disjoint.
  void find(std::vector<CoreModule> listed);

private:
  void add_mapped_files();
  void add_vdso();
  void add_unnamed();
  void add_executable();
  std::vector<Mapping> all_mappings() const;
  bool keep(const CoreModule& module) const;
  std::uint64_t read_header(CoreModule& module, std::uint64_t address) const;
  void read_build_ids(CoreModule& module, const Image& header) const;
  void share_build_ids();
  void finish();

  Core& core_;
};

} // namespace sframe::elf
