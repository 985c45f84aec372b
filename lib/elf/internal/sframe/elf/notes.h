// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: ELF notes, read from files and from the memory of a core.

#pragma once

#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sframe::elf {

/// Types of ELF notes.
inline constexpr std::uint32_t nt_gnu_build_id = 3, nt_go_build_id = 4;

struct Note {
  std::string_view owner; ///< without the final zero
  std::uint32_t type = 0;
  std::span<const std::byte> body;
};

/// Iterates over the notes in `bytes`. `align` is that of the segment or section: 8 means that names and
/// bodies are padded to 8, else to 4.
class NoteCursor {
public:
  NoteCursor(std::span<const std::byte> bytes, ByteOrder order, std::uint64_t align)
      : bytes_(bytes), order_(order), align_(align == 8 ? 8 : 4) {}

  /// The next note; nothing at the end, and if a note does not fit (then damaged() is true).
  std::optional<Note> next();
  bool damaged() const { return damaged_; }
  std::uint64_t offset() const { return at_; }

private:
  std::span<const std::byte> bytes_;
  ByteOrder order_;
  std::uint64_t align_;
  std::uint64_t at_ = 0;
  bool damaged_ = false;
};

/// Who made a build ID: the linker; or Go (cmd/internal/buildid), which counts where there is no other.
enum class BuildIdNote : std::uint8_t { gnu, go };
inline constexpr BuildIdNote build_id_notes[] = {BuildIdNote::gnu, BuildIdNote::go};
bool is_build_id(const Note& note, BuildIdNote kind);

/// The descriptor of the build ID among the notes; empty if there is none of this kind.
std::span<const std::byte> build_id_in_notes(std::span<const std::byte> notes, ByteOrder order,
                                             std::uint64_t align, BuildIdNote kind);

} // namespace sframe::elf
