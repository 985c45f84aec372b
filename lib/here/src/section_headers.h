// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the section headers of the program's file say that .eh_frame and .sframe are, for programs
// whose program headers do not: static ones, mostly.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::here {

struct FileSection {
  bool is_eh_frame = false;  ///< otherwise .sframe
  std::uint64_t address = 0; ///< as in the file
  std::uint64_t size = 0;
};

/// Those that were found, of both kinds the first few.
struct FileSections {
  std::array<FileSection, 8> all;
  std::size_t count = 0;

  std::span<const FileSection> found() const { return std::span(all).first(count); }
};

/// None where the file (/proc/self/exe) cannot be read or makes no sense. No allocation.
FileSections unwind_sections_of_program();

} // namespace sframe::here
