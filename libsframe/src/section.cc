// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From top to bottom: the header and the search of the index; Section, which checks and decodes functions;
// RowCursor, which does so for rows. A row is its offset, an info byte, and data words; in AMD64's default
// form:
//
//   04 05 10 f0    at 4: info 0x05 = SP (bit 0), two words (bits 1 to 4) of one byte (bits 5, 6)
//                  CFA = sp+16; RA at the header's fixed offset; FP at CFA-16
//
// Three ways to read rows: seek() skips to the one for an offset without decoding the others, next_plain()
// decodes the frequent form without branches on its sizes, next_any() all forms. A lookup is a search of the
// index, which computes the place (narrow()), and a walk over one function's rows.

#include "sframe/section.h"

#include "format/decode_words.h"

#include <algorithm>

namespace sframe {

namespace {

/// True if [offset, offset + size) is within `total` bytes; no overflow.
bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

Header read_header(const std::byte* at, ByteOrder order) {
  namespace field = header_offset;
  return {
      .version = load<std::uint8_t>(at + field::version, order),
      .flags = load<std::uint8_t>(at + field::flags, order),
      .byte_order = order,
      .abi = load<std::uint8_t>(at + field::abi, order),
      .fixed_fp_offset = load<std::int8_t>(at + field::fixed_fp, order),
      .fixed_ra_offset = load<std::int8_t>(at + field::fixed_ra, order),
      .aux_header_size = load<std::uint8_t>(at + field::aux_size, order),
      .num_fdes = load<std::uint32_t>(at + field::num_fdes, order),
      .num_fres = load<std::uint32_t>(at + field::num_fres, order),
      .fre_size = load<std::uint32_t>(at + field::fre_size, order),
      .fde_offset = load<std::uint32_t>(at + field::fde_offset, order),
      .fre_offset = load<std::uint32_t>(at + field::fre_offset, order),
  };
}

/// Numbers [first, end).
struct Range {
  std::uint32_t first, end;
};

/// Where a binary search for the first of `count` functions that starts after `wanted` has to look. Functions
/// are spread evenly enough that the place can be computed: three times, each time from the start of the
/// function there, since every look into a big index waits for memory. A binary search looks seven times into
/// lines that are not in a cache. Logarithmic in any index.
template <class StartOf>
inline Range narrow(std::uint32_t count, std::int64_t wanted, const StartOf& start_of) {
  constexpr std::uint32_t least_count = 1024; // a smaller index is in a cache
  if (count < least_count) return {0, count};
  const std::int64_t lowest = start_of(0), highest = start_of(count - 1);
  if (wanted < lowest) return {0, 0};
  if (wanted >= highest) return {count, count};
  const auto between = [](std::int64_t from, std::int64_t to) {
    return static_cast<double>(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)));
  };
  const double per_byte = (count - 1) / between(lowest, highest);
  Range range{1, count - 1}; // the functions before start at or before `wanted`, those from end on after it
  double guess = between(lowest, wanted) * per_byte;
  std::uint32_t place = 0;
  bool before = false;
  for (int round = 0; round < 3 && range.first < range.end; ++round) {
    place = static_cast<std::uint32_t>(std::clamp<double>(guess, range.first, range.end - 1));
    const std::int64_t start = start_of(place);
    before = start <= wanted;
    range.first = before ? place + 1 : range.first;
    range.end = before ? range.end : place;
    guess = place + between(start, wanted) * per_byte;
  }
  // The other end, in growing steps.
  for (std::uint32_t distance = 8; range.end - range.first > distance; distance *= 4) {
    const std::uint32_t at = before ? range.first + distance : range.end - 1 - distance;
    const bool is_before = start_of(at) <= wanted;
    range.first = is_before ? at + 1 : range.first;
    range.end = is_before ? range.end : at;
    if (is_before != before) break;
  }
  return range;
}

} // namespace

bool has_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && (load<std::uint16_t>(bytes.data(), ByteOrder::little) == magic ||
                               load<std::uint16_t>(bytes.data(), ByteOrder::big) == magic);
}

std::int32_t EncodedRow::word(std::uint32_t i) const {
  return format::load_word(words + i * word_size(), word_size(), byte_order);
}

std::uint32_t EncodedRow::control(std::uint32_t i) const {
  return format::load_field(words + i * word_size(), word_size(), byte_order);
}

expected<Section, Error> Section::parse(std::span<const std::byte> bytes, std::uint64_t address) {
  std::optional<Error> fault;
  auto section = parse_damaged(bytes, address, fault);
  if (section && fault) return unexpected(*fault);
  return section;
}

expected<Section, Error> Section::parse_damaged(std::span<const std::byte> bytes, std::uint64_t address,
                                                std::optional<Error>& fault) {
  fault.reset();
  const auto failed = [](ErrorKind kind, std::uint64_t offset) {
    return unexpected(Error{.kind = kind, .offset = offset});
  };
  namespace field = header_offset;

  // The preamble alone identifies the format, so a short section of another kind is "no SFrame", not
  // "truncated".
  if (bytes.size() < 4) return failed(ErrorKind::truncated_header, bytes.size());
  ByteOrder order = ByteOrder::little;
  if (load<std::uint16_t>(bytes.data(), order) != magic) order = ByteOrder::big;
  if (load<std::uint16_t>(bytes.data(), order) != magic) return failed(ErrorKind::bad_magic, 0);

  Section section;
  section.version_ = format::find_version(load<std::uint8_t>(bytes.data() + field::version, order));
  if (!section.version_) return failed(ErrorKind::unknown_version, field::version);
  if (bytes.size() < header_size) return failed(ErrorKind::truncated_header, bytes.size());
  section.header_ = read_header(bytes.data(), order);
  const Header& header = section.header_;
  section.abi_ = find_abi(header.abi);
  if (!section.abi_) return failed(ErrorKind::unknown_abi, field::abi);
  const std::uint64_t base = std::uint64_t{header_size} + header.aux_header_size;
  if (bytes.size() < base) return failed(ErrorKind::truncated_header, bytes.size());

  section.address_ = address;
  section.index_offset_ = base + header.fde_offset;
  section.rows_offset_ = base + header.fre_offset;
  const std::uint64_t index_size = std::uint64_t{header.num_fdes} * section.version_->entry_size;
  section.num_fdes_ = header.num_fdes;
  section.rows_size_ = header.fre_size;
  const auto report = [&](ErrorKind kind, std::uint64_t offset) {
    if (!fault) fault = Error{.kind = kind, .offset = offset};
  };
  const auto room_at = [&](std::uint64_t offset) { return bytes.size() - std::min(offset, bytes.size()); };
  if (!fits(section.index_offset_, index_size, bytes.size())) {
    report(ErrorKind::index_out_of_bounds, field::num_fdes);
    section.num_fdes_ =
        static_cast<std::uint32_t>(room_at(section.index_offset_) / section.version_->entry_size);
  }
  if (!fits(section.rows_offset_, header.fre_size, bytes.size())) {
    report(ErrorKind::rows_out_of_bounds, field::fre_size);
    section.rows_size_ = static_cast<std::uint32_t>(room_at(section.rows_offset_));
  }
  const std::uint64_t index_end = section.index_offset_ + index_size;
  const std::uint64_t rows_end = section.rows_offset_ + header.fre_size;
  if (index_size && header.fre_size && section.index_offset_ < rows_end && section.rows_offset_ < index_end)
    report(ErrorKind::overlap, field::fde_offset);
  section.bytes_ = bytes.first(std::min<std::uint64_t>(std::max({base, index_end, rows_end}), bytes.size()));
  return section;
}

std::optional<Error> Section::check_index() const {
  for (std::uint32_t i = 0; i < num_fdes(); ++i)
    if (auto entry = fde(i); !entry) return entry.error();
  return std::nullopt;
}

std::span<const std::byte> Section::aux_header() const {
  return bytes_.subspan(header_size, header_.aux_header_size);
}

const VersionTraits& Section::version() const {
  return *version_;
}

bool Section::starts_are_pcrel() const {
  return version_->has_pcrel() && header_.flags & flag_func_start_pcrel;
}

/// From the section's start.
std::uint64_t Section::entry_offset(std::uint32_t number) const {
  return index_offset_ + std::uint64_t{number} * version_->entry_size;
}

std::uint64_t Section::fde_start(std::uint32_t number) const {
  const std::uint64_t offset = entry_offset(number);
  const std::byte* at = bytes_.data() + offset;
  const std::int64_t stored = version_->start_size == 8 ? load<std::int64_t>(at, header_.byte_order)
                                                        : load<std::int32_t>(at, header_.byte_order);
  return address_ + (starts_are_pcrel() ? offset : 0) + static_cast<std::uint64_t>(stored);
}

AddressRange Section::fde_range(std::uint32_t number) const {
  EncodedFde fde;
  version_->codec.read_entry(bytes_.data() + entry_offset(number), header_.byte_order, fde);
  return {fde_start(number), fde.size};
}

/// One variable is returned, and filled in place: a copy right after its fields were stored would wait.
expected<EncodedFde, Error> Section::fde(std::uint32_t number) const {
  expected<EncodedFde, Error> fde;
  if (const auto error = read_fde(number, *fde)) fde = unexpected(*error);
  return fde;
}

std::optional<Error> Section::read_fde(std::uint32_t number, EncodedFde& fde) const {
  const std::uint64_t offset = entry_offset(number);
  const auto failed = [&](ErrorKind kind, std::uint64_t where) {
    return Error{.kind = kind, .offset = where, .function = number};
  };
  if (number >= num_fdes()) return failed(ErrorKind::no_such_function, offset);

  version_->codec.read_entry(bytes_.data() + offset, header_.byte_order, fde);
  fde.number = number;
  fde.index_offset = offset;
  fde.start = fde_start(number);
  fde.rows_offset = rows_offset_ + fde.fre_offset + version_->attribute_size;
  if (!fits(fde.fre_offset, version_->attribute_size, rows_size_))
    return failed(ErrorKind::function_rows_out_of_bounds, offset);
  version_->codec.read_attributes(bytes_.data() + rows_offset_ + fde.fre_offset, header_.byte_order, fde);

  const std::uint64_t attributes = version_->attribute_size ? rows_offset_ + fde.fre_offset : offset;
  if (fde.fre_type > FreType::addr4) return failed(ErrorKind::bad_fre_type, attributes);
  if (fde.fde_type > FdeType::flex) return failed(ErrorKind::bad_fde_type, attributes);
  if (fde.pc_type == PcType::mask) {
    if (!version_->has_rep_size) fde.rep_size = abi_->plt_entry_size;
    if (fde.rep_size == 0) return failed(ErrorKind::bad_rep_size, attributes);
  }
  return std::nullopt;
}

RowCursor Section::rows(const EncodedFde& fde) const {
  RowCursor rows;
  rows.section_begin_ = bytes_.data();
  rows.at_ = bytes_.data() + std::min<std::uint64_t>(fde.rows_offset, bytes_.size());
  rows.end_ = bytes_.data() + std::min<std::uint64_t>(rows_offset_ + rows_size_, bytes_.size());
  rows.left_ = fde.num_fres;
  rows.function_ = fde.number;
  const bool block = fde.pc_type == PcType::mask;
  rows.last_offset_ = block ? fde.rep_size - std::uint32_t{1} : fde.size;
  rows.function_end_ = block ? 0 : fde.size;
  rows.fre_type_ = fde.fre_type;
  rows.order_ = header_.byte_order;
  rows.meaning_ =
      format::word_meaning(*version_, *abi_, fde.fde_type, header_.fixed_ra_offset, header_.fixed_fp_offset);
  rows.plain_ = rows.order_ == ByteOrder::little && format::has_plain_words(rows.meaning_);
  return rows;
}

bool Section::outermost_throughout(const EncodedFde& fde) const {
  return version_->empty_is_outermost && fde.num_fres == 0 && fde.fde_type == FdeType::standard;
}

/// The number of the first function that starts after `pc`. The hot loop of a lookup: loop invariants are
/// hoisted. Compares distances from the section, not addresses: sections are sorted that way, also near the
/// top or bottom of the address space.
template <class Start> std::uint32_t Section::first_after(std::uint64_t pc, bool pcrel) const {
  const std::byte* const entries = bytes_.data() + index_offset_;
  const std::uint64_t entry_size = version_->entry_size;
  const std::uint64_t step = pcrel ? entry_size : 0;
  const auto wanted = static_cast<std::int64_t>(pc - address_ - (pcrel ? index_offset_ : 0));
  const ByteOrder order = header_.byte_order;
  const auto start_of = [&](std::uint32_t number) {
    return static_cast<std::int64_t>(
        number * step + static_cast<std::uint64_t>(load<Start>(entries + number * entry_size, order)));
  };
  const Range range = narrow(num_fdes(), wanted, start_of);
  std::uint32_t first = range.first;
  for (std::uint32_t count = range.end - first; count;) {
    const std::uint32_t half = count / 2, middle = first + half;
    const bool before = start_of(middle) <= wanted;
    first = before ? middle + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

expected<std::optional<EncodedFde>, Error> Section::find_fde(std::uint64_t pc) const {
  expected<std::optional<EncodedFde>, Error> result;
  const auto found = find_fde(pc, result->emplace());
  if (!found)
    result = unexpected(found.error());
  else if (!*found)
    result->reset();
  return result;
}

/// Sets `fde` and returns true if a function contains `pc`.
expected<bool, Error> Section::find_fde(std::uint64_t pc, EncodedFde& fde) const {
  if (!sorted()) {
    for (std::uint32_t i = 0; i < num_fdes(); ++i) {
      fde = {};
      if (const auto error = read_fde(i, fde)) return unexpected(*error);
      if (fde.contains(pc)) return true;
    }
    return false;
  }
  const bool pcrel = starts_are_pcrel();
  const std::uint32_t low =
      version_->start_size == 8 ? first_after<std::int64_t>(pc, pcrel) : first_after<std::int32_t>(pc, pcrel);
  // Several functions may have the same start, all but one of them empty. Only a crafted file has more.
  constexpr std::uint32_t most_together = 256;
  for (std::uint32_t i = low; i-- > 0 && low - i <= most_together;) {
    if (i + 1 != low) fde = {};
    if (const auto error = read_fde(i, fde)) return unexpected(*error);
    if (fde.contains(pc)) return true;
    if (fde.start != fde_start(low - 1)) break;
  }
  return false;
}

expected<std::optional<Match>, Error> Section::find(std::uint64_t pc) const {
  expected<std::optional<Match>, Error> result;
  Match& match = result->emplace();
  const auto found = find_fde(pc, match.fde);
  if (!found) {
    result = unexpected(found.error());
  } else if (!*found) {
    result->reset();
  } else if (outermost_throughout(match.fde)) {
    match.row = FrameRow::outermost(0);
  } else {
    RowCursor cursor = rows(match.fde);
    EncodedRow row;
    if (cursor.seek(match.fde.row_offset(pc), row)) {
      if (const auto fault = cursor.decode(row, match.row)) result = unexpected(*fault);
    } else if (cursor.error()) {
      result = unexpected(*cursor.error());
    } else {
      result->reset();
    }
  }
  return result;
}

bool RowCursor::fail(ErrorKind kind, const std::byte* where) {
  error_ = Error{kind, static_cast<std::uint64_t>(where - section_begin_), function_, number_};
  left_ = 0;
  return false;
}

bool RowCursor::seek(std::uint32_t offset, EncodedRow& row) {
  const std::byte* found = nullptr;
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fre_type_);
  const auto room = [&] { return end_ < at_ ? 0 : static_cast<std::uint64_t>(end_ - at_); };
  // Reads only what is needed to skip rows; step() checks the row where the loop stops.
  for (; left_ && room() > offset_size && format::load_field(at_, offset_size, order_) <= offset;
       ++number_, --left_) {
    found = at_;
    const auto info = std::to_integer<std::uint32_t>(at_[offset_size]);
    const std::uint64_t size = offset_size + 1 + ((info >> 1 & 15) << (info >> 5 & 3));
    if (room() < size) break;
    at_ += size;
  }
  if (!found) {
    if (left_ && room() <= offset_size) fail(ErrorKind::truncated_row, at_);
    return false;
  }
  if (at_ != found) --number_, ++left_;
  at_ = found;
  return step(row);
}

inline bool RowCursor::step(EncodedRow& row) {
  if (left_ == 0) return false;
  const std::byte* const at = at_;
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fre_type_);
  if (end_ < at || static_cast<std::uint64_t>(end_ - at) < offset_size + 1)
    return fail(ErrorKind::truncated_row, at);

  row.offset = format::load_field(at, offset_size, order_);
  row.info = std::to_integer<std::uint8_t>(at[offset_size]);
  row.number = number_;
  row.section_offset = static_cast<std::uint64_t>(at - section_begin_);
  row.words = at + offset_size + 1;
  row.byte_order = order_;
  const std::uint32_t size_code = row.info >> 5 & 3;
  if (size_code == 3) return fail(ErrorKind::bad_dataword_size, at);
  const std::uint32_t words_size = row.word_count() << size_code;
  if (static_cast<std::uint64_t>(end_ - row.words) < words_size) return fail(ErrorKind::truncated_row, at);
  row.size = offset_size + 1 + words_size;
  if (row.offset <= previous_) return fail(ErrorKind::row_order, at);
  if (row.offset > last_offset_) return fail(ErrorKind::row_past_end, at);

  previous_ = row.offset;
  at_ = row.words + words_size;
  ++number_;
  --left_;
  return true;
}

namespace {

/// Where the info bytes of decoded rows go.
struct NoInfos {
  void set(std::size_t, std::uint32_t) const {}
  NoInfos after(std::size_t) const { return {}; }
};
struct InfosTo {
  std::uint8_t* at;
  void set(std::size_t number, std::uint32_t info) const { at[number] = static_cast<std::uint8_t>(info); }
  InfosTo after(std::size_t count) const { return {at + count}; }
};

} // namespace

/// Decodes the most frequent rows: of default FDEs with RA at a fixed offset (AMD64), with one or two words.
/// Their widths and the number of words differ from row to row, so branches on them would be mispredicted;
/// all fields are read with four bytes and cut. Stops at other rows and at bad ones, which are for
/// next_any(). Returns the number of rows.
template <class Infos> inline std::size_t RowCursor::next_plain(std::span<FrameRow> rows, Infos infos) {
  constexpr std::ptrdiff_t room = 4 + 1 + 4 + 4;
  if (!plain_) return 0;
  // In local variables: a compiler cannot know that writing rows leaves the members alone.
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fre_type_);
  const std::uint16_t sp = meaning_.abi->sp, fp = meaning_.abi->fp;
  const std::byte *at = at_, *const end = end_;
  std::int64_t previous = previous_;
  const std::int64_t last_offset = last_offset_;
  const std::size_t wanted = std::min<std::size_t>(rows.size(), left_);
  std::size_t done = 0;
  for (; done < wanted && end - at >= room; ++done) {
    const std::uint32_t offset =
        load<std::uint32_t>(at, ByteOrder::little) & 0xffffffff >> (32 - 8 * offset_size);
    const std::byte* const words = at + offset_size + 1;
    const auto info = std::to_integer<std::uint32_t>(at[offset_size]);
    const std::uint32_t count = info >> 1 & 15, size_code = info >> 5 & 3,
                        unused_bits = 32 - (8u << size_code);
    if (count - 1 > 1 || size_code == 3 || offset <= previous || offset > last_offset) break;
    const auto word = [&](std::uint32_t number) {
      const auto bits = load<std::uint32_t>(words + (number << size_code), ByteOrder::little);
      return static_cast<std::int32_t>(bits << unused_bits) >> unused_bits;
    };
    const bool saves_fp = count == 2;
    FrameRow& out = rows[done];
    out.offset = offset;
    out.cfa = Rule::value(info & 1 ? sp : fp, word(0));
    out.ra = Rule::fixed();
    out.fp.kind = saves_fp ? Rule::Kind::stored : Rule::Kind::same;
    out.fp.base = saves_fp ? Rule::cfa_base : std::uint16_t{0};
    out.fp.offset = saves_fp ? word(1) : 0;
    out.ra_signed = info >> 7;
    infos.set(done, info);
    previous = offset;
    at = words + (count << size_code);
  }
  previous_ = previous;
  at_ = at;
  number_ += static_cast<std::uint32_t>(done);
  left_ -= static_cast<std::uint32_t>(done);
  return done;
}

bool RowCursor::next(EncodedRow& row) {
  return step(row);
}

/// As next(), but without the fast path.
template <class Infos> bool RowCursor::next_any(FrameRow& out, Infos infos) {
  EncodedRow row;
  if (!step(row)) return false;
  infos.set(0, row.info);
  ErrorKind fault{};
  if (format::decode_words(row, meaning_, out, fault)) return true;
  at_ = section_begin_ + row.section_offset;
  --number_;
  return fail(fault, at_);
}

template <class Infos> inline std::size_t RowCursor::next_rows(std::span<FrameRow> rows, Infos infos) {
  std::size_t done = 0;
  do done += next_plain(rows.subspan(done), infos.after(done));
  while (done < rows.size() && next_any(rows[done], infos.after(done)) && ++done);
  return done;
}

bool RowCursor::next(FrameRow& out) {
  return next_plain({&out, 1}, NoInfos()) != 0 || next_any(out, NoInfos());
}

std::size_t RowCursor::next(std::span<FrameRow> rows) {
  return next_rows(rows, NoInfos());
}

std::size_t RowCursor::next(std::span<FrameRow> rows, std::span<std::uint8_t> infos) {
  return next_rows(rows, InfosTo{infos.data()});
}

expected<FrameRow, Error> RowCursor::decode(const EncodedRow& row) const {
  expected<FrameRow, Error> out;
  if (const auto fault = decode(row, *out)) out = unexpected(*fault);
  return out;
}

inline std::optional<Error> RowCursor::decode(const EncodedRow& row, FrameRow& out) const {
  ErrorKind fault{};
  if (format::decode_words(row, meaning_, out, fault)) return std::nullopt;
  return Error{fault, row.section_offset, function_, row.number};
}

expected<std::optional<Section>, Error> Concatenated::next() {
  while (at_ < bytes_.size() && bytes_[at_] == std::byte{0}) ++at_;
  if (at_ >= bytes_.size()) return std::nullopt;
  current_ = at_;
  auto section = Section::parse(bytes_.subspan(at_), address_ + at_);
  if (!section) {
    Error error = section.error();
    error.offset += at_;
    at_ = bytes_.size();
    return unexpected(error);
  }
  at_ += section->bytes().size();
  return *section;
}

} // namespace sframe
