// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of all functions become one sorted list of pieces (start, rule), with gaps between functions; the
// list is cut into blocks, and the rules are numbered by how many rows have them. By example, a file whose
// code is 0x1000-0x1410:
//
//   pieces: 0x1000 rule A, 0x1001 rule B, 0x1407 none     (relative to the first group, 0x1000: 0, 1, 0x407)
//   groups: first row 0, rows 2 0 0 0                      (0x1000-0x13ff)
//           first row 2, rows 1 0 0 0                      (0x1400-0x17ff)
//   rows:   start 0 rule 1; start 1 rule 2; start 7 rule 0

#include "sframe/bpf/make_table.h"

#include "sframe/address.h"
#include "sframe/bpf/table.h"
#include "sframe/bytes.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sframe::bpf {

namespace {

/// A rule as it is stored: one word, or three if it is wide.
struct StoredRule {
  std::array<std::uint64_t, SFRAME_BPF_WIDE_WORDS> words{};
  bool wide = false;

  friend bool operator==(const StoredRule&, const StoredRule&) = default;
};

struct StoredRuleHash {
  std::size_t operator()(const StoredRule& rule) const {
    SecretHash hash;
    hash.add(rule.wide);
    for (const std::uint64_t word : rule.words) hash.add(word);
    return hash.value();
  }
};

constexpr std::uint64_t low(std::int32_t number) {
  return static_cast<std::uint32_t>(number);
}

constexpr bool fits(std::int64_t number, int bits) {
  return number >= -(std::int64_t{1} << (bits - 1)) && number < std::int64_t{1} << (bits - 1);
}

/// RA or FP; `fixed_offset` is that of the section's header.
sframe_bpf_value to_value(const Rule& rule, std::int32_t fixed_offset) {
  switch (rule.kind) {
  case Rule::Kind::same: return {SFRAME_BPF_SAME, 0, 0};
  case Rule::Kind::undefined: return {SFRAME_BPF_UNKNOWN, 0, 0};
  case Rule::Kind::fixed: return {SFRAME_BPF_STORED, SFRAME_BPF_CFA_IN_WIDE, fixed_offset};
  case Rule::Kind::value: return {SFRAME_BPF_SUM, rule.base, rule.offset};
  case Rule::Kind::stored: return {SFRAME_BPF_STORED, rule.base, rule.offset};
  }
  std::unreachable();
}

/// The value in 16 bits, if they can represent it.
std::optional<std::uint64_t> in_short(const sframe_bpf_value& value) {
  std::uint64_t base = value.base;
  if (base == SFRAME_BPF_CFA_IN_WIDE)
    base = SFRAME_BPF_CFA_IN_RULE;
  else if (base >= SFRAME_BPF_CFA_IN_RULE)
    return std::nullopt;
  if (!fits(value.offset, 9)) return std::nullopt;
  return value.kind | base << 2 | (low(value.offset) & 0x1ff) << 7;
}

StoredRule to_stored(const Header& header, const EncodedFde& fde, const FrameRow& row) {
  if (row.is_outermost()) return {{SFRAME_BPF_OUTERMOST}, false};
  if (row.cfa.kind != Rule::Kind::value && row.cfa.kind != Rule::Kind::stored) return {}; // no version has it
  const sframe_bpf_value ra = to_value(row.ra, header.fixed_ra_offset);
  const sframe_bpf_value fp = to_value(row.fp, header.fixed_fp_offset);
  const std::uint64_t flags = SFRAME_BPF_ROW | std::uint64_t{fde.signal_frame} << 2 |
                              std::uint64_t{row.ra_signed} << 3 |
                              std::uint64_t{row.ra_signed && fde.pauth_key == PauthKey::b} << 4 |
                              std::uint64_t{row.cfa.kind == Rule::Kind::stored} << 5;
  const auto short_ra = in_short(ra), short_fp = in_short(fp);
  if (short_ra && short_fp && row.cfa.base <= 0xff && fits(row.cfa.offset, 16))
    return {{flags | std::uint64_t{row.cfa.base} << 8 | (low(row.cfa.offset) & 0xffff) << 16 |
             *short_ra << 32 | *short_fp << 48},
            false};
  return {{flags | std::uint64_t{row.cfa.base} << 8 | std::uint64_t{ra.kind} << 24 |
               std::uint64_t{ra.base} << 26 | std::uint64_t{fp.kind} << 42 | std::uint64_t{fp.base} << 44,
           low(row.cfa.offset) | low(ra.offset) << 32, low(fp.offset)},
          true};
}

class Maker {
public:
  Maker(std::span<const Section> sections, std::span<const std::byte> build_id, const IsPadding& is_padding)
      : sections_(sections), build_id_(build_id), is_padding_(is_padding) {
    intern({}); // number 0: no rows
  }
  Result<MadeTable> make();

private:
  struct Function {
    EncodedFde fde;
    std::uint32_t section;
  };
  /// The rule applies from `start`, which is relative to base_, to the next piece.
  struct Piece {
    std::uint32_t start, rule;
  };
  static constexpr std::uint32_t no_rows = 0;

  Result<void> collect();
  Result<void> add_functions();
  Result<void> add(const Function& function, std::uint32_t end);
  std::uint32_t intern(const StoredRule& rule);
  void add_piece(std::uint32_t start, std::uint32_t rule);
  void merge_gaps();
  void drop_crowded();
  void number_rules();
  void write(MadeTable& table) const;
  void write_header(const MadeTable& table, std::span<std::uint64_t> words) const;
  void write_rows(std::span<std::uint64_t> groups, std::span<std::uint64_t> rows,
                  std::span<std::uint64_t> escapes) const;

  std::span<const Section> sections_;
  std::span<const std::byte> build_id_;
  const IsPadding& is_padding_;
  std::vector<Function> functions_;
  std::vector<std::uint64_t> rows_left_; ///< per section: how many more rows it may have
  std::unordered_map<StoredRule, std::uint32_t, StoredRuleHash> ids_;
  std::vector<StoredRule> rules_; ///< in the order in which they were found; pieces_ have these numbers
  std::array<std::uint32_t, 1024> recent_{}; ///< numbers of rules that were found last
  std::vector<std::uint32_t> by_rank_;       ///< the same numbers, by their number in the table
  std::vector<std::uint32_t> ranks_;         ///< the inverse
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_; ///< of a function: offset, rule
  std::vector<Piece> pieces_;
  std::uint64_t base_ = 0;
  std::uint64_t num_groups_ = 0;
  std::uint64_t merged_gaps_ = 0;
  std::uint64_t lost_addresses_ = 0;
};

Result<void> Maker::collect() {
  for (std::uint32_t number = 0; number < sections_.size(); ++number) {
    const Section& section = sections_[number];
    if (section.abi().id != sections_.front().abi().id) return fail("sections of different ABIs", ".sframe");
    rows_left_.push_back(section.plausible_rows());
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const auto fde = section.fde(i);
      if (!fde) return unexpected(to_problem(fde.error()));
      if (fde->size) functions_.push_back({*fde, number});
    }
  }
  std::ranges::sort(functions_, {},
                    [](const Function& f) { return std::tuple(f.fde.start, f.section, f.fde.number); });
  return {};
}

/// Few rules are those of most rows.
std::uint32_t Maker::intern(const StoredRule& rule) {
  std::uint32_t& recent = recent_[rule.words[0] * 0x9e3779b97f4a7c15 >> 54];
  if (recent < rules_.size() && rules_[recent] == rule) return recent;
  const auto [at, added] = ids_.try_emplace(rule, static_cast<std::uint32_t>(rules_.size()));
  if (added) rules_.push_back(rule);
  return recent = at->second;
}

void Maker::add_piece(std::uint32_t start, std::uint32_t rule) {
  if (!pieces_.empty() && pieces_.back().start == start) pieces_.pop_back(); // it applies to no address
  if (pieces_.empty() ? rule != no_rows : pieces_.back().rule != rule) pieces_.push_back({start, rule});
}

/// Adds the pieces of a function that ends at `end`, relative to base_.
Result<void> Maker::add(const Function& function, std::uint32_t end) {
  const EncodedFde& fde = function.fde;
  const Section& section = sections_[function.section];
  const auto start = static_cast<std::uint32_t>(fde.start - base_);
  auto& rows = rows_;
  rows.clear();
  RowCursor cursor = section.rows(fde);
  for (FrameRow row; cursor.next(row);) {
    if (rows.size() == section.plausible_rows()) break;
    rows.emplace_back(row.offset, intern(to_stored(section.header(), fde, row)));
  }
  if (cursor.error()) return unexpected(to_problem(*cursor.error()));
  if (section.outermost_throughout(fde))
    rows.emplace_back(0, intern(to_stored(section.header(), fde, FrameRow::outermost(0))));

  add_piece(start, no_rows);
  const std::uint32_t size = end - start;
  const std::uint32_t step = fde.pc_type == PcType::mask && fde.rep_size ? fde.rep_size : size;
  for (std::uint32_t block = 0; block < size; block += std::min(step, size - block)) {
    std::uint64_t& left = rows_left_[function.section];
    if (rows.size() + 1 > left)
      return fail("too many rows for the section's size", ".sframe", fde.index_offset);
    left -= rows.size() + (block != 0);
    if (block != 0 && (rows.empty() || rows.front().first != 0)) add_piece(start + block, no_rows);
    for (const auto& [offset, rule] : rows)
      if (offset < size - block) add_piece(start + block + offset, rule);
  }
  add_piece(end, no_rows);
  return {};
}

Result<void> Maker::add_functions() {
  if (functions_.empty()) return {};
  const std::uint64_t first = functions_.front().fde.start;
  base_ = first - first % SFRAME_BPF_GROUP_BYTES;
  std::uint64_t span = 0;
  for (const Function& f : functions_) span = std::max(span, range_end(f.fde.start - base_, f.fde.size));
  if (span > 0xffffffff) return fail("its code spans more than 4 GiB", ".sframe");
  num_groups_ = (span + SFRAME_BPF_GROUP_BYTES - 1) / SFRAME_BPF_GROUP_BYTES;
  if (base_ + (num_groups_ * SFRAME_BPF_GROUP_BYTES - 1) < base_)
    return fail("its code ends after the last address", ".sframe");
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const EncodedFde& fde = functions_[i].fde;
    std::uint64_t end = fde.start - base_ + fde.size;
    if (i + 1 < functions_.size()) end = std::min(end, functions_[i + 1].fde.start - base_);
    if (end == fde.start - base_) continue; // another one starts here
    if (auto added = add(functions_[i], static_cast<std::uint32_t>(end)); !added) return added;
  }
  if (!pieces_.empty() && pieces_.back().start >= num_groups_ * SFRAME_BPF_GROUP_BYTES) pieces_.pop_back();
  return {};
}

/// Leaves padding between rows to the row before it.
void Maker::merge_gaps() {
  if (!is_padding_) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece piece = pieces_[i];
    if (piece.rule == no_rows && i + 1 < pieces_.size()) {
      const AddressRange gap{base_ + piece.start, pieces_[i + 1].start - piece.start};
      if (gap.size <= max_padding && is_padding_(gap)) {
        ++merged_gaps_;
        continue;
      }
    }
    if (kept == 0 || pieces_[kept - 1].rule != piece.rule) pieces_[kept++] = piece;
  }
  pieces_.resize(kept);
}

/// A block that has a row at each of its bytes, which no compiler makes, has one more than a group can count.
/// The last two addresses have no rows then.
void Maker::drop_crowded() {
  std::vector<Piece> kept;
  std::uint32_t in_block = 0;
  kept.reserve(pieces_.size());
  for (const Piece& piece : pieces_) {
    const bool same =
        !kept.empty() && kept.back().start / SFRAME_BPF_BLOCK_BYTES == piece.start / SFRAME_BPF_BLOCK_BYTES;
    in_block = same ? in_block + 1 : 1;
    if (in_block <= SFRAME_BPF_MAX_BLOCK_ROWS) {
      kept.push_back(piece);
      continue;
    }
    kept.back().rule = no_rows;
    lost_addresses_ += 2;
    // The rule of the last byte may be that of the next block's first ones.
    const std::uint32_t next = piece.start + 1;
    const Piece* const after = &piece + 1;
    if (next < num_groups_ * SFRAME_BPF_GROUP_BYTES &&
        (after == pieces_.data() + pieces_.size() || after->start != next)) {
      kept.push_back({next, piece.rule});
      in_block = 1;
    }
  }
  pieces_ = std::move(kept);
}

/// By the number of rows; the rules that few rows have need an escape for each.
void Maker::number_rules() {
  std::vector<std::uint64_t> counts(rules_.size());
  for (const Piece& piece : pieces_) ++counts[piece.rule];
  by_rank_.resize(rules_.size());
  std::iota(by_rank_.begin(), by_rank_.end(), 0u);
  // Numbers of rules depend on the rows alone, so the bytes do.
  std::sort(by_rank_.begin() + 1, by_rank_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(~counts[a], a) < std::pair(~counts[b], b);
  });
  while (by_rank_.size() > 1 && counts[by_rank_.back()] == 0) by_rank_.pop_back(); // overwritten rows had it
  ranks_.resize(rules_.size());
  for (std::uint32_t rank = 0; rank < by_rank_.size(); ++rank) ranks_[by_rank_[rank]] = rank;
}

void Maker::write_header(const MadeTable& table, std::span<std::uint64_t> words) const {
  words[0] = SFRAME_BPF_MAGIC | std::uint64_t{SFRAME_BPF_VERSION} << 32 |
             std::uint64_t{static_cast<std::uint8_t>(sections_.front().abi().id)} << 40 |
             std::uint64_t{SFRAME_BPF_HEADER_WORDS} << 48;
  words[1] = base_;
  words[2] = num_groups_ | table.rows << 32;
  words[3] = table.rules | table.escapes << 32;
  words[4] = table.wide_rules | std::uint64_t{build_id_.size()} << 32;
  for (std::size_t i = 0; i < build_id_.size(); ++i)
    words[5 + i / 8] |= std::to_integer<std::uint64_t>(build_id_[i]) << 8 * (i % 8);
}

void Maker::write_rows(std::span<std::uint64_t> groups, std::span<std::uint64_t> rows,
                       std::span<std::uint64_t> escapes) const {
  std::size_t escape = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    groups[piece.start / SFRAME_BPF_GROUP_BYTES] += std::uint64_t{1}
                                                    << (32 + 8 * (piece.start / SFRAME_BPF_BLOCK_BYTES % 4));
    const std::uint64_t rank = ranks_[piece.rule];
    const std::uint64_t stored = std::min<std::uint64_t>(rank, SFRAME_BPF_ESCAPE);
    rows[i / 4] |= (piece.start % SFRAME_BPF_BLOCK_BYTES | stored << 8) << 16 * (i % 4);
    if (stored == SFRAME_BPF_ESCAPE) escapes[escape++] = rank | std::uint64_t{i} << 32;
  }
  std::uint64_t first = 0;
  for (std::uint64_t& group : groups) {
    group |= first;
    for (int block = 0; block < 4; ++block) first += group >> (32 + 8 * block) & 255;
  }
}

void Maker::write(MadeTable& table) const {
  const std::uint64_t row_words = (table.rows + 3) / 4;
  std::vector<std::uint64_t> words(SFRAME_BPF_HEADER_WORDS + num_groups_ + row_words + table.rules +
                                   table.escapes + SFRAME_BPF_WIDE_WORDS * table.wide_rules);
  std::span<std::uint64_t> rest(words);
  const auto take = [&](std::uint64_t count) {
    const std::span<std::uint64_t> part = rest.first(count);
    rest = rest.subspan(count);
    return part;
  };
  write_header(table, take(SFRAME_BPF_HEADER_WORDS));
  const auto groups = take(num_groups_), rows = take(row_words), rules = take(table.rules);
  write_rows(groups, rows, take(table.escapes));
  std::uint64_t wide = 0;
  for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
    const StoredRule& rule = rules_[by_rank_[rank]];
    rules[rank] = rule.wide ? SFRAME_BPF_WIDE | wide++ << 32 : rule.words[0];
    if (rule.wide) std::ranges::copy(rule.words, take(SFRAME_BPF_WIDE_WORDS).begin());
  }
  const ByteOrder order = sections_.front().abi().byte_order;
  table.bytes.resize(words.size() * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < words.size(); ++i)
    store(table.bytes.data() + i * sizeof(std::uint64_t), words[i], order);
}

Result<MadeTable> Maker::make() {
  if (sections_.empty()) return fail("no section .sframe");
  if (build_id_.size() > SFRAME_BPF_MAX_BUILD_ID) return fail("a build ID of more than 64 bytes");
  if (auto done = collect(); !done) return unexpected(std::move(done.error()));
  if (auto done = add_functions(); !done) return unexpected(std::move(done.error()));
  merge_gaps();
  drop_crowded();
  number_rules();
  if (by_rank_.size() > SFRAME_BPF_MAX_RULES) return fail("more than 16,777,216 distinct rules", ".sframe");
  MadeTable table{.bytes = {},
                  .rows = pieces_.size(),
                  .rules = by_rank_.size(),
                  .merged_gaps = merged_gaps_,
                  .lost_addresses = lost_addresses_};
  for (const Piece& piece : pieces_) table.escapes += ranks_[piece.rule] >= SFRAME_BPF_ESCAPE;
  for (const std::uint32_t number : by_rank_) table.wide_rules += rules_[number].wide;
  write(table);
  return table;
}

} // namespace

Result<MadeTable> make_table(std::span<const Section> sections, std::span<const std::byte> build_id,
                             const IsPadding& is_padding) {
  return Maker(sections, build_id, is_padding).make();
}

} // namespace sframe::bpf
