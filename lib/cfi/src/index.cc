// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/cfi/index.h"

#include <algorithm>

namespace sframe::cfi {

std::expected<Index, Error> Index::build(const Section& section, std::vector<Error>* faults) {
  if (section.bytes().size() > UINT32_MAX) return std::unexpected(Error{ErrorKind::too_large, 0});
  Index index;
  for (FdeCursor cursor = section.fdes();;) {
    const auto fde = cursor.next();
    if (!fde) {
      if (faults) faults->push_back(fde.error());
      continue;
    }
    if (!*fde) break;
    if ((*fde)->size == 0) continue;
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>((*fde)->size, UINT32_MAX));
    index.entries_.push_back({(*fde)->start, size, static_cast<std::uint32_t>((*fde)->offset)});
  }
  const auto before = [](const Entry& a, const Entry& b) {
    return a.start != b.start ? a.start < b.start : a.offset < b.offset;
  };
  if (!std::ranges::is_sorted(index.entries_, before)) std::ranges::sort(index.entries_, before);
  return index;
}

const Index::Entry* Index::find(std::uint64_t pc) const {
  auto after = std::ranges::upper_bound(entries_, pc, {}, &Entry::start);
  for (std::size_t i = 0; i < max_overlap && after != entries_.begin(); ++i) {
    --after;
    if (after->size == UINT32_MAX || pc - after->start < after->size) return &*after;
  }
  return nullptr;
}

std::expected<std::optional<Fde>, Error> FdeFinder::find(std::uint64_t pc) {
  if (!table_) return find_in_index(pc);
  if (auto fde = find_in_table(pc)) return fde;
  if (!table_checked_ && !table_sound()) {
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

bool FdeFinder::table_sound() const {
  if (!table_->sorted()) return false;
  for (std::uint64_t i = 0; i < table_->size(); ++i)
    if (!fde_of(table_->entry(i))) return false;
  return true;
}

std::expected<std::optional<Fde>, Error> FdeFinder::find_in_index(std::uint64_t pc) {
  if (!index_) {
    auto built = Index::build(section_);
    if (!built) return std::unexpected(built.error());
    index_ = std::move(*built);
  }
  const Index::Entry* entry = index_->find(pc);
  if (!entry) return std::nullopt;
  const auto fde = section_.fde(entry->offset);
  if (!fde) return std::unexpected(fde.error());
  return fde->contains(pc) ? std::optional<Fde>(*fde) : std::nullopt;
}

} // namespace sframe::cfi
