// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new file said as what it changes in another one: the first bytes of the original stay, some of them are
// written over, the rest is new. Adding a section changes a few kilobytes of a file that may have gigabytes;
// who writes the result can copy the bulk without reading it (tools/common, output_file.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::elf {

struct Edit {
  struct Piece {
    std::uint64_t offset = 0; ///< in the new file
    std::vector<std::byte> bytes;
  };

  std::uint64_t kept = 0;    ///< so many bytes from the original's start are the new file's start
  std::uint64_t size = 0;    ///< of the new file; what is neither kept nor in a piece is zeros
  std::vector<Piece> pieces; ///< by offset, disjoint, none beyond `size`

  /// A file of which nothing stays.
  static Edit replace_all(std::vector<std::byte> bytes);

  /// Adds a piece behind all others; `size` grows to hold it.
  void add(std::uint64_t offset, std::vector<std::byte> bytes);

  /// The new file. `original` has at least `kept` bytes. Costs the new file's size, time and memory.
  std::vector<std::byte> apply(std::span<const std::byte> original) const;
};

} // namespace sframe::elf
