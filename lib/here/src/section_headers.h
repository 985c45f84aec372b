// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the section headers of the program's file say that .eh_frame and .sframe are, for programs
// whose program headers do not: static ones, mostly.

#pragma once

#include <cstdint>
#include <vector>

namespace sframe::walk::own {

struct FileSection {
  bool is_eh_frame = false;  ///< otherwise .sframe
  std::uint64_t address = 0; ///< as in the file
  std::uint64_t size = 0;
};

/// None where the file (/proc/self/exe) cannot be read or makes no sense. May throw std::bad_alloc.
std::vector<FileSection> unwind_sections_of_program();

} // namespace sframe::walk::own
