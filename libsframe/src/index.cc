// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All rows of all functions become one sorted list of (start, rules), cut where functions end. A table over equal pieces of the
// address range says where in the list to look, so that a lookup touches one table word, one or two cache lines of the list, and the
// rules, of which there are few distinct ones.

#include "sframe/index.h"

#include "format/row_budget.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace sframe {

namespace {

struct Function {
  EncodedFde fde;
  std::uint32_t section;
};

std::uint64_t pack(const Rule& rule) {
  return static_cast<std::uint64_t>(rule.kind) << 48 | std::uint64_t{rule.base} << 32 | static_cast<std::uint32_t>(rule.offset);
}

struct RowHash {
  std::size_t operator()(const IndexedRow& row) const {
    std::uint64_t hash = row.signal_frame << 2 | row.row.ra_signed << 1 | static_cast<std::uint64_t>(row.pauth_key);
    for (const Rule* rule : {&row.row.cfa, &row.row.ra, &row.row.fp}) {
      hash = (hash ^ pack(*rule)) * 0xff51afd7ed558ccd;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

struct RowEqual {
  bool operator()(const IndexedRow& a, const IndexedRow& b) const {
    return a.row == b.row && a.signal_frame == b.signal_frame && a.pauth_key == b.pauth_key;
  }
};

} // namespace

class Index::Maker {
public:
  explicit Maker(std::span<const Section> sections) : sections_(sections) {}
  std::expected<Index, Error> make();

private:
  std::optional<Error> collect();
  std::optional<Error> add(const Function& function, std::uint64_t end);
  std::uint32_t intern(const EncodedFde& fde, const FrameRow& row);
  void add_entry(std::uint32_t start, std::uint32_t row);
  void make_buckets();

  std::span<const Section> sections_;
  std::vector<Function> functions_;
  std::vector<format::RowBudget> budgets_;
  std::unordered_map<IndexedRow, std::uint32_t, RowHash, RowEqual> numbers_;
  Index index_;
};

std::optional<Error> Index::Maker::collect() {
  for (std::uint32_t number = 0; number < sections_.size(); ++number) {
    const Section& section = sections_[number];
    budgets_.emplace_back(section);
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      auto fde = section.fde(i);
      if (!fde) return fde.error();
      if (fde->size) functions_.push_back({*fde, number});
    }
  }
  std::ranges::stable_sort(functions_, {}, [](const Function& f) { return f.fde.start; });
  return std::nullopt;
}

std::uint32_t Index::Maker::intern(const EncodedFde& fde, const FrameRow& row) {
  IndexedRow value{row, fde.signal_frame, fde.pauth_key};
  value.row.offset = 0;
  const auto [at, added] = numbers_.try_emplace(value, static_cast<std::uint32_t>(index_.rows_.size()));
  if (added) index_.rows_.push_back(value);
  return at->second;
}

void Index::Maker::add_entry(std::uint32_t start, std::uint32_t row) {
  auto& entries = index_.entries_;
  if (!entries.empty() && entries.back().start == start)
    entries.back().row = row; // the gap before this function turned out to be empty
  else if (entries.empty() || entries.back().row != row)
    entries.push_back({start, row});
}

std::optional<Error> Index::Maker::add(const Function& function, std::uint64_t end) {
  const EncodedFde& fde = function.fde;
  const Section& section = sections_[function.section];
  const auto start = static_cast<std::uint32_t>(fde.start - index_.base_);
  RowCursor cursor = section.rows(fde);
  FrameRow row;
  std::uint32_t count = 0;

  add_entry(start, uncovered);
  if (fde.pc_type == PcType::mask) {
    const auto first = static_cast<std::uint32_t>(index_.mask_entries_.size());
    for (; cursor.next(row); ++count) index_.mask_entries_.push_back({row.offset, intern(fde, row)});
    add_entry(start, masked | static_cast<std::uint32_t>(index_.masks_.size()));
    index_.masks_.push_back({start, fde.rep_size, first, count});
  } else {
    for (; cursor.next(row); ++count)
      if (fde.start + row.offset < end) add_entry(start + row.offset, intern(fde, row));
    if (section.outermost_throughout(fde)) add_entry(start, intern(fde, FrameRow::outermost(0)));
  }
  if (cursor.error()) return cursor.error();
  if (!budgets_[function.section].spend(count)) return Error{ErrorKind::too_large, fde.index_offset, fde.number, Error::none};
  add_entry(static_cast<std::uint32_t>(end - index_.base_), uncovered);
  return std::nullopt;
}

void Index::Maker::make_buckets() {
  // About one bucket per entry: the table stays as small as the list, and most buckets hold one or two entries.
  while ((index_.span_ >> index_.bucket_shift_) > index_.entries_.size()) ++index_.bucket_shift_;
  const std::uint64_t count = (index_.span_ >> index_.bucket_shift_) + 2;
  index_.buckets_.resize(count);
  std::uint32_t entry = 0;
  for (std::uint64_t bucket = 0; bucket < count; ++bucket) {
    const std::uint64_t begin = bucket << index_.bucket_shift_;
    while (entry + 1 < index_.entries_.size() && index_.entries_[entry + 1].start <= begin) ++entry;
    index_.buckets_[bucket] = entry;
  }
}

std::expected<Index, Error> Index::Maker::make() {
  if (auto error = collect()) return std::unexpected(*error);
  if (functions_.empty()) return std::move(index_);

  index_.base_ = functions_.front().fde.start;
  std::uint64_t top = 0;
  for (const Function& f : functions_) top = std::max(top, f.fde.start - index_.base_ + f.fde.size);
  if (top >= 0xffffffff) return std::unexpected(Error{ErrorKind::too_large, 0, Error::none, Error::none});
  index_.span_ = top;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const EncodedFde& fde = functions_[i].fde;
    std::uint64_t end = fde.start + fde.size;
    if (i + 1 < functions_.size()) end = std::min(end, functions_[i + 1].fde.start);
    if (auto error = add(functions_[i], end)) return std::unexpected(*error);
  }
  index_.entries_.shrink_to_fit();
  make_buckets();
  return std::move(index_);
}

std::expected<Index, Error> Index::build(std::span<const Section> sections) { return Maker(sections).make(); }

const IndexedRow* Index::find(std::uint64_t pc) const {
  const std::uint64_t distance = pc - base_;
  if (distance >= span_) return nullptr;
  const auto offset = static_cast<std::uint32_t>(distance);
  const std::uint32_t bucket = offset >> bucket_shift_;
  const Entry* low = entries_.data() + buckets_[bucket];
  for (std::uint32_t count = buckets_[bucket + 1] - buckets_[bucket]; count;) { // last entry that starts at or before offset
    const std::uint32_t half = count - count / 2;
    const bool later = low[half].start > offset;
    low = later ? low : low + half;
    count = later ? half - 1 : count - half;
  }
  if (low->row < masked) return &rows_[low->row];
  if (low->row == uncovered) return nullptr;

  const Mask& mask = masks_[low->row & ~masked];
  const std::uint32_t in_block = (offset - mask.start) % mask.rep_size;
  const IndexedRow* found = nullptr;
  for (const Entry& entry : std::span(mask_entries_).subspan(mask.first, mask.count)) {
    if (entry.start > in_block) break;
    found = &rows_[entry.row];
  }
  return found;
}

std::uint64_t Index::memory() const {
  return buckets_.size() * sizeof(std::uint32_t) + (entries_.size() + mask_entries_.size()) * sizeof(Entry) +
         rows_.size() * sizeof(IndexedRow) + masks_.size() * sizeof(Mask);
}

} // namespace sframe
