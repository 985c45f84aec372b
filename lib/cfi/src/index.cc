// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FdeIndex::build() reads the FDEs of a section once, in parts on several threads, and sorts them by start.
// FDEs may overlap: find() looks at max_overlap of them before the address, so that a lookup is a binary
// search and a constant. FdeFinder uses a linker's table until an address is not in it; then it checks all of
// the table, once, and makes an index instead if the table is not sorted or one of its entries is wrong.

#include "sframe/cfi/index.h"

#include "sframe/base/parallel.h"

#include <algorithm>

namespace sframe::cfi {

namespace {

/// Bytes that one thread reads at a time.
constexpr std::uint64_t part_size = 256 << 10;

/// Bytes of the shortest FDE that linkers write: length, CIE, start and size, padding.
constexpr std::uint64_t least_fde = 20;

/// The FDEs of a part of a section, in its order.
struct Part {
  std::vector<FdeIndex::Entry> entries;
  std::vector<Error> faults;
};

void sort(std::vector<FdeIndex::Entry>& entries) {
  if (!std::ranges::is_sorted(entries, {}, &FdeIndex::Entry::start)) // most are
    std::ranges::stable_sort(entries, {}, &FdeIndex::Entry::start);
}

/// `bytes`: the part's size.
Part read_part(FdeCursor fdes, std::uint64_t bytes) {
  Part part;
  part.entries.reserve(bytes / least_fde); // what is not used costs address space only
  for (;;) {
    const auto fde = fdes.next();
    if (!fde) {
      part.faults.push_back(fde.error());
      continue;
    }
    if (!*fde) break;
    if ((*fde)->size == 0) continue;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>((*fde)->size, UINT32_MAX));
    part.entries.push_back({(*fde)->start, size, static_cast<std::uint32_t>((*fde)->offset)});
  }
  return part;
}

} // namespace

expected<FdeIndex, Error> FdeIndex::build(const CfiSection& section, std::vector<Error>* faults,
                                          unsigned threads, std::span<const std::uint64_t> parts_of_section) {
  const std::uint64_t size = section.bytes().size();
  if (size > UINT32_MAX) return unexpected(Error{ErrorKind::too_large, 0});
  std::vector<std::uint64_t> starts = {0};
  if (threads > 1 && parts_of_section.empty())
    starts = section.parts(part_size);
  else if (threads > 1)
    starts.assign(parts_of_section.begin(), parts_of_section.end());
  std::vector<Part> parts(starts.size());
  for_each_parallel(parts.size(), threads, [&](std::size_t i) {
    const std::uint64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
    parts[i] = read_part({section, starts[i], end}, end - starts[i]);
  });
  FdeIndex index;
  if (parts.size() == 1) {
    index.entries_ = std::move(parts[0].entries);
    if (faults) faults->insert(faults->end(), parts[0].faults.begin(), parts[0].faults.end());
    sort(index.entries_);
    return index;
  }
  std::size_t count = 0;
  for (const Part& part : parts) count += part.entries.size();
  index.entries_.reserve(count);
  for (Part& part : parts) {
    if (faults) faults->insert(faults->end(), part.faults.begin(), part.faults.end());
    index.entries_.insert(index.entries_.end(), part.entries.begin(), part.entries.end());
    part = {};
  }
  sort(index.entries_);
  return index;
}

const FdeIndex::Entry* FdeIndex::find(std::uint64_t pc) const {
  auto after = std::ranges::upper_bound(entries_, pc, {}, &Entry::start);
  for (std::size_t i = 0; i < max_overlap && after != entries_.begin(); ++i) {
    --after;
    if (after->size == UINT32_MAX || pc - after->start < after->size) return &*after;
  }
  return nullptr;
}

CfiSection eh_frame_part(const CfiSection& rest, const std::optional<EhFrameHdr>& table) {
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; table && i < table->size(); ++i)
    if (const std::uint64_t offset = table->entry(i).fde - rest.address(); offset < rest.bytes().size())
      last = std::max(last, offset);
  const auto fde = rest.fde(last); // at offset 0 there is a CIE
  std::uint64_t end = fde ? fde->instructions_offset + fde->instructions.size() : 0;
  FdeCursor others(rest, end, rest.bytes().size());
  for (;;) {
    const auto next = others.next();
    if (!next || !*next || (*next)->after_terminator) break;
    end = others.offset();
  }
  return {rest.kind(), rest.bytes().first(end), rest.address(), rest.abi(), rest.bases()};
}

expected<std::optional<Fde>, Error> FdeFinder::find(std::uint64_t pc) {
  if (!table_) return find_in_index(pc);
  if (auto fde = find_in_table(pc)) return fde;
  if (!table_checked_ && !is_table_valid()) {
    table_.reset();
    return find_in_index(pc);
  }
  table_checked_ = true;
  return std::nullopt;
}

std::optional<Fde> FdeFinder::fde_of(const EhFrameHdr::Entry& entry) const {
  if (entry.fde < section_.address()) return std::nullopt;
  const auto fde = section_.fde(entry.fde - section_.address());
  return fde && fde->start == entry.start ? std::optional<Fde>(*fde) : std::nullopt;
}

std::optional<Fde> FdeFinder::find_in_table(std::uint64_t pc) const {
  const auto entry = table_->find(pc);
  if (!entry) return std::nullopt;
  auto fde = fde_of(*entry);
  return fde && fde->contains(pc) ? fde : std::nullopt;
}

bool FdeFinder::is_table_valid() const {
  if (!table_->sorted()) return false;
  for (std::uint64_t i = 0; i < table_->size(); ++i)
    if (!fde_of(table_->entry(i))) return false;
  return true;
}

expected<std::optional<Fde>, Error> FdeFinder::find_in_index(std::uint64_t pc) {
  if (!index_) {
    auto built = FdeIndex::build(section_);
    if (!built) return unexpected(built.error());
    index_ = std::move(*built);
  }
  const FdeIndex::Entry* entry = index_->find(pc);
  if (!entry) return std::nullopt;
  const auto fde = section_.fde(entry->offset);
  if (!fde) return unexpected(fde.error());
  return fde->contains(pc) ? std::optional<Fde>(*fde) : std::nullopt;
}

} // namespace sframe::cfi
