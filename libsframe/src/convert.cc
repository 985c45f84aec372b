// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/convert.h"

#include "format/words.h"

#include <algorithm>

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

} // namespace

expected<std::vector<std::byte>, Error> flip_byte_order(std::span<const std::byte> bytes) {
  auto section = Section::parse(bytes);
  if (!section) return unexpected(section.error());
  const format::Version& version = *format::find_version(section->header().version);
  std::vector<std::byte> out(section->bytes().begin(), section->bytes().end());

  // Functions in the order of their data, so that shared bytes are adjacent and are swapped once.
  std::vector<EncodedFde> fdes;
  fdes.reserve(section->num_fdes());
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
    auto fde = section->fde(i);
    if (!fde) return unexpected(fde.error());
    version.codec.swap_entry(out.data() + fde->index_offset);
    fdes.push_back(*fde);
  }
  const auto place = [](const EncodedFde& fde) { return std::pair(fde.rows_offset, fde.number); };
  if (!std::ranges::is_sorted(fdes, {}, place)) std::ranges::sort(fdes, {}, place);

  const EncodedFde* last = nullptr;
  std::uint64_t last_end = 0;
  for (const EncodedFde& fde : fdes) {
    if (fde.num_fres == 0 && version.attribute_size == 0) continue;
    const bool same = last && last->rows_offset == fde.rows_offset && last->num_fres == fde.num_fres &&
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

FrameRow resolve_fixed(const FrameRow& row, std::int8_t fixed_ra_offset, std::int8_t fixed_fp_offset) {
  FrameRow out = row;
  if (out.ra.kind == Rule::Kind::fixed) out.ra = Rule::at_cfa(fixed_ra_offset);
  if (out.fp.kind == Rule::Kind::fixed) out.fp = Rule::at_cfa(fixed_fp_offset);
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
                                    std::uint64_t lowest, std::uint64_t highest) {
  Reencoded out{Builder(with_kept_properties(options, sections)), {}, 0};
  Builder& builder = out.builder;
  std::vector<FrameRow> rows;

  std::uint64_t num_fdes = 0;
  for (const Section& section : sections) num_fdes += section.num_fdes();
  const auto fields = StartFields::make(options.version, lowest, highest, num_fdes);
  for (std::uint32_t number = 0; number < sections.size(); ++number) {
    const Section& section = sections[number];
    std::uint64_t rows_left = section.plausible_rows();
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      auto fde = section.fde(i);
      if (!fde) return unexpected(fde.error());
      rows.clear();
      RowCursor cursor = section.rows(*fde);
      for (FrameRow row; cursor.next(row) && !cursor.at_function_end();)
        rows.push_back(
            resolve_fixed(row, section.header().fixed_ra_offset, section.header().fixed_fp_offset));
      if (cursor.at_function_end()) {
        ++out.rows_at_end;
        for (FrameRow row; cursor.next(row);) {
        }
      }
      if (cursor.error()) return unexpected(*cursor.error());
      if (rows.size() > rows_left)
        return unexpected(Error{ErrorKind::too_large, fde->index_offset, i, Error::none});
      rows_left -= rows.size();

      if (rows.empty()) {
        if (!section.outermost_throughout(*fde)) {
          out.refused.push_back({number, *fde, {RefusalReason::no_rows, Refusal::none, fde->start}});
          continue;
        }
        if (!traits(options.version).empty_is_outermost) rows.push_back(FrameRow::outermost(0));
      }
      if (!fields.reach(options.version, fde->start)) {
        out.refused.push_back({number, *fde, {RefusalReason::out_of_reach, Refusal::none, fde->start}});
        continue;
      }
      if (auto added = builder.add(*fde, rows); !added) out.refused.push_back({number, *fde, added.error()});
    }
  }
  if (options.merge_functions) builder.merge_functions();
  return out;
}

expected<std::vector<std::byte>, Error> optimize(const Section& section, OptimizeOptions options) {
  const std::uint64_t address = section.address();
  const bool for_size = options.goal == OptimizeOptions::Goal::size;
  options.repeat = true;
  auto made = reencode({&section, 1},
                       {.version = VersionNumber{section.version().number},
                        .abi = section.abi().id,
                        .byte_order = section.header().byte_order,
                        .share_rows = section.header().byte_order == ByteOrder::little,
                        .aux_header = {}},
                       address, address);
  if (!made) return unexpected(made.error());
  std::vector<std::byte> unchanged(section.bytes().begin(), section.bytes().end());
  if (!made->refused.empty()) return unchanged; // rows that are not defined for this version
  made->builder.optimize(options);
  auto bytes = made->builder.finish(address);
  if (!bytes) return unexpected(Error{ErrorKind::too_large, 0, Error::none, Error::none});
  return for_size && bytes->size() >= unchanged.size() ? unchanged : *bytes;
}

} // namespace sframe
