// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new file as changes to another one: ranges of the original stay or move to another offset, some of their
// bytes are overwritten, the rest is new. Adding a section changes a few kilobytes of a file that may have
// gigabytes; the writer can copy the rest without reading it (tools/common, output_file.h).

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::edit {

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
  std::uint64_t size = 0;    ///< of the new file; bytes neither kept nor in a piece are zeros
  std::vector<Piece> pieces; ///< by offset, disjoint, none beyond `size`; overwrite kept bytes

  /// A file that keeps nothing of the original.
  static Edit replace_all(std::vector<std::byte> bytes);

  /// Keeps only the first `size` bytes of the original.
  static Edit keep_start(std::uint64_t size);

  /// Keeps a range, after all other kept ranges; `size` grows to hold it.
  void keep(Kept range);

  /// Adds a piece after all others; `size` grows to hold it.
  void add(std::uint64_t offset, std::vector<std::byte> bytes);

  /// The new file. `original` must contain all kept ranges. Time and memory: the new file's size.
  std::vector<std::byte> apply(std::span<const std::byte> original) const;

  /// True if apply(original) would equal `other`. Time: the new file's size; no memory.
  bool gives(std::span<const std::byte> original, std::span<const std::byte> other) const;
};

} // namespace sframe::edit

#pragma GCC visibility pop
