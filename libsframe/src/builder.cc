// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adding functions: add() encodes a function's rows into one growing buffer. With share_rows an equal
// existing run is reused. builder_layout.cc has finish().

#include "sframe/builder.h"

#include "builder_rows.h"
#include "format/encode_words.h"
#include "refused.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sframe {

namespace {

using format::Words;

constexpr std::uint32_t no_run = 0xffffffff;

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  SecretHash hash;
  hash.add(bytes.size());
  std::uint64_t chunk = 0;
  for (; bytes.size() >= sizeof chunk; bytes = bytes.subspan(sizeof chunk)) {
    std::memcpy(&chunk, bytes.data(), sizeof chunk);
    hash.add(chunk);
  }
  chunk = 0;
  for (const std::byte byte : bytes) chunk = chunk << 8 | static_cast<std::uint8_t>(byte);
  hash.add(chunk);
  return hash.value();
}

std::uint32_t tag_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(hash_bytes(bytes));
}

/// Few words: a loop is faster than a call of memcmp().
bool same_words(const Words& a, const Words& b) {
  if (a.info != b.info) return false;
  for (std::uint32_t i = 0; i < a.count; ++i)
    if (a.values[i] != b.values[i]) return false;
  return true;
}

/// Sets the row's words, or returns why the version cannot represent it or the reader not use it.
std::optional<RefusalReason> encode(const FrameRow& row, const WordMeaning& how, const UsableRows& usable,
                                    Words& words) {
  if (row.is_outermost() && !usable.outermost) return RefusalReason::reader;
  if (row.cfa.kind == Rule::Kind::stored && !usable.loaded_cfa &&
      (row.cfa.base == how.abi->sp || row.cfa.base == how.abi->fp))
    return RefusalReason::reader;
  if (!usable.fp_at_cfa && row.fp == Rule::at_cfa(0)) return RefusalReason::reader;
  return format::encode_words(row, how, words);
}

/// Writes the words, each of sizeof(Word) bytes. Returns the end.
template <class Word> std::byte* store_words(const Words& words, std::byte* to, ByteOrder order) {
  for (std::uint32_t w = 0; w < words.count; ++w, to += sizeof(Word))
    store(to, static_cast<Word>(words.values[w]), order);
  return to;
}

/// Writes info byte and words. Returns the end.
std::byte* store_body(const Words& words, std::byte* to, ByteOrder order) {
  *to++ = static_cast<std::byte>(words.info);
  switch (words.size) {
  case 1: return store_words<std::uint8_t>(words, to, order);
  case 2: return store_words<std::uint16_t>(words, to, order);
  default: return store_words<std::uint32_t>(words, to, order);
  }
}

/// Rows that were written.
struct Written {
  std::byte* end;
  std::uint32_t rows, last_body; ///< Run::last_body
};

/// The most that a row takes, and what may be overwritten after the last one.
constexpr std::size_t max_row_size = 4 + 1 + 4 * std::size(Words{}.values),
                      max_plain_row_size = 4 + 1 + 4 + 4;

/// Writes rows with plain words, little-endian: the widths differ from row to row, so branches on them would
/// be mispredicted. All fields are written with four bytes; what is too much is overwritten by the next one.
/// Nothing if a row has to be written in another way, or cannot be written.
std::optional<Written> write_plain(std::span<const FrameRow> rows, std::uint32_t offset_size,
                                   const AbiTraits& abi, const BuildOptions& options, std::byte* to) {
  constexpr auto order = ByteOrder::little;
  std::uint32_t last_info = 0, written = 0, body = 0; // the info byte of a row with words is not 0
  std::int32_t last_cfa = 0, last_fp = 0;
  for (const FrameRow& row : rows) {
    const bool sp_based = row.cfa.base == abi.sp, saves_fp = row.fp.kind != Rule::Kind::same;
    if (row.cfa.kind != Rule::Kind::value || (!sp_based && row.cfa.base != abi.fp) ||
        !format::is_fixed(row.ra, abi.fixed_ra_offset))
      return std::nullopt;
    if (saves_fp && (row.fp.kind != Rule::Kind::stored || row.fp.base != Rule::cfa_base ||
                     (row.fp.offset == 0 && !options.usable.fp_at_cfa)))
      return std::nullopt;
    const std::int32_t cfa = row.cfa.offset, fp = saves_fp ? row.fp.offset : 0;
    const std::int32_t bits = (cfa ^ cfa >> 31) | (fp ^ fp >> 31);
    const std::uint32_t size_code = (bits > 0x7f) + (bits > 0x7fff), count = 1u + saves_fp;
    const std::uint32_t info = format::info_byte(sp_based, count, size_code, row.ra_signed);
    if (options.merge_rows && info == last_info && cfa == last_cfa && fp == last_fp) continue;
    store(to, row.offset, order);
    to += offset_size;
    *to = static_cast<std::byte>(info);
    store(to + 1, cfa, order);
    store(to + 1 + (1u << size_code), fp, order);
    body = 1 + (count << size_code);
    to += body;
    last_info = info, last_cfa = cfa, last_fp = fp;
    ++written;
  }
  return Written{to, written, body};
}

} // namespace

Builder::Builder(BuildOptions options)
    : options_(std::move(options)), abi_(&traits(options_.abi)),
      version_(format::find_version(static_cast<std::uint8_t>(options_.version))),
      order_(options_.byte_order.value_or(abi_->byte_order)) {
  options_.pcrel = options_.pcrel && version_->has_pcrel();
}

std::optional<Refusal> Builder::check(const Fde& fde, std::span<const FrameRow> rows) const {
  const auto refuse = [&](RefusalReason reason) { return Refusal{reason, Refusal::none, fde.start}; };
  if (options_.start_fields && !options_.start_fields->reach(options_.version, fde.start))
    return refuse(RefusalReason::out_of_reach);
  if (fde.signal_frame && !version_->has_signal) return refuse(RefusalReason::signal_frame);
  if (fde.pc_type == PcType::mask &&
      (fde.rep_size == 0 || (!version_->has_rep_size && fde.rep_size != abi_->plt_entry_size)))
    return refuse(RefusalReason::rep_size);
  if (rows.empty() && !version_->empty_is_outermost) return refuse(RefusalReason::no_rows);
  if (rows.empty() && !options_.usable.outermost) return refuse(RefusalReason::reader);
  return std::nullopt;
}

/// The rows in the order of their offsets: unchanged if already sorted, else sorted in scratch_.
expected<std::span<const FrameRow>, Refusal> Builder::order_rows(const Fde& fde,
                                                                 std::span<const FrameRow> rows) {
  const bool in_order =
      std::ranges::adjacent_find(rows, std::greater_equal(), &FrameRow::offset) == rows.end();
  if (in_order && (rows.empty() || rows.back().offset < fde.row_limit())) return rows;
  if (!std::ranges::is_sorted(rows, {}, &FrameRow::offset)) {
    scratch_.assign(rows.begin(), rows.end());
    std::ranges::sort(scratch_, {},
                      &FrameRow::offset); // equal offsets are refused, so the sort need not be stable
    rows = scratch_;
  }
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    if (i && rows[i].offset == rows[i - 1].offset) return refused(RefusalReason::row_order, fde, i);
    if (rows[i].offset && rows[i].offset >= fde.row_limit())
      return refused(RefusalReason::row_past_end, fde, i);
  }
  return rows;
}

WordMeaning Builder::meaning(FdeType type) const {
  return format::word_meaning(*version_, *abi_, type, abi_->fixed_ra_offset, abi_->fixed_fp_offset);
}

std::optional<RefusalReason> Builder::refusal(const FrameRow& row, FdeType type) const {
  Words words;
  return encode(row, meaning(type), options_.usable, words);
}

std::optional<RefusalReason> Builder::refusal(const FrameRow& row) const {
  const auto standard = refusal(row, FdeType::standard);
  return standard && version_->has_flex ? refusal(row, FdeType::flex) : standard;
}

/// Appends the encoded rows, which are in order, to encoded_. A refusal leaves encoded_ unchanged.
expected<Builder::Run, Refusal> Builder::encode_rows(const Fde& fde, std::span<const FrameRow> rows,
                                                     FdeType type) {
  const WordMeaning how = meaning(type);
  // A last row that will be merged must not widen all offsets.
  while (options_.merge_rows && rows.size() > 1 && rows.back().same_rules(rows[rows.size() - 2]))
    rows = rows.first(rows.size() - 1);
  const FreType fre_type = format::fre_type_for(rows.empty() ? 0 : rows.back().offset);
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fre_type);
  const std::uint64_t at = encoded_.size();
  const auto refuse = [&](RefusalReason reason, std::uint32_t row = Refusal::none) {
    encoded_.resize(at);
    return refused(reason, fde, row);
  };

  // Space for the longest possible rows; the unused part is released. If memory runs out, nothing is left of
  // an attempt before, which would count for size().
  const auto make_space = [&](std::size_t row_size) {
    encoded_.resize(at);
    return extend(encoded_, version_->attribute_size + rows.size() * row_size) + version_->attribute_size;
  };
  std::optional<Written> written;
  if (order_ == ByteOrder::little && format::has_plain_words(how))
    written = write_plain(rows, offset_size, *abi_, options_, make_space(max_plain_row_size));
  if (!written) {
    std::byte* to = make_space(max_row_size);
    Words two[2]; // the row's and the one before
    std::uint32_t num_fres = 0, body = 0;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      Words& words = two[num_fres & 1];
      if (const auto reason = encode(rows[i], how, options_.usable, words)) return refuse(*reason, i);
      if (options_.merge_rows && num_fres && same_words(words, two[~num_fres & 1])) continue;
      format::store_field(to, rows[i].offset, offset_size, order_);
      to = store_body(words, to + offset_size, order_);
      body = 1u + words.count * words.size;
      ++num_fres;
    }
    written = {to, num_fres, body};
  }
  const auto [end, num_fres, body] = *written;
  encoded_.resize(static_cast<std::size_t>(end - encoded_.data()));
  const std::uint64_t size = encoded_.size() - at;
  if (num_fres > version_->max_fres) return refuse(RefusalReason::too_many_rows);
  if (size > max_u32) return refuse(RefusalReason::section_too_large);

  EncodedFde attributes{fde};
  attributes.num_fres = num_fres;
  attributes.fre_type = fre_type;
  attributes.fde_type = type;
  version_->codec.write_attributes(encoded_.data() + at, order_, attributes);
  return Run{at & Run::max_at, fre_type, static_cast<std::uint8_t>(body & Run::max_body),
             static_cast<std::uint32_t>(size), num_fres};
}

expected<void, Refusal> Builder::add(const Fde& fde, std::span<const FrameRow> rows) {
  if (functions_.size() == max_u32) return refused(RefusalReason::section_too_large, fde);
  if (auto refusal = check(fde, rows)) return unexpected(*refusal);
  const auto ordered = order_rows(fde, rows);
  if (!ordered) return unexpected(ordered.error());

  // If memory runs out, it does so before anything is added.
  make_room(functions_);
  make_room(runs_);
  if (options_.share_rows) make_room_in_table();

  auto encoded = encode_rows(fde, *ordered, FdeType::standard);
  if (!encoded && version_->has_flex) {
    const Refusal standard = encoded.error();
    encoded = encode_rows(fde, *ordered, FdeType::flex);
    // Each FDE type can represent only one of two rows: the cause is the mixture.
    if (!encoded && standard.row != Refusal::none && encoded.error().row != Refusal::none &&
        !refusal((*ordered)[encoded.error().row], FdeType::standard) &&
        !refusal((*ordered)[standard.row], FdeType::flex))
      encoded.error().reason = RefusalReason::mixed_rules;
  }
  if (!encoded) return unexpected(encoded.error());
  functions_.push_back({fde, add_run(*encoded)});
  num_fres_ += encoded->num_fres;
  return {};
}

Builder::Added Builder::last_added() const {
  const auto& [fde, run, joins] = functions_.back();
  Added added;
  added.run_ = run;
  added.last_offset_ = runs_[run].num_fres ? last_row(runs_[run]).offset : 0;
  added.pc_type_ = fde.pc_type;
  added.rep_size_ = fde.rep_size;
  added.signal_frame_ = fde.signal_frame;
  added.pauth_key_ = fde.pauth_key;
  return added;
}

expected<void, Refusal> Builder::add_again(const Added& added, std::uint64_t start, std::uint32_t size) {
  const Fde fde{.start = start,
                .size = size,
                .pc_type = added.pc_type_,
                .rep_size = added.rep_size_,
                .signal_frame = added.signal_frame_,
                .pauth_key = added.pauth_key_};
  if (functions_.size() == max_u32) return refused(RefusalReason::section_too_large, fde);
  if (options_.start_fields && !options_.start_fields->reach(options_.version, start))
    return refused(RefusalReason::out_of_reach, fde);
  if (added.last_offset_ && added.last_offset_ >= fde.row_limit())
    return refused(RefusalReason::row_past_end, fde);
  make_room(functions_);
  make_room(runs_);
  const Run run = runs_[added.run_];
  functions_.push_back({fde, options_.share_rows ? added.run_ : copy_run(*this, run)});
  num_fres_ += run.num_fres;
  return {};
}

void Builder::reserve(std::size_t functions, std::size_t encoded_bytes) {
  functions_.reserve(functions);
  if (!options_.share_rows) runs_.reserve(functions);
  encoded_.reserve(encoded_bytes);
}

void Builder::clear() {
  functions_.clear();
  runs_.clear();
  encoded_.clear();
  holders_.clear();
  std::ranges::fill(table_, Slot{no_run, 0});
  num_fres_ = 0;
}

void Builder::append(const Builder& other) {
  make_room(functions_, other.functions_.size()); // all or none, if memory runs out
  if (options_.share_rows) make_room_in_table(other.runs_.size());
  const auto tags = options_.share_rows ? other.tags_of_runs() : std::vector<std::uint32_t>();
  std::vector<std::uint32_t> runs;
  runs.reserve(other.runs_.size());
  for (std::size_t i = 0; i < other.runs_.size(); ++i) {
    // The slots are anywhere in memory, which takes longer than all else here.
    constexpr std::size_t ahead = 16;
    if (i + ahead < tags.size()) __builtin_prefetch(&table_[tags[i + ahead] & (table_.size() - 1)]);
    const Run run = other.runs_[i];
    runs.push_back(options_.share_rows ? share_run(other, run, tags[i]) : push_run(copy_bytes(other, run)));
  }
  for (const Function& function : other.functions_) functions_.push_back({function.fde, runs[function.run]});
  num_fres_ += other.num_fres_;
}

/// The tag of each run.
std::vector<std::uint32_t> Builder::tags_of_runs() const {
  std::vector<std::uint32_t> tags(runs_.size());
  if (table_.empty())
    std::ranges::transform(runs_, tags.begin(), [&](const Run& run) { return tag_of(run_bytes(run)); });
  for (const Slot& slot : table_)
    if (slot.run != no_run) tags[slot.run] = slot.tag;
  return tags;
}

/// Appends the bytes of another builder's run to encoded_.
Builder::Run Builder::copy_bytes(const Builder& from, const Run& run) {
  Run copy = run;
  copy.at = encoded_.size() & Run::max_at;
  const std::size_t from_at = run.at, size = run.size;
  std::byte* const to = extend(encoded_, size);
  std::memcpy(to, from.encoded_.data() + from_at, size); // `from` may be this builder
  return copy;
}

/// Returns the number of a run with the bytes of another builder's run.
std::uint32_t Builder::copy_run(const Builder& from, const Run& run) {
  if (options_.share_rows) return share_run(from, run, tag_of(from.run_bytes(run)));
  return push_run(copy_bytes(from, run));
}

/// Same with share_rows, if the tag of the bytes is known. Copies them only if there is no equal run.
std::uint32_t Builder::share_run(const Builder& from, const Run& run, std::uint32_t tag) {
  make_room_in_table();
  Slot& slot = slot_for(from.run_bytes(run), run.fre_type, tag);
  if (slot.run == no_run) slot = {push_run(copy_bytes(from, run)), tag};
  return slot.run;
}

/// True if `function` starts at the end of `last` and has the same rules and marks.
bool Builder::continues(const Function& function, const Function& last) const {
  const Fde &fde = function.fde, &before = last.fde;
  const Run &run = runs_[function.run], &run_before = runs_[last.run];
  return fde.start - before.start == before.size && std::uint64_t{before.size} + fde.size <= max_u32 &&
         fde.pc_type == PcType::inc && before.pc_type == PcType::inc &&
         fde.signal_frame == before.signal_frame && fde.pauth_key == before.pauth_key && run.num_fres <= 1 &&
         run_before.num_fres <= 1 && std::ranges::equal(run_bytes(run), run_bytes(run_before));
}

void Builder::merge_functions() {
  std::ranges::stable_sort(functions_, {}, [](const Function& f) { return f.fde.start; });
  Builder merged(options_);
  for (std::size_t first = 0, last; first < functions_.size(); first = last) {
    Function joined = functions_[first];
    for (last = first + 1; last < functions_.size() && continues(functions_[last], joined); ++last)
      joined.fde.size += functions_[last].fde.size;
    const Run& run = runs_[joined.run];
    joined.run = merged.copy_run(*this, run);
    merged.functions_.push_back(joined);
    merged.num_fres_ += run.num_fres;
  }
  *this = std::move(merged);
}

/// Returns the number of a run with these bytes: `run` itself, which ends encoded_, or an equal earlier one.
std::uint32_t Builder::add_run(const Run& run) {
  if (!options_.share_rows) return push_run(run);
  make_room_in_table();
  const auto bytes = run_bytes(run);
  const std::uint32_t tag = tag_of(bytes);
  Slot& slot = slot_for(bytes, run.fre_type, tag);
  if (slot.run == no_run)
    slot = {push_run(run), tag};
  else
    encoded_.resize(run.at);
  return slot.run;
}

/// Returns the number of the new run.
std::uint32_t Builder::push_run(const Run& run) {
  runs_.push_back(run);
  return static_cast<std::uint32_t>(runs_.size() - 1);
}

/// The slot of the run with these bytes, or the free one for it.
Builder::Slot& Builder::slot_for(std::span<const std::byte> bytes, FreType fre_type, std::uint32_t tag) {
  const std::uint64_t mask = table_.size() - 1;
  for (std::uint64_t at = tag & mask;; at = (at + 1) & mask) {
    Slot& slot = table_[at];
    if (slot.run == no_run) return slot;
    if (slot.tag != tag) continue;
    const Run& run = runs_[slot.run];
    // Rows of different FRE types can have equal bytes if the type is stored in the index (V1, V2).
    if (run.fre_type == fre_type && std::ranges::equal(run_bytes(run), bytes)) return slot;
  }
}

/// Makes room for so many more runs: at most half of the slots are used.
void Builder::make_room_in_table(std::size_t more) {
  const std::size_t least = (runs_.size() + more) * 2;
  if (least <= table_.size()) return;
  LargeVector<Slot> larger(std::max<std::size_t>(64, std::bit_ceil(least)), Slot{no_run, 0});
  const std::uint64_t mask = larger.size() - 1;
  const auto insert = [&](const Slot& slot) {
    std::uint64_t at = slot.tag & mask;
    while (larger[at].run != no_run) at = (at + 1) & mask;
    larger[at] = slot;
  };
  for (const Slot& slot : table_)
    if (slot.run != no_run) insert(slot);
  if (table_.empty())
    for (std::uint32_t number = 0; number < runs_.size(); ++number)
      insert({number, tag_of(run_bytes(runs_[number]))});
  table_ = std::move(larger);
}

} // namespace sframe
