// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: pieces of a new file, from the file's structures.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/edit/edit.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace sframe::edit {

/// Adds the pieces to the kept ranges. Fails if two overlap: the input's headers describe bytes twice.
inline Result<Edit> make_edit(Edit edit, std::vector<Edit::Piece> pieces) {
  std::erase_if(pieces, [](const Edit::Piece& piece) { return piece.bytes.empty(); });
  std::ranges::sort(pieces, {}, &Edit::Piece::offset);
  std::uint64_t end = 0;
  for (Edit::Piece& piece : pieces) {
    if (piece.offset < end) return fail("headers, symbols or sections overlap in the file", {}, piece.offset);
    end = piece.offset + piece.bytes.size();
    edit.add(piece.offset, std::move(piece.bytes));
  }
  return edit;
}

/// Copies a table of the file's structures to bytes.
template <std::ranges::contiguous_range Table> std::vector<std::byte> to_bytes(const Table& table) {
  static_assert(alignof(std::ranges::range_value_t<Table>) == 1);
  const auto bytes = std::as_bytes(std::span(table));
  return {bytes.begin(), bytes.end()};
}

} // namespace sframe::edit
