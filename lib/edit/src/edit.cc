// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/edit/edit.h"

#include <algorithm>
#include <utility>

namespace sframe::edit {

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

namespace {

/// Walks over [begin, end) in ranges that no piece overwrites.
template <class Visit>
bool outside_pieces(const std::vector<Edit::Piece>& pieces, std::uint64_t begin, std::uint64_t end,
                    Visit&& visit) {
  auto piece = std::ranges::upper_bound(pieces, begin, {}, &Edit::Piece::offset);
  if (piece != pieces.begin()) --piece;
  for (; piece != pieces.end() && piece->offset < end; ++piece) {
    if (begin < piece->offset && !visit(begin, piece->offset)) return false;
    begin = std::max(begin, piece->offset + piece->bytes.size());
  }
  return begin >= end || visit(begin, end);
}

} // namespace

bool Edit::gives(std::span<const std::byte> original, std::span<const std::byte> other) const {
  if (other.size() != size) return false;
  for (const Piece& piece : pieces)
    if (!std::ranges::equal(piece.bytes, other.subspan(piece.offset, piece.bytes.size()))) return false;
  const auto is_zero = [&](std::uint64_t begin, std::uint64_t end) {
    return std::ranges::all_of(other.subspan(begin, end - begin),
                               [](std::byte b) { return b == std::byte(0); });
  };
  std::uint64_t at = 0;
  for (const Kept& range : kept) {
    const auto is_kept = [&](std::uint64_t begin, std::uint64_t end) {
      return std::ranges::equal(original.subspan(begin - range.offset + range.source, end - begin),
                                other.subspan(begin, end - begin));
    };
    const std::uint64_t end = range.offset + range.size;
    if (!outside_pieces(pieces, at, range.offset, is_zero) ||
        !outside_pieces(pieces, range.offset, end, is_kept))
      return false;
    at = end;
  }
  return outside_pieces(pieces, at, size, is_zero);
}

} // namespace sframe::edit
