// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles a core from its parts, and reads its memory. Notes are in core_notes.cc, images in
// core_modules.cc, minidumps in minidump.cc.

#include "sframe/elf/core.h"

#include "core_notes.h"
#include "minidump.h"
#include "sframe/bytes.h"
#include "sframe/elf/minidump.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>

namespace sframe::elf {

Core::Core(Image image)
    : bytes_(image.bytes()), order_(image.byte_order()), machine_(image.machine()), image_(std::move(image)) {
}

namespace {

/// Thousands of notes may have the same problem, also since segments may overlap: it is reported once, at the
/// first place, with the number of the others.
void merge_repeated(std::vector<Problem>& problems) {
  std::map<std::string, std::size_t> counts;
  std::erase_if(problems, [&](const Problem& problem) { return counts[problem.what]++ != 0; });
  for (Problem& problem : problems)
    if (const std::size_t more = counts[problem.what] - 1; more)
      problem.what += ", and " + std::to_string(more) + " more";
}

} // namespace

Result<Core> Core::parse_minidump(std::span<const std::byte> bytes) {
  Core core(bytes);
  if (const auto done = MinidumpReader(core).read(); !done) return unexpected(done.error());
  merge_repeated(core.problems_);
  return core;
}

Result<Core> Core::parse(std::span<const std::byte> bytes) {
  if (elf::is_minidump(bytes)) return parse_minidump(bytes);
  auto image = Image::parse(bytes);
  if (!image) return unexpected(image.error());
  if (image->type() != et_core) return fail("not a core file");
  Core core(std::move(*image));
  core.problems_.assign(core.image_->problems().begin(), core.image_->problems().end());
  core.index_memory();
  NoteReader reader(core);
  std::uint64_t budget = bytes.size(); // do not read overlapping notes repeatedly
  for (const Segment& segment : core.image_->segments()) {
    if (segment.type != pt_note) continue;
    auto notes = core.image_->contents(segment);
    if (!notes || notes->size() > budget) {
      core.problems_.push_back({"notes run past the end of the file", {}, segment.offset});
      continue;
    }
    budget -= notes->size();
    reader.read(notes->bytes(), segment.align);
  }
  if (core.pid_ == 0 && !core.threads_.empty()) core.pid_ = core.threads_.front().tid;
  ModuleFinder(core).find();
  merge_repeated(core.problems_);
  return core;
}

void Core::index_memory() {
  struct Both {
    MemoryRange range;
    std::uint64_t offset;
  };
  std::vector<Both> ranges;
  const std::uint64_t file_size = bytes_.size();
  for (const Segment& segment : image_->segments()) {
    if (segment.type != pt_load || segment.memory_size == 0) continue;
    std::uint64_t size = segment.memory_size;
    if (segment.address != 0) size = std::min(size, 0 - segment.address);
    const std::uint64_t stored = std::min(segment.file_size, size);
    const std::uint64_t present =
        segment.offset < file_size ? std::min(stored, file_size - segment.offset) : 0;
    truncated_ |= present < stored;
    ranges.push_back({{{segment.address, size}, present, segment.flags}, segment.offset});
  }
  std::ranges::stable_sort(ranges, {}, [](const Both& both) { return both.range.start; });
  memory_.reserve(ranges.size());
  stored_.reserve(ranges.size());
  for (const Both& both : ranges) {
    memory_.push_back(both.range);
    stored_.push_back({both.offset});
  }
}

std::span<const std::byte> Core::bytes_at(std::uint64_t address) const {
  const MemoryRange* range = range_at(address);
  if (!range) return {};
  const std::uint64_t skip = address - range->start;
  if (skip >= range->present) return {};
  const std::uint64_t offset = stored_[static_cast<std::size_t>(range - memory_.data())].file_offset;
  return bytes_.subspan(offset + skip, range->present - skip);
}

std::size_t Core::read(std::uint64_t address, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    auto bytes = bytes_at(address + done);
    if (bytes.empty()) break;
    const std::size_t size = std::min(bytes.size(), out.size() - done);
    std::memcpy(out.data() + done, bytes.data(), size);
    done += size;
  }
  return done;
}

std::optional<std::uint64_t> Core::read_word(std::uint64_t address) const {
  auto bytes = bytes_at(address);
  if (bytes.size() >= 8) return load<std::uint64_t>(bytes.data(), byte_order());
  std::array<std::byte, 8> word{}; // may span two segments
  if (bytes.empty() || read(address, word) != word.size()) return std::nullopt;
  return load<std::uint64_t>(word.data(), byte_order());
}

std::int32_t Core::signal() const {
  if (signal_info_ && signal_info_->signal != 0) return signal_info_->signal;
  return threads_.empty() ? 0 : threads_.front().signal;
}

std::optional<std::uint64_t> Core::auxv(std::uint64_t type) const {
  for (const auto& [tag, value] : auxv_)
    if (tag == type) return value;
  return std::nullopt;
}

const CoreModule* Core::module_at(std::uint64_t address) const {
  const ModuleSpan* const span = sframe::range_at(module_spans_, address);
  return span ? &modules_[span->module] : nullptr;
}

} // namespace sframe::elf
