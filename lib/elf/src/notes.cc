// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELF notes (System V ABI, chapter 5, "Note Section"): three 32-bit words (name size, body size, type), the
// owner's name, the body, each padded to the alignment.

#include "sframe/elf/notes.h"

#include "sframe/address.h"

namespace sframe::elf {

std::optional<Note> NoteCursor::next() {
  constexpr std::uint64_t header_size = 12;
  if (damaged_ || at_ >= bytes_.size()) return std::nullopt;
  if (bytes_.size() - at_ < header_size) {
    damaged_ = true;
    return std::nullopt;
  }
  const std::byte* at = bytes_.data() + at_;
  const std::uint64_t name_size = load<std::uint32_t>(at, order_);
  const std::uint64_t body_size = load<std::uint32_t>(at + 4, order_);
  // 32-bit sizes cannot overflow 64-bit sums.
  const std::uint64_t body_at = align_up(header_size + name_size, align_);
  const std::uint64_t left = bytes_.size() - at_;
  if (body_at > left || body_size > left - body_at) {
    damaged_ = true;
    return std::nullopt;
  }
  Note note;
  note.type = load<std::uint32_t>(at + 8, order_);
  note.owner = {reinterpret_cast<const char*>(at + header_size), name_size};
  while (note.owner.ends_with('\0')) note.owner.remove_suffix(1);
  note.body = bytes_.subspan(at_ + body_at, body_size);
  at_ += align_up(body_at + body_size, align_);
  return note;
}

bool is_build_id(const Note& note, BuildIdNote kind) {
  if (kind == BuildIdNote::go) return note.type == nt_go_build_id && note.owner == "Go";
  return note.type == nt_gnu_build_id && note.owner == "GNU";
}

std::span<const std::byte> build_id_in_notes(std::span<const std::byte> notes, ByteOrder order,
                                             std::uint64_t align, BuildIdNote kind) {
  NoteCursor cursor(notes, order, align);
  while (auto note = cursor.next())
    if (is_build_id(*note, kind)) return note->body;
  return {};
}

} // namespace sframe::elf
