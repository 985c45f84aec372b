// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/edit.h"

#include <algorithm>
#include <utility>

namespace sframe::elf {

Edit Edit::replace_all(std::vector<std::byte> bytes) {
  Edit edit;
  edit.add(0, std::move(bytes));
  return edit;
}

Edit Edit::keep_start(std::uint64_t size) {
  Edit edit;
  edit.keep({0, 0, size});
  return edit;
}

void Edit::keep(Kept range) {
  if (range.size == 0) return;
  size = std::max(size, range.offset + range.size);
  kept.push_back(range);
}

void Edit::add(std::uint64_t offset, std::vector<std::byte> bytes) {
  size = std::max(size, offset + bytes.size());
  pieces.push_back({offset, std::move(bytes)});
}

std::vector<std::byte> Edit::apply(std::span<const std::byte> original) const {
  std::vector<std::byte> out(size);
  for (const Kept& range : kept)
    std::ranges::copy(original.subspan(range.source, range.size),
                      out.begin() + static_cast<std::ptrdiff_t>(range.offset));
  for (const Piece& piece : pieces)
    std::ranges::copy(piece.bytes, out.begin() + static_cast<std::ptrdiff_t>(piece.offset));
  return out;
}

} // namespace sframe::elf
