// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an image is mapped in a process: what is known of that before its file is opened, and what follows
// from the file.

#pragma once

#include "sframe/base/lazy.h"
#include "sframe/elf/image.h"
#include "sframe/elf/mapped_images.h"
#include "sframe/modules/address.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::modules {

/// A mapping of the module's file.
struct ModuleMapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t file_offset = 0; ///< bytes
  bool moved = false;            ///< other memory in the place of the file's: the file offset is unknown
};

/// What is known of a module before its file is opened.
struct ModuleInfo {
  std::string path; ///< without " (deleted)"; "[vdso]"; may be empty
  /// Where the file is looked for if `path` is a name without a folder; may be nullptr.
  std::shared_ptr<const std::vector<std::string>> folders;
  /// A path to the mapped file itself, under any name: opened instead of `path`, and needs no check.
  std::string file;
  bool deleted = false;
  bool vdso = false;
  bool main = false;                  ///< the executable
  bool assumed = false;               ///< derived from `entry` only: nothing in the core names it
  bool placed = false;                ///< the mapping is assumed: addresses come from the file's segments
  std::optional<std::uint64_t> entry; ///< of the executable: its entry point in the process
  std::uint64_t start = 0, end = 0;
  std::optional<std::uint64_t> bias;
  std::vector<std::byte> build_id;     ///< the linker's, else Go's
  std::vector<std::byte> go_build_id;  ///< Go's, if it is known
  bool build_id_cut = false;           ///< as in core::CoreModule; false once the file was found
  std::vector<ModuleMapping> mappings; ///< by address
  std::uint64_t header_address = 0;    ///< where the ELF header is mapped; 0 if it is not

  /// The path as the kernel writes it: with " (deleted)" appended if the file is gone.
  void set_path(std::string_view written);
  bool contains(std::uint64_t address) const { return start <= address && address < end; }
};

/// The image's bias, if this is its file: the one that is known, else by the entry point, else that by which
/// the mappings fit the file (elf::BiasFinder). Nothing if there is none.
std::optional<std::uint64_t> find_bias(const ModuleInfo& info, const elf::Image& file,
                                       Lazy<elf::BiasFinder>& finder);

class Mapping {
public:
  explicit Mapping(ModuleInfo info) : info_(std::move(info)) {}

  const ModuleInfo& info() const { return info_; }
  /// The bias as far as it is known; else the start of the module.
  std::uint64_t bias() const { return info_.bias.value_or(info_.start); }

  /// Takes the build IDs of the file, which is the one that was mapped.
  void identify(const elf::Image& file);
  /// Derives from the file, opened at `path`, what is not known yet: the bias, the mappings, the path.
  /// `finder` is of the file.
  void locate(const elf::Image& file, Lazy<elf::BiasFinder>& finder, const std::string& path);

  /// The mapping of an address; nullptr if it is in none.
  const ModuleMapping* find(Address address) const;

private:
  void locate_by_segments(const elf::Image& file, Lazy<elf::BiasFinder>& finder);

  ModuleInfo info_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
