// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// add() encodes a function's rows into one growing buffer; finish() sorts the functions, assigns each run of
// encoded rows its position in that order, and copies. With share_rows an equal existing run is reused.

#include "sframe/builder.h"

#include "format/words.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

namespace sframe {

namespace {

using format::Words;

constexpr std::uint32_t no_run = 0xffffffff;
constexpr std::uint64_t max_u32 = 0xffffffff;

std::unexpected<Refusal> refused(RefusalReason reason, const Fde& fde, std::uint32_t row = Refusal::none) {
  return std::unexpected(Refusal{reason, row, fde.start});
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size() * 0x9e3779b97f4a7c15;
  const auto mix = [&](std::uint64_t chunk) {
    hash = (hash ^ chunk) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  std::uint64_t chunk = 0;
  for (; bytes.size() >= sizeof chunk; bytes = bytes.subspan(sizeof chunk)) {
    std::memcpy(&chunk, bytes.data(), sizeof chunk);
    mix(chunk);
  }
  chunk = 0;
  for (const std::byte byte : bytes) chunk = chunk << 8 | static_cast<std::uint8_t>(byte);
  mix(chunk);
  return hash;
}

std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32);
}

FreType fre_type_for(std::uint32_t last_offset) {
  return last_offset <= 0xff ? FreType::addr1 : last_offset <= 0xffff ? FreType::addr2 : FreType::addr4;
}

bool same_words(const Words& a, const Words& b) {
  return a.info == b.info && std::equal(a.values, a.values + a.count, b.values);
}

} // namespace

const char* message(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::cfa_rule: return "CFA is not SP or FP plus an offset";
  case RefusalReason::ra_rule: return "RA rule cannot be represented in this version";
  case RefusalReason::fp_rule: return "FP rule cannot be represented in this version";
  case RefusalReason::mixed_rules: return "no single FDE type can represent all rows";
  case RefusalReason::offset_range: return "offset does not fit 32 bits";
  case RefusalReason::cfa_alignment: return "CFA offset is not a multiple of the ABI's unit";
  case RefusalReason::outermost: return "this version cannot mark the outermost frame";
  case RefusalReason::signal_frame: return "this version cannot mark signal frames";
  case RefusalReason::rep_size: return "block size cannot be represented in this version";
  case RefusalReason::no_rows: return "function has no rows";
  case RefusalReason::too_many_rows: return "too many rows in one function";
  case RefusalReason::row_order: return "two rows have the same offset";
  case RefusalReason::row_past_end: return "row at or past the function's end";
  case RefusalReason::out_of_reach: return "function is more than 2 GiB from the section";
  case RefusalReason::section_too_large: return "section would exceed the format's 32-bit sizes";
  case RefusalReason::aux_header_size: return "auxiliary header is longer than 255 bytes";
  }
  return "unknown reason";
}

const char* reason_name(RefusalReason reason) {
  switch (reason) {
  case RefusalReason::cfa_rule: return "cfa-rule";
  case RefusalReason::ra_rule: return "ra-rule";
  case RefusalReason::fp_rule: return "fp-rule";
  case RefusalReason::mixed_rules: return "mixed-rules";
  case RefusalReason::offset_range: return "offset-range";
  case RefusalReason::cfa_alignment: return "cfa-alignment";
  case RefusalReason::outermost: return "outermost";
  case RefusalReason::signal_frame: return "signal-frame";
  case RefusalReason::rep_size: return "rep-size";
  case RefusalReason::no_rows: return "no-rows";
  case RefusalReason::too_many_rows: return "too-many-rows";
  case RefusalReason::row_order: return "row-order";
  case RefusalReason::row_past_end: return "row-past-end";
  case RefusalReason::out_of_reach: return "out-of-reach";
  case RefusalReason::section_too_large: return "section-too-large";
  case RefusalReason::aux_header_size: return "aux-header-size";
  }
  return "unknown";
}

Builder::Builder(BuildOptions options)
    : options_(std::move(options)), abi_(&traits(options_.abi)),
      version_(format::find_version(static_cast<std::uint8_t>(options_.version))),
      order_(options_.byte_order.value_or(abi_->byte_order)) {
  options_.pcrel = options_.pcrel && version_->has_pcrel();
}

std::optional<Refusal> Builder::check(const Fde& fde, std::span<const FrameRow> rows) const {
  const auto refuse = [&](RefusalReason reason) { return Refusal{reason, Refusal::none, fde.start}; };
  if (fde.signal_frame && !version_->has_signal) return refuse(RefusalReason::signal_frame);
  if (fde.pc_type == PcType::mask &&
      (fde.rep_size == 0 || (!version_->has_rep_size && fde.rep_size != abi_->plt_entry_size)))
    return refuse(RefusalReason::rep_size);
  if (rows.empty() && !version_->empty_is_outermost) return refuse(RefusalReason::no_rows);
  return std::nullopt;
}

/// The rows in the order of their offsets: unchanged if already sorted, else sorted in scratch_.
std::expected<std::span<const FrameRow>, Refusal> Builder::order_rows(const Fde& fde,
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
  const auto words = format::encode_words(row, meaning(type));
  return words ? std::nullopt : std::optional(words.error());
}

std::optional<RefusalReason> Builder::refusal(const FrameRow& row) const {
  const auto standard = refusal(row, FdeType::standard);
  return standard && version_->has_flex ? refusal(row, FdeType::flex) : standard;
}

/// Appends the encoded rows, which are in order, to encoded_. A refusal leaves encoded_ unchanged.
std::expected<Builder::Run, Refusal> Builder::encode_rows(const Fde& fde, std::span<const FrameRow> rows,
                                                          FdeType type) {
  const WordMeaning how = meaning(type);
  // A last row that will be merged must not widen all offsets.
  while (options_.merge_rows && rows.size() > 1 && rows.back().same_rules(rows[rows.size() - 2]))
    rows = rows.first(rows.size() - 1);
  const FreType fre_type = fre_type_for(rows.empty() ? 0 : rows.back().offset);
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fre_type);
  const std::uint64_t at = encoded_.size();
  const auto refuse = [&](RefusalReason reason, std::uint32_t row = Refusal::none) {
    encoded_.resize(at);
    return refused(reason, fde, row);
  };

  // Space for the longest possible rows; the unused part is released.
  constexpr std::size_t max_row_size = 4 + 1 + 4 * std::size(Words{}.values);
  encoded_.resize(at + version_->attribute_size + rows.size() * max_row_size);
  std::byte* to = encoded_.data() + at + version_->attribute_size;
  Words previous;
  std::uint32_t num_fres = 0;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    auto words = format::encode_words(rows[i], how);
    if (!words) return refuse(words.error(), i);
    if (options_.merge_rows && num_fres && same_words(*words, previous)) continue;
    format::store_field(to, rows[i].offset, offset_size, order_);
    to += offset_size;
    *to++ = static_cast<std::byte>(words->info);
    for (std::uint32_t w = 0; w < words->count; ++w, to += words->size)
      format::store_field(to, words->values[w], words->size, order_);
    previous = *words;
    ++num_fres;
  }
  encoded_.resize(static_cast<std::size_t>(to - encoded_.data()));
  const std::uint64_t size = encoded_.size() - at;
  if (num_fres > version_->max_fres) return refuse(RefusalReason::too_many_rows);
  if (size > max_u32) return refuse(RefusalReason::section_too_large);

  EncodedFde attributes{fde};
  attributes.num_fres = num_fres;
  attributes.fre_type = fre_type;
  attributes.fde_type = type;
  version_->codec.write_attributes(encoded_.data() + at, order_, attributes);
  return Run{at, fre_type, static_cast<std::uint32_t>(size), num_fres};
}

std::expected<void, Refusal> Builder::add(const Fde& fde, std::span<const FrameRow> rows) {
  if (functions_.size() == max_u32) return refused(RefusalReason::section_too_large, fde);
  if (auto refusal = check(fde, rows)) return std::unexpected(*refusal);
  const auto ordered = order_rows(fde, rows);
  if (!ordered) return std::unexpected(ordered.error());

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
  if (!encoded) return std::unexpected(encoded.error());
  functions_.push_back({fde, add_run(*encoded)});
  num_fres_ += encoded->num_fres;
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
  std::ranges::fill(table_, Slot{no_run, 0});
  num_fres_ = 0;
}

void Builder::append(const Builder& other) {
  std::vector<std::uint32_t> runs;
  runs.reserve(other.runs_.size());
  for (const Run& run : other.runs_) runs.push_back(copy_run(other, run));
  for (const Function& function : other.functions_) functions_.push_back({function.fde, runs[function.run]});
  num_fres_ += other.num_fres_;
}

/// Returns the number of a run with the bytes of another builder's run.
std::uint32_t Builder::copy_run(const Builder& from, const Run& run) {
  Run copy = run;
  copy.at = encoded_.size();
  const auto bytes = from.run_bytes(run);
  encoded_.insert(encoded_.end(), bytes.begin(), bytes.end());
  return add_run(copy);
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
  const auto number = static_cast<std::uint32_t>(runs_.size());
  if (!options_.share_rows) {
    runs_.push_back(run);
    return number;
  }
  if (runs_.size() * 2 >= table_.size()) grow_table();
  const auto bytes = run_bytes(run);
  const std::uint64_t hash = hash_bytes(bytes), mask = table_.size() - 1;
  for (std::uint64_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = table_[at];
    if (slot.run == no_run) {
      slot = {number, tag_of(hash)};
      runs_.push_back(run);
      return number;
    }
    if (slot.tag != tag_of(hash)) continue;
    const Run& other = runs_[slot.run];
    // Rows of different FRE types can have equal bytes if the type is stored in the index (V1, V2).
    if (other.fre_type == run.fre_type && std::ranges::equal(run_bytes(other), bytes)) {
      encoded_.resize(run.at);
      return slot.run;
    }
  }
}

void Builder::grow_table() {
  table_.assign(std::max<std::size_t>(64, table_.size() * 2), Slot{no_run, 0});
  const std::uint64_t mask = table_.size() - 1;
  for (std::uint32_t number = 0; number < runs_.size(); ++number) {
    const std::uint64_t hash = hash_bytes(run_bytes(runs_[number]));
    std::uint64_t at = hash & mask;
    while (table_[at].run != no_run) at = (at + 1) & mask;
    table_[at] = {number, tag_of(hash)};
  }
}

/// The positions of all parts.
struct Builder::Layout {
  std::vector<std::uint32_t> order;         ///< numbers of functions_, sorted
  std::vector<std::uint32_t> run_positions; ///< per run, from the FRE sub-section's start
  std::uint32_t fre_size = 0;

  /// For a section at `address`.
  static std::expected<Layout, Refusal> make(const Builder& builder, std::uint64_t address);
  static std::vector<std::uint32_t> by_address(const Builder& builder, std::uint64_t address);
};

/// Sorts by the distance from the section, which readers compare (Section::find_fde). It differs from address
/// order if functions are on both sides of the section, near the top and the bottom of the address space.
/// Functions mostly come in sorted runs; merging makes use of that.
std::vector<std::uint32_t> Builder::Layout::by_address(const Builder& builder, std::uint64_t address) {
  const auto& functions = builder.functions_;
  const auto distance = [&](const Function& f) { return static_cast<std::int64_t>(f.fde.start - address); };
  const auto bytes_of = [&](const Function& f) { return builder.run_bytes(builder.runs_[f.run]); };
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Function &x = functions[a], &y = functions[b];
    if (x.fde.start != y.fde.start) return distance(x) < distance(y);
    if (x.fde.size != y.fde.size) return x.fde.size < y.fde.size;
    return std::ranges::lexicographical_compare(bytes_of(x), bytes_of(y));
  };
  std::vector<std::uint32_t> order(functions.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!std::ranges::is_sorted(order, before)) std::ranges::stable_sort(order, before);
  return order;
}

std::expected<Builder::Layout, Refusal> Builder::Layout::make(const Builder& builder, std::uint64_t address) {
  if (builder.options_.aux_header.size() > 0xff)
    return std::unexpected(Refusal{RefusalReason::aux_header_size});
  const auto& runs = builder.runs_;
  const auto& functions = builder.functions_;
  Layout layout;
  layout.order = by_address(builder, address);

  constexpr std::uint32_t unplaced = 0xffffffff;
  layout.run_positions.assign(runs.size(), unplaced);
  std::uint64_t at = 0;
  for (const std::uint32_t number : layout.order) {
    std::uint32_t& position = layout.run_positions[functions[number].run];
    if (position != unplaced) continue;
    if (at >= unplaced) return refused(RefusalReason::section_too_large, functions[number].fde);
    position = static_cast<std::uint32_t>(at);
    at += runs[functions[number].run].size;
  }
  if (builder.size() - at > max_u32 || at > max_u32 || builder.num_fres_ > max_u32 ||
      functions.size() > max_u32)
    return std::unexpected(Refusal{RefusalReason::section_too_large});
  layout.fre_size = static_cast<std::uint32_t>(at);
  return layout;
}

std::uint64_t Builder::field_offset(std::uint64_t position) const {
  return header_size + options_.aux_header.size() + position * version_->entry_size;
}

std::uint64_t Builder::size() const {
  return field_offset(functions_.size()) + encoded_.size();
}

StartFields StartFields::make(VersionNumber version, std::uint64_t lowest, std::uint64_t highest,
                              std::uint64_t num_fdes) {
  constexpr std::uint64_t max_aux_header = 0xff;
  return {lowest, highest + header_size + max_aux_header + num_fdes * traits(version).entry_size};
}

bool StartFields::reach(VersionNumber version, std::uint64_t start) const {
  if (traits(version).start_size == 8) return true;
  const auto fits = [&](std::uint64_t field) {
    const auto distance = static_cast<std::int64_t>(start - field);
    return distance == static_cast<std::int32_t>(distance);
  };
  return fits(first) && fits(last);
}

std::optional<Builder::AddressRange> Builder::address_range() const {
  AddressRange range{0, std::numeric_limits<std::uint64_t>::max()};
  if (version_->start_size == 8 || functions_.empty()) return range;
  // The lowest and highest functions decide, except for their fields' positions in the index; so all are
  // checked.
  std::vector<std::uint64_t> starts;
  for (const Function& function : functions_) starts.push_back(function.fde.start);
  std::ranges::sort(starts);
  __extension__ using Wide = __int128;
  Wide lowest = 0, highest = range.highest;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Wide centre = Wide{starts[i]} - (options_.pcrel ? Wide{field_offset(i)} : 0);
    lowest = std::max(lowest, centre - std::numeric_limits<std::int32_t>::max());
    highest = std::min(highest, centre - std::numeric_limits<std::int32_t>::min());
  }
  if (lowest > highest) return std::nullopt;
  return AddressRange{static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)};
}

void Builder::write_header(const Layout& layout, std::uint8_t flags, std::byte* out) const {
  namespace field = header_offset;
  store(out, magic, order_);
  store(out + field::version, version_->number, order_);
  store(out + field::flags, flags, order_);
  store(out + field::abi, static_cast<std::uint8_t>(abi_->id), order_);
  store(out + field::fixed_fp, abi_->fixed_fp_offset, order_);
  store(out + field::fixed_ra, abi_->fixed_ra_offset, order_);
  store(out + field::aux_size, static_cast<std::uint8_t>(options_.aux_header.size()), order_);
  store(out + field::num_fdes, num_fdes(), order_);
  store(out + field::num_fres, static_cast<std::uint32_t>(num_fres_), order_);
  store(out + field::fre_size, layout.fre_size, order_);
  store(out + field::fde_offset, std::uint32_t{0}, order_);
  store(out + field::fre_offset, static_cast<std::uint32_t>(functions_.size() * version_->entry_size),
        order_);
  std::ranges::copy(options_.aux_header, out + header_size);
}

void Builder::write_entry(const Function& function, const Layout& layout, std::int64_t start,
                          std::byte* entry) const {
  format::FdeFields fields{.start = start, .fde = {function.fde}};
  fields.fde.num_fres = runs_[function.run].num_fres;
  fields.fde.fre_type = runs_[function.run].fre_type;
  fields.fde.fre_offset = layout.run_positions[function.run];
  version_->codec.write_entry(entry, order_, fields);
}

void Builder::write_runs(const Layout& layout, std::byte* out) const {
  for (std::size_t i = 0; i < runs_.size(); ++i)
    std::ranges::copy(run_bytes(runs_[i]), out + layout.run_positions[i]);
}

std::expected<std::vector<std::byte>, Refusal> Builder::finish(std::uint64_t address) const {
  auto layout = Layout::make(*this, address);
  if (!layout) return std::unexpected(layout.error());
  std::vector<std::byte> out(size());
  std::uint8_t flags = flag_sorted;
  if (options_.pcrel) flags |= flag_func_start_pcrel;
  if (options_.frame_pointer && version_->flags & flag_frame_pointer) flags |= flag_frame_pointer;
  write_header(*layout, flags, out.data());
  for (std::size_t i = 0; i < layout->order.size(); ++i) {
    const Function& function = functions_[layout->order[i]];
    const std::uint64_t field = field_offset(i);
    const auto start = static_cast<std::int64_t>(function.fde.start - address - (options_.pcrel ? field : 0));
    if (version_->start_size == 4 && start != static_cast<std::int32_t>(start))
      return refused(RefusalReason::out_of_reach, function.fde);
    write_entry(function, *layout, start, out.data() + field);
  }
  write_runs(*layout, out.data() + field_offset(functions_.size()));
  return out;
}

} // namespace sframe
