// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: fills a Core from a minidump.

#pragma once

#include "sframe/base/proc_text.h"
#include "sframe/elf/core.h"

#include <array>

namespace sframe::elf {

class MinidumpReader {
public:
  /// `core` has the file's bytes, and nothing else yet.
  explicit MinidumpReader(Core& core) : core_(core), bytes_(core.bytes_), left_(core.bytes_.size()) {}

  /// Fails for a file that is no minidump of Linux; what is damaged in it goes to the core's problems.
  Result<void> read();

private:
  /// The streams that are used, in the order of `kinds` in minidump.cc.
  enum Stream : std::uint8_t {
    thread_list,
    module_list,
    memory_list,
    exception,
    system_info,
    memory64_list,
    misc_info,
    memory_info_list,
    thread_names,
    linux_status,
    linux_command_line,
    linux_auxv,
    linux_maps,
    stream_count
  };
  /// Memory of the process that is in the file.
  struct Block : AddressRange {
    std::uint64_t offset; ///< in the file
  };
  /// Memory with the same permissions.
  struct Area : AddressRange {
    std::uint32_t flags; ///< pf_r, pf_w, pf_x
  };

  Result<void> read_directory();
  Result<void> read_system();
  void read_threads();
  void read_exception();
  void read_thread_names();
  void read_process();
  void read_memory_list();
  void read_memory64_list();
  void read_mappings();
  std::vector<Area> areas() const;
  void add_memory(std::span<const Area> areas);
  std::vector<CoreModule> listed_modules();
  void set_name();

  void report(std::string what, std::uint64_t offset);
  template <class T> const T* record(Stream stream);
  template <class T> std::span<const T> list(Stream stream, std::uint64_t header, std::uint64_t count);
  template <class T> std::span<const T> counted(Stream stream);
  std::string_view text(Stream stream) const;
  std::string_view utf16_at(std::uint64_t offset, std::size_t most);
  std::span<const std::byte> located(std::uint64_t offset, std::uint64_t size);
  void add_block(std::uint64_t address, std::uint64_t offset, std::uint64_t size);

  Core& core_;
  std::span<const std::byte> bytes_;
  /// Of the file's size: what entries point to may overlap, but is read for this size only.
  std::uint64_t left_;
  std::array<std::span<const std::byte>, stream_count> streams_{};
  std::array<std::uint64_t, stream_count> offsets_{}; ///< of the streams in the file
  std::vector<MapsLine> maps_;
  std::vector<Block> blocks_;
};

} // namespace sframe::elf
