// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A format of cores: how a file of it is recognised, and read. One file per format defines its CoreFormat;
// core_formats.def lists them. For the libraries of this tree; not installed.

#pragma once

#include "sframe/core/core.h"

namespace sframe::core {

struct CoreFormat {
  /// True if the file is of this format. Reads its first bytes only.
  bool (*recognises)(std::span<const std::byte> file);
  /// Fails if the file is not of this format after all, or of a system or kind that is not supported. What is
  /// damaged goes to CoreData::problems.
  Result<CoreData> (*read)(std::span<const std::byte> file);
};

namespace formats {
#define SFRAME_CORE_FORMAT(name) extern const CoreFormat name;
#include "sframe/core_formats.def"
} // namespace formats

/// The ELF file of a core, with its PT_LOAD segments as memory: what all systems' ELF cores have alike. Fails
/// if it is no ELF64 core.
Result<CoreData> read_elf_core(std::span<const std::byte> file);

/// Calls `read(notes, alignment)` for each segment of notes, until the file's size is read: segments may
/// overlap.
template <class F> void each_note_segment(CoreData& core, F&& read) {
  std::uint64_t left = core.bytes.size();
  for (const elf::Segment& segment : core.image->segments()) {
    if (segment.type != elf::pt_note) continue;
    const auto notes = core.image->contents(segment);
    if (!notes || notes->size() > left) {
      core.problems.push_back({"notes run past the end of the file", {}, segment.offset});
      continue;
    }
    left -= notes->size();
    read(notes->bytes(), segment.align);
  }
}

} // namespace sframe::core
