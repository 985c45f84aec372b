// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of all functions form one sorted list of (start, rule ID), with gaps between functions. The list
// is divided into groups of equal address ranges, so small that an entry's offset in its group and its ID
// share 32 bits, and these into buckets, whose table has 16 bits for each. A lookup reads one word of either
// table, which are small enough for a cache, 64 bytes of entries, and the rules, few of which are distinct.

#include "sframe/index.h"

#include "sframe/address.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>

namespace sframe {

namespace {

std::uint64_t pack(const Rule& rule) {
  return static_cast<std::uint64_t>(rule.kind) << 48 | std::uint64_t{rule.base} << 32 |
         static_cast<std::uint32_t>(rule.offset);
}

/// Entries that find() compares without branching.
constexpr std::uint32_t linear_search_limit = 16;

/// A group has at most 2^max_group_bits buckets.
constexpr std::uint32_t max_group_bits = 8;

/// An entry, or a key to compare it with, as a signed number that is in the same order.
constexpr std::int32_t key_of(std::uint32_t entry) {
  return static_cast<std::int32_t>(entry ^ 0x80000000);
}

} // namespace

class Index::Maker {
public:
  explicit Maker(std::span<const Section> sections) : sections_(sections) {}
  expected<Index, Error> make();

private:
  struct Function {
    EncodedFde fde;
    std::uint32_t section;
  };

  struct RowHash {
    std::size_t operator()(const IndexedRow& row) const {
      SecretHash hash;
      hash.add(row.signal_frame << 2 | row.row.ra_signed << 1 | static_cast<std::uint64_t>(row.pauth_key));
      for (const Rule* rule : {&row.row.cfa, &row.row.ra, &row.row.fp}) hash.add(pack(*rule));
      return hash.value();
    }
  };

  struct RowEqual {
    bool operator()(const IndexedRow& a, const IndexedRow& b) const {
      return a.row == b.row && a.signal_frame == b.signal_frame && a.pauth_key == b.pauth_key;
    }
  };

  /// These rules hold from `start` (relative to base_). Masks are numbered from first_mask up until all rows
  /// are known.
  struct Piece {
    std::uint32_t start, id;
  };
  static constexpr std::uint32_t uncovered = 0xffffffff;
  static constexpr std::uint32_t first_mask = 0x80000000;

  std::optional<Error> collect();
  std::optional<Error> add(const Function& function, std::uint32_t end);
  std::uint32_t intern(const EncodedFde& fde, const FrameRow& row);
  void add_piece(std::uint32_t start, std::uint32_t id);
  void choose_bucket_size();
  void fill_buckets();

  std::span<const Section> sections_;
  std::vector<Function> functions_;
  std::vector<std::uint64_t> rows_left_; ///< per section: how many more rows it may name
  std::unordered_map<IndexedRow, std::uint32_t, RowHash, RowEqual> numbers_;
  std::vector<Piece> pieces_;
  Index index_;
};

std::optional<Error> Index::Maker::collect() {
  for (std::uint32_t number = 0; number < sections_.size(); ++number) {
    const Section& section = sections_[number];
    rows_left_.push_back(section.plausible_rows());
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      auto fde = section.fde(i);
      if (!fde) return fde.error();
      if (fde->size) functions_.push_back({*fde, number});
    }
  }
  std::ranges::sort(functions_, {},
                    [](const Function& f) { return std::tuple(f.fde.start, f.section, f.fde.number); });
  return std::nullopt;
}

std::uint32_t Index::Maker::intern(const EncodedFde& fde, const FrameRow& row) {
  IndexedRow value{row, fde.signal_frame, fde.pauth_key};
  value.row.offset = 0;
  const auto [at, added] = numbers_.try_emplace(value, static_cast<std::uint32_t>(index_.rows_.size()));
  if (added) index_.rows_.push_back(value);
  return at->second;
}

void Index::Maker::add_piece(std::uint32_t start, std::uint32_t id) {
  if (!pieces_.empty() && pieces_.back().start == start)
    pieces_.back().id = id; // the gap before this function is empty
  else if (pieces_.empty() || pieces_.back().id != id)
    pieces_.push_back({start, id});
}

/// Adds the pieces of a function that ends at `end`, relative to base_.
std::optional<Error> Index::Maker::add(const Function& function, std::uint32_t end) {
  const EncodedFde& fde = function.fde;
  const Section& section = sections_[function.section];
  const auto start = static_cast<std::uint32_t>(fde.start - index_.base_);
  RowCursor cursor = section.rows(fde);
  FrameRow row;
  std::uint32_t count = 0;

  add_piece(start, uncovered);
  if (fde.pc_type == PcType::mask) {
    const auto first = static_cast<std::uint32_t>(index_.mask_rows_.size());
    for (; cursor.next(row); ++count) index_.mask_rows_.push_back({row.offset, intern(fde, row)});
    add_piece(start, first_mask + static_cast<std::uint32_t>(index_.masks_.size()));
    index_.masks_.push_back({start, fde.rep_size, first, count});
  } else {
    for (; cursor.next(row); ++count)
      if (start + row.offset < end) add_piece(start + row.offset, intern(fde, row));
  }
  if (section.outermost_throughout(fde)) add_piece(start, intern(fde, FrameRow::outermost(0)));
  if (cursor.error()) return cursor.error();
  if (count > rows_left_[function.section])
    return Error{ErrorKind::too_large, fde.index_offset, fde.number, Error::none};
  rows_left_[function.section] -= count;
  add_piece(end, uncovered);
  return std::nullopt;
}

/// Four to eight pieces to a bucket, or fewer if the IDs need the bits. There are at most as many IDs as
/// pieces plus one, so the tables have only a few words per piece, even if functions are far apart.
void Index::Maker::choose_bucket_size() {
  const std::uint64_t ids =
      index_.rows_.size() + index_.masks_.size() + 2; // uncovered, and the end of a group
  const auto needed = static_cast<std::uint32_t>(std::bit_width(ids));
  std::uint32_t shift = 4;
  while (index_.span_ >> shift > pieces_.size() / 4) ++shift;
  index_.bucket_shift_ = std::min(shift, 32 - needed);
  index_.group_shift_ = std::min(index_.bucket_shift_ + max_group_bits, 32 - needed);
  index_.id_bits_ = 32 - index_.group_shift_;
  index_.row_count_ = static_cast<std::uint32_t>(index_.rows_.size());
}

void Index::Maker::fill_buckets() {
  const std::uint32_t shift = index_.group_shift_;
  const std::uint32_t nothing = (1u << index_.id_bits_) - 2;
  const auto id_of = [&](const Piece& piece) {
    if (piece.id == uncovered) return nothing;
    return piece.id < first_mask ? piece.id : index_.row_count_ + (piece.id - first_mask);
  };
  const std::uint64_t count = (index_.span_ >> shift) + 1;
  const std::uint64_t bucket_size = std::uint64_t{1} << index_.bucket_shift_;
  const std::uint32_t buckets = 1u << (shift - index_.bucket_shift_); // in a group
  index_.groups_.reserve(count);
  index_.buckets_.reserve(count * buckets);
  index_.entries_.reserve(pieces_.size() + count * (linear_search_limit + 1));
  std::uint32_t held = nothing; // the ID of the piece before
  auto next = pieces_.begin();
  for (std::uint64_t begin = 0; begin >> shift < count; begin += std::uint64_t{1} << shift) {
    const std::size_t first = index_.entries_.size();
    index_.groups_.push_back(static_cast<std::uint32_t>(first));
    const auto add = [&](std::uint64_t offset) {
      index_.entries_.push_back(key_of(static_cast<std::uint32_t>(offset) << index_.id_bits_ | held));
    };
    std::uint32_t bucket = 0;
    // The buckets that start before the next entry have it from the last one.
    const auto add_buckets = [&](std::uint64_t end) {
      for (; bucket < end; ++bucket)
        index_.buckets_.push_back(
            static_cast<std::uint16_t>(std::min<std::size_t>(index_.entries_.size() - first - 1, 0xffff)));
    };
    if (next == pieces_.end() || next->start > begin) add(0);
    for (; next != pieces_.end() && (next->start - begin) >> shift == 0; ++next) {
      const std::uint64_t offset = next->start - begin;
      add_buckets((offset + bucket_size - 1) >> index_.bucket_shift_);
      held = id_of(*next);
      add(offset);
    }
    add_buckets(buckets);
    index_.entries_.insert(index_.entries_.end(), linear_search_limit, key_of(0xffffffff));
  }
}

expected<Index, Error> Index::Maker::make() {
  if (auto error = collect()) return unexpected(*error);
  if (functions_.empty()) return std::move(index_);

  index_.base_ = functions_.front().fde.start;
  for (const Function& f : functions_)
    index_.span_ = std::max(index_.span_, range_end(f.fde.start - index_.base_, f.fde.size));
  if (index_.span_ >= uncovered) return unexpected(Error{ErrorKind::too_large, 0, Error::none, Error::none});
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const EncodedFde& fde = functions_[i].fde;
    std::uint64_t end = fde.start - index_.base_ + fde.size;
    if (i + 1 < functions_.size()) end = std::min(end, functions_[i + 1].fde.start - index_.base_);
    if (auto error = add(functions_[i], static_cast<std::uint32_t>(end))) return unexpected(*error);
  }
  choose_bucket_size();
  fill_buckets();
  return std::move(index_);
}

expected<Index, Error> Index::build(std::span<const Section> sections) {
  return Maker(sections).make();
}

const IndexedRow* Index::find(std::uint64_t pc) const {
  const std::uint64_t distance = pc - base_;
  if (distance >= span_) return nullptr;
  const auto offset = static_cast<std::uint32_t>(distance);
  const std::uint32_t group = offset >> group_shift_;
  const std::int32_t* entry = entries_.data() + groups_[group] + buckets_[offset >> bucket_shift_];

  // The last entry that starts at or before the address: the key is not below any such entry. Nearly all
  // buckets have a few entries; counting those without branches is faster than a binary search.
  const std::uint32_t in_group = offset & ((1u << group_shift_) - 1);
  const std::int32_t key = key_of((in_group << id_bits_) + ((1u << id_bits_) - 2));
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < linear_search_limit; ++i)
    before += static_cast<std::uint32_t>(entry[i] <= key);
  entry += before - 1;
  if (before == linear_search_limit) [[unlikely]] {
    const std::size_t end = group + 1 < groups_.size() ? groups_[group + 1] : entries_.size();
    entry = std::upper_bound(entry, entries_.data() + end, key) - 1;
  }

  const std::uint32_t id = static_cast<std::uint32_t>(*entry) & ((1u << id_bits_) - 1);
  if (id < row_count_) [[likely]]
    return &rows_[id];
  if (id - row_count_ < masks_.size()) return find_in_block(masks_[id - row_count_], offset);
  return nullptr;
}

const IndexedRow* Index::find_in_block(const Mask& mask, std::uint32_t offset) const {
  const std::uint32_t in_block = (offset - mask.start) % mask.rep_size;
  const IndexedRow* found = nullptr;
  for (const MaskRow& row : std::span(mask_rows_).subspan(mask.first, mask.count)) {
    if (row.offset > in_block) break;
    found = &rows_[row.row];
  }
  return found;
}

std::uint64_t Index::memory() const {
  return groups_.size() * sizeof(std::uint32_t) + buckets_.size() * sizeof(std::uint16_t) +
         entries_.size() * sizeof(std::int32_t) + rows_.size() * sizeof(IndexedRow) +
         masks_.size() * sizeof(Mask) + mask_rows_.size() * sizeof(MaskRow);
}

} // namespace sframe
