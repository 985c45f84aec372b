// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the places of .eh_frame and .sframe in the section headers of the program's file, for programs
// whose program headers lack them: mostly static ones.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::here {

struct FileSection {
  bool is_eh_frame = false;  ///< otherwise .sframe
  std::uint64_t address = 0; ///< address in the file's headers
  std::uint64_t size = 0;
};

/// The sections found, the first few of both kinds.
struct FileSections {
  std::array<FileSection, 8> all;
  std::size_t count = 0;

  std::span<const FileSection> found() const { return std::span(all).first(count); }
};

/// None if the file (/proc/self/exe) cannot be read or is invalid. No allocation.
FileSections unwind_sections_of_program();

} // namespace sframe::here
