// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ELF cores of all systems have alike: PT_LOAD segments with the process's memory (System V gABI;
// the notes are each system's own).

#include "sframe/core/core_format.h"

#include <algorithm>

namespace sframe::core {

using namespace elf;

namespace {

void add_memory(CoreData& core) {
  const std::uint64_t file_size = core.bytes.size();
  for (const Segment& segment : core.image->segments()) {
    if (segment.type != pt_load || segment.memory_size == 0) continue;
    std::uint64_t size = segment.memory_size;
    if (segment.address != 0) size = std::min(size, 0 - segment.address);
    const std::uint64_t stored = std::min(segment.file_size, size);
    const std::uint64_t present =
        segment.offset < file_size ? std::min(stored, file_size - segment.offset) : 0;
    core.truncated |= present < stored;
    core.memory.push_back({{segment.address, size}, present, segment.flags, segment.offset});
  }
  std::ranges::stable_sort(core.memory, {}, &MemoryRange::start);
}

} // namespace

Result<CoreData> read_elf_core(std::span<const std::byte> file) {
  auto image = Image::parse(file);
  if (!image) return unexpected(image.error());
  if (image->type() != et_core) return fail("not a core file");
  CoreData core{.bytes = file, .byte_order = image->byte_order(), .machine = image->machine()};
  core.problems.assign(image->problems().begin(), image->problems().end());
  core.image = std::move(*image);
  add_memory(core);
  return core;
}

} // namespace sframe::core
