// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information of a linked file in fewer bytes: what of the file may refer to it, where the new
// tables go, and a mark by which programs recognise the file.
//
//   .rodata  .eh_frame_hdr  .eh_frame                         .gcc_except_table
//   .rodata  .eh_frame_hdr  .eh_frame  .note.sframe  (room)   .gcc_except_table
//
// No address of anything else changes. edit::Insertion puts .sframe into the room, if it fits.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/edit/rewrite.h"
#include "sframe/elf/image.h"
#include "sframe/shrink/compare.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::shrink {

/// A shrunk file has the section `.note.sframe` with a note of owner "SFrame" and type 1, whose descriptor is
/// two 32-bit numbers in the file's byte order: the level, and Plan::max_cfi_bytes().
struct Mark {
  std::uint32_t level = 0; ///< a Level; a later version may have others
  std::uint32_t max_cfi_bytes = 0;
};

inline constexpr std::string_view note_section = ".note.sframe";
inline constexpr std::string_view note_owner = "SFrame";
inline constexpr std::uint32_t note_type = 1;

/// The mark of a file; nothing if it has none. Linear in the section headers.
std::optional<Mark> find_mark(const elf::Image& image);

/// Fails if the file is marked with another level than lossless: its call frame information is not that of
/// the program, and nothing must be made of it.
Result<void> check_complete(const elf::Image& image);

struct ImageOptions {
  Level level = Level::lossless;
  /// Options::max_cfi_bytes. 0: by default_max_cfi_bytes(), and plain_max_cfi_bytes where no function has a
  /// personality routine.
  std::uint32_t max_cfi_bytes = 0;
  std::uint32_t alignment = 1; ///< Options::alignment
};

/// With these, a throw takes at most 1.25 times as long (scripts/measure-throws). The fewer rows a function
/// has, the more functions share an FDE of that size.
constexpr std::uint32_t default_max_cfi_bytes(Level level) {
  return level == Level::lossless ? 128 : level == Level::sync ? 64 : 40;
}
inline constexpr std::uint32_t plain_max_cfi_bytes = 256;

/// Bytes of the tables.
struct TableSizes {
  std::uint64_t eh_frame = 0, eh_frame_hdr = 0;
  std::uint64_t sum() const { return eh_frame + eh_frame_hdr; }
};

struct ShrunkImage {
  /// Of the file: of the same size, all else at the same place. Empty if nothing would be saved.
  std::vector<std::byte> bytes;
  edit::Additions additions; ///< for edit::Insertion::plan(): the room, and the note that has no header yet
  TableSizes before, after;
  std::uint64_t functions = 0, fdes = 0; ///< FDEs before and after
  std::uint64_t copied = 0;              ///< FDEs that are not understood
};

/// Fails, with the reason, where a file may use the tables in another way than by PT_GNU_EH_FRAME, or where
/// they cannot be written again. The file that is made of the result must be compared with the image.
/// Memory: the file. Time: linear in the file, and Plan::make().
Result<ShrunkImage> shrink(const elf::Image& image, const ImageOptions& options);

/// Proves that a file says the same as the one that it was made of, by the level of its mark: compare() of
/// their tables, and equal bytes in the sections of code. But for lossless, .sframe must cover the addresses
/// whose rules differ; sites are found by the bytes of the code alone. Charges the budget of `before`.
Result<Comparison> compare(const elf::Image& before, const elf::Image& after);

} // namespace sframe::shrink

#pragma GCC visibility pop
