// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// flip_byte_order() swaps fields in a copy, and reads all sizes from the untouched section. Rows that
// functions share must be swapped once: functions are visited in the order of their rows, and those with the
// same rows are skipped. Rows shared in part cannot be swapped consistently with all functions and are an
// error.
//
// reencode() decodes the functions and adds them to a Builder, which accepts them for the new version or has
// a reason for each part that it refuses. Where functions were split, the start fields need more room than
// was assumed: it is then done again, with the larger number, so at most a few times.

#include "sframe/convert.h"

#include "format/words.h"
#include "sframe/optimize.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sframe {

namespace {

/// Swaps header fields; `to` is a copy of the section.
void flip_header(std::byte* to) {
  namespace field = header_offset;
  format::swap_bytes(to, 2);
  for (std::uint32_t at :
       {field::num_fdes, field::num_fres, field::fre_size, field::fde_offset, field::fre_offset})
    format::swap_bytes(to + at, 4);
}

/// Swaps the rows of one function in `to`, whose layout is read from the untouched section. Returns where
/// they end.
expected<std::uint64_t, Error> flip_rows(const Section& section, const EncodedFde& fde, std::byte* to) {
  const std::uint32_t offset_size = 1u << static_cast<std::uint32_t>(fde.fre_type);
  RowCursor rows = section.rows(fde);
  for (EncodedRow row; rows.next(row);) {
    std::byte* at = to + row.section_offset;
    format::swap_bytes(at, offset_size);
    at += offset_size + 1;
    for (std::uint32_t i = 0; i < row.word_count(); ++i, at += row.word_size())
      format::swap_bytes(at, row.word_size());
  }
  if (rows.error()) return unexpected(*rows.error());
  return rows.section_offset();
}

/// The options with common properties of all inputs that no row represents: the auxiliary header, unless the
/// options have one, and the flag that all functions keep a frame pointer.
BuildOptions with_kept_properties(BuildOptions options, std::span<const Section> sections) {
  if (sections.empty()) return options;
  const auto aux_header = sections.front().aux_header();
  const auto same_aux_header = [&](const Section& section) {
    return std::ranges::equal(section.aux_header(), aux_header);
  };
  if (options.aux_header.empty() && std::ranges::all_of(sections, same_aux_header))
    options.aux_header.assign(aux_header.begin(), aux_header.end());
  // Version 3 does not define the bit.
  options.frame_pointer |= std::ranges::all_of(sections, [](const Section& section) {
    return (section.header().flags & section.version().flags & flag_frame_pointer) != 0;
  });
  return options;
}

/// Adds the functions of sections to a builder.
class Reencoder {
public:
  Reencoder(BuildOptions options, std::span<const FunctionNumber> without)
      : options_(std::move(options)), without_(without), out_{Builder(options_), {}, 0, 0, 0, 0} {}

  expected<void, Error> add(std::span<const Section> sections) {
    for (number_ = 0; number_ < sections.size(); ++number_) {
      rows_left_ = sections[number_].plausible_rows();
      for (std::uint32_t i = 0; i < sections[number_].num_fdes(); ++i) {
        if (is_left_out({number_, i})) continue;
        if (const auto done = add(sections[number_], i); !done) return done;
      }
    }
    return {};
  }

  Reencoded& out() { return out_; }

private:
  expected<void, Error> add(const Section& section, std::uint32_t number);
  expected<void, Error> read_rows(const Section& section, const EncodedFde& fde);
  void refuse(const EncodedFde& fde, AddressRange range, const Refusal& why) {
    out_.refused.push_back({number_, fde, range, why});
  }
  void skip(const EncodedFde& fde, RefusalReason why) {
    refuse(fde, {fde.start, fde.size}, {why, Refusal::none, fde.start});
    ++out_.skipped;
  }

  /// To be asked in ascending order.
  bool is_left_out(FunctionNumber function) {
    if (without_.empty() || without_.front() != function) return false;
    without_ = without_.subspan(1);
    return true;
  }

  BuildOptions options_;
  std::span<const FunctionNumber> without_; ///< those that are still to come
  Reencoded out_;
  std::uint32_t number_ = 0; ///< of the section at hand
  std::uint64_t rows_left_ = 0;
  std::vector<FrameRow> rows_; ///< of the function at hand
};

expected<void, Error> Reencoder::read_rows(const Section& section, const EncodedFde& fde) {
  rows_.clear();
  RowCursor cursor = section.rows(fde);
  for (FrameRow row; cursor.next(row) && !cursor.at_function_end();)
    rows_.push_back(resolve_fixed(row, section.header().fixed_ra_offset, section.header().fixed_fp_offset));
  if (cursor.at_function_end()) {
    ++out_.rows_at_end;
    for (FrameRow row; cursor.next(row);) {
    }
  }
  if (cursor.error()) return unexpected(*cursor.error());
  if (rows_.size() > rows_left_)
    return unexpected(Error{ErrorKind::too_large, fde.index_offset, fde.number, Error::none});
  rows_left_ -= rows_.size();
  return {};
}

expected<void, Error> Reencoder::add(const Section& section, std::uint32_t number) {
  const auto fde = section.fde(number);
  if (!fde) return unexpected(fde.error());
  if (const auto done = read_rows(section, *fde); !done) return done;
  if (rows_.empty()) {
    if (!section.outermost_throughout(*fde)) {
      skip(*fde, RefusalReason::no_rows);
      return expected<void, Error>();
    }
    if (!traits(options_.version).empty_is_outermost) rows_.push_back(FrameRow::outermost(0));
  }
  const std::uint32_t before = out_.builder.num_fdes();
  bool whole = true;
  out_.builder.add_parts(*fde, rows_, [&](AddressRange range, const Refusal& why) {
    refuse(*fde, range, why);
    whole = false;
  });
  ++(whole ? out_.whole : out_.builder.num_fdes() != before ? out_.partial : out_.skipped);
  return {};
}

} // namespace

expected<std::vector<std::byte>, Error> flip_byte_order(std::span<const std::byte> bytes) {
  auto section = Section::parse(bytes);
  if (!section) return unexpected(section.error());
  const format::Version& version = *format::find_version(section->header().version);
  std::vector<std::byte> out(section->bytes().begin(), section->bytes().end());

  // Functions in the order of their data, so that shared bytes are adjacent and are swapped once. Of those
  // that share the first rows of others (V1 and V2), the longest comes first.
  std::vector<EncodedFde> fdes;
  fdes.reserve(section->num_fdes());
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
    auto fde = section->fde(i);
    if (!fde) return unexpected(fde.error());
    version.codec.swap_entry(out.data() + fde->index_offset);
    fdes.push_back(*fde);
  }
  const auto place = [](const EncodedFde& fde) {
    return std::tuple(fde.rows_offset, ~fde.num_fres, fde.number);
  };
  if (!std::ranges::is_sorted(fdes, {}, place)) std::ranges::sort(fdes, {}, place);

  const EncodedFde* last = nullptr;
  std::uint64_t last_end = 0;
  for (const EncodedFde& fde : fdes) {
    if (fde.num_fres == 0 && version.attribute_size == 0) continue;
    const bool same = last && last->rows_offset == fde.rows_offset && last->num_fres >= fde.num_fres &&
                      last->fre_type == fde.fre_type;
    if (same) continue;
    const std::uint64_t begin = fde.rows_offset - version.attribute_size;
    if (last && begin < last_end)
      return unexpected(Error{ErrorKind::rows_shared_partly, begin, fde.number, Error::none});
    const auto end = flip_rows(*section, fde, out.data());
    if (!end) return unexpected(end.error());
    if (version.attribute_size) version.codec.swap_attributes(out.data() + begin);
    last = &fde;
    last_end = *end;
  }
  flip_header(out.data());
  return out;
}

expected<Converted, Error> convert(std::span<const Section> sections, const BuildOptions& options,
                                   std::uint64_t address) {
  auto made = reencode(sections, options, address, address);
  if (!made) return unexpected(made.error());
  auto bytes = made->builder.finish(address);
  if (!bytes) return unexpected(Error{ErrorKind::too_large, 0, Error::none, Error::none});
  return Converted{std::move(*bytes), std::move(made->refused), made->builder.num_fdes(), made->rows_at_end};
}

expected<Reencoded, Error> reencode(std::span<const Section> sections, const BuildOptions& options,
                                    std::uint64_t lowest, std::uint64_t highest,
                                    std::span<const FunctionNumber> without) {
  std::uint64_t num_fdes = 0;
  for (const Section& section : sections) num_fdes += section.num_fdes();
  for (;;) {
    BuildOptions with_fields = with_kept_properties(options, sections);
    with_fields.start_fields = StartFields::make(options.version, lowest, highest, num_fdes);
    Reencoder reencoder(std::move(with_fields), without);
    if (const auto done = reencoder.add(sections); !done) return unexpected(done.error());
    Reencoded& out = reencoder.out();
    if (options.merge_functions) out.builder.merge_functions();
    // Where a function was split, the start fields take more room.
    if (out.builder.num_fdes() <= num_fdes) return std::move(out);
    num_fdes = out.builder.num_fdes();
  }
}

expected<std::vector<std::byte>, Error> optimize(const Section& section, OptimizeOptions options) {
  const std::uint64_t address = section.address();
  const bool for_size = options.goal != OptimizeOptions::Goal::lookup;
  options.repeat = true;
  // Where few bytes are the rows of many functions, time would not follow the section's size.
  const std::uint64_t most_rows = section.bytes().size();
  if (!options.may_search) options.may_search = [=](std::uint64_t rows) { return rows <= most_rows; };
  auto made = reencode({&section, 1},
                       {.version = VersionNumber{section.version().number},
                        .abi = section.abi().id,
                        .byte_order = section.header().byte_order,
                        .share_rows = section.header().byte_order == ByteOrder::little,
                        .aux_header = {}},
                       address, address);
  if (!made) return unexpected(made.error());
  const auto unchanged = [&] {
    return std::vector<std::byte>(section.bytes().begin(), section.bytes().end());
  };
  if (!made->refused.empty()) return unchanged(); // rows that are not defined for this version
  made->builder.optimize(options);
  auto bytes = made->builder.finish(address);
  if (!bytes) return unexpected(Error{ErrorKind::too_large, 0, Error::none, Error::none});
  if (for_size && bytes->size() >= section.bytes().size()) return unchanged();
  return std::move(*bytes);
}

} // namespace sframe
