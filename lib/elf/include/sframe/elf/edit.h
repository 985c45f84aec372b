// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new file as what it changes in another one: ranges of the original stay, or go to another offset, some of
// their bytes are written over, the rest is new. Adding a section changes a few kilobytes of a file that may
// have gigabytes; who writes the result can copy the bulk without reading it (tools/common, output_file.h).

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
  /// Bytes of the original.
  struct Kept {
    std::uint64_t offset = 0; ///< in the new file
    std::uint64_t source = 0; ///< in the original
    std::uint64_t size = 0;
  };

  std::vector<Kept> kept;    ///< by offset, disjoint, none beyond `size`
  std::uint64_t size = 0;    ///< of the new file; what is neither kept nor in a piece is zeros
  std::vector<Piece> pieces; ///< by offset, disjoint, none beyond `size`; written over what is kept

  /// A file of which nothing stays.
  static Edit replace_all(std::vector<std::byte> bytes);

  /// The first `size` bytes of the original, and nothing else so far.
  static Edit keep_start(std::uint64_t size);

  /// Keeps a range, after all others that are kept; `size` grows to hold it.
  void keep(Kept range);

  /// Adds a piece behind all others; `size` grows to hold it.
  void add(std::uint64_t offset, std::vector<std::byte> bytes);

  /// The new file. `original` has all that is kept. Costs the new file's size, time and memory.
  std::vector<std::byte> apply(std::span<const std::byte> original) const;
};

} // namespace sframe::elf
