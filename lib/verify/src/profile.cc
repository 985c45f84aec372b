// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ProfileCheck compares header, functions and rows with the properties of one reader (readers::Reader), which
// are data: a new reader needs no code here unless it requires something new. Rows are read only if the
// reader limits what they may have, and a fault is reported once for a function.

#include "sframe/verify/profile.h"

#include "table_checks.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

using readers::Reader;

/// True if a data word of a flexible row is left over: after the CFA, RA and FP have a control word and an
/// offset, or a control word of 0 alone if another word follows.
bool has_lone_word(const EncodedRow& row) {
  if (row.word_count() < 2) return row.word_count() != 0;
  std::uint32_t at = 2;
  for (int rule = 0; rule < 2 && row.word_count() - at >= 2; ++rule) at += row.control(at) ? 2 : 1;
  return at != row.word_count();
}

class ProfileCheck {
public:
  ProfileCheck(const Input& input, const Reader& reader, Sink& sink)
      : input_(input), consumer_(reader), sink_(sink) {}

  void run() {
    check_program_header();
    const SframePart* previous = nullptr;
    for (const SframePart& part : input_.parts()) {
      if (previous && previous->table == part.table)
        report(part, Id::P410, llvm::formatv("{} does not read this section", consumer_.name).str(), 0);
      check_header(part);
      if (reads(part)) check_functions(part);
      previous = &part;
    }
  }

private:
  void report(const SframePart& part, Id id, std::string message, std::uint64_t offset,
              std::optional<Location> at = {}) {
    report_in_table(input_.tables()[part.table], part, id, std::move(message), offset, at, sink_);
  }

  /// For linked files: raw sections, sidecars and relocatable objects have no program headers yet.
  void check_program_header() {
    const elf::Image* image = input_.sframe_image();
    if (!image || image->segments().empty()) return;
    if (consumer_.by_program_header && !image->find_segment(elf::pt_gnu_sframe))
      sink_.add({.id = Id::P409,
                 .message = llvm::formatv("no PT_GNU_SFRAME: {} cannot find the section", consumer_.name)});
    if (!consumer_.requires_mapping) return;
    for (const SframeTable& table : input_.tables())
      if (!in_one_mapping(*image, table.address, table.bytes.size(), elf::pf_r))
        sink_.add({.id = Id::P406,
                   .message = "the section is not inside one readable PT_LOAD",
                   .table = std::string(table.name),
                   .offset = 0});
  }

  bool reads(const SframePart& part) const { return consumer_.versions >> part.section.header().version & 1; }

  void check_header(const SframePart& part) {
    const Header& header = part.section.header();
    const int version = header.version;
    if (!reads(part))
      report(part, Id::P401, llvm::formatv("{} does not read version {}", consumer_.name, version).str(),
             header_offset::version);
    // Relocatable objects are sorted, and flagged as sorted, by the linker.
    const int demanded = input_.relocatable() ? consumer_.flags & ~flag_sorted : consumer_.flags;
    if (const int clear = demanded & ~header.flags)
      report(part, Id::P402,
             llvm::formatv("{} is clear, but {} requires it",
                           clear & flag_sorted && clear & flag_func_start_pcrel
                               ? "SORTED and FUNC_START_PCREL"
                           : clear & flag_sorted ? "SORTED"
                                                 : "FUNC_START_PCREL",
                           consumer_.name)
                 .str(),
             header_offset::flags);
    if (const int unknown = header.flags & ~consumer_.known_flags)
      report(part, Id::P414,
             llvm::formatv("flags {:x}, which {} does not support", unknown, consumer_.name).str(),
             header_offset::flags);
    check_layout(part);
  }

  void check_layout(const SframePart& part) {
    const Header& header = part.section.header();
    if (consumer_.refuses_auxiliary && header.aux_header_size)
      report(part, Id::P403,
             llvm::formatv("auxiliary header of {} bytes, which {} rejects", int{header.aux_header_size},
                           consumer_.name)
                 .str(),
             header_offset::aux_size);
    if (consumer_.refuses_empty && (!header.num_fdes || !header.num_fres))
      report(part, Id::P404,
             llvm::formatv("{} functions and {} rows: {} requires at least one of each", header.num_fdes,
                           header.num_fres, consumer_.name)
                 .str(),
             header_offset::num_fdes);
    if (!consumer_.requires_order || !header.num_fdes) return;
    const std::uint64_t index = part.section.index_offset(), rows = part.section.rows_offset();
    const std::uint64_t index_end =
        index + std::uint64_t{header.num_fdes} * part.section.version().entry_size;
    if (rows < index)
      report(part, Id::P405,
             llvm::formatv("the rows come before the functions, which {} rejects", consumer_.name).str(),
             header_offset::fde_offset);
    else if (const std::uint64_t start = header_size + header.aux_header_size;
             consumer_.refuses_gaps && (index != start || rows != index_end))
      report(part, Id::P405,
             llvm::formatv("{} unused bytes before the {}, which {} takes for a part of them",
                           index != start ? index - start : rows - index_end,
                           index != start ? "functions" : "rows", consumer_.name)
                 .str(),
             header_offset::fde_offset);
  }

  void check_functions(const SframePart& part) {
    const Section& section = part.section;
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const auto fde = section.fde(i);
      if (!fde) continue;
      const Location at = input_.locate(input_.address(part, *fde).value_or(0));
      if (section.sorted() && !input_.relocatable()) check_start(part, *fde, at);
      if (consumer_.requires_mapping) check_mapping(part, *fde, at);
      if (section.outermost_throughout(*fde) && !consumer_.rows.outermost) report_outermost(part, *fde, at);
      check_rows(part, *fde, at);
    }
  }

  void check_start(const SframePart& part, const EncodedFde& fde, const Location& at) {
    const std::uint32_t number = fde.number;
    if (consumer_.equal_starts == readers::EqualStarts::refused && number > 0 &&
        fde.start <= part.section.fde_start(number - 1))
      report(
          part, Id::P407,
          llvm::formatv("function {}: {} function {}, which {} may reject", number,
                        fde.start == part.section.fde_start(number - 1) ? "same start as" : "starts before",
                        number - 1, consumer_.name)
              .str(),
          fde.index_offset, at);
    if (consumer_.equal_starts == readers::EqualStarts::missed && fde.size != 0)
      if (const auto other = found_instead(part.section, fde))
        report(part, Id::P407,
               llvm::formatv("function {}: same start as function {}, which {} finds instead", number, *other,
                             consumer_.name)
                   .str(),
               fde.index_offset, at);
  }

  /// The function with the start of `fde` that a plain binary search meets first, unless it is `fde`.
  static std::optional<std::uint32_t> found_instead(const Section& section, const EncodedFde& fde) {
    const auto has_start = [&](std::uint32_t i) { return section.fde_start(i) == fde.start; };
    if (!(fde.number > 0 && has_start(fde.number - 1)) &&
        !(fde.number + 1 < section.num_fdes() && has_start(fde.number + 1)))
      return std::nullopt;
    std::uint32_t low = 0, end = section.num_fdes();
    for (;;) {
      const std::uint32_t middle = low + (end - 1 - low) / 2;
      if (middle == fde.number) return std::nullopt;
      if (has_start(middle)) return middle;
      if (middle < fde.number)
        low = middle + 1;
      else
        end = middle;
    }
  }

  void report_outermost(const SframePart& part, const EncodedFde& fde, const Location& at) {
    report(part, Id::P413,
           llvm::formatv("function {}: {} cannot read rows that mark the outermost frame", fde.number,
                         consumer_.name)
               .str(),
           fde.index_offset, at);
  }

  /// Reports each fault once per function.
  void check_rows(const SframePart& part, const EncodedFde& fde, const Location& at) {
    const AbiTraits& abi = part.section.abi();
    bool outermost = consumer_.rows.outermost, loaded = consumer_.rows.loaded_cfa;
    bool lone = consumer_.accepts_lone_word || fde.fde_type != FdeType::flex;
    // Words of 0 that the reader takes for something else.
    const Header& header = part.section.header();
    const bool words_are_rules = fde.fde_type == FdeType::standard;
    const std::uint32_t ra_word = 1, fp_word = header.fixed_ra_offset ? 1 : 2;
    bool zero_ra = consumer_.accepts_zero_ra || header.fixed_ra_offset || !words_are_rules;
    bool zero_fp = consumer_.accepts_zero_fp || header.fixed_fp_offset || !words_are_rules;
    const auto done = [&] { return outermost && loaded && lone && zero_ra && zero_fp; };
    if (done() || !input_.spend_rows(input_.budget(), part.section, fde)) return;
    const auto report_row = [&](const EncodedRow& row, std::string_view what) {
      report(part, Id::P413,
             llvm::formatv("function {}: the row at {:x} has {}", fde.number, row.offset, what).str(),
             row.section_offset, at);
    };
    RowCursor cursor = part.section.rows(fde);
    for (EncodedRow row; !done() && cursor.next(row);) {
      const auto is_zero = [&](std::uint32_t word) { return word < row.word_count() && row.word(word) == 0; };
      if (!lone && has_lone_word(row)) {
        lone = true;
        report_row(row, llvm::formatv("an unused data word, which {} rejects", consumer_.name).str());
      }
      if (row.offset >= fde.row_limit()) continue; // for no address: only read
      // Where RA is always in memory, no word for it means nothing that the reader could use.
      if (!zero_ra && abi.fixed_ra_offset && row.word_count() == ra_word) {
        zero_ra = true;
        report_row(row, llvm::formatv("no RA, which {} requires", consumer_.name).str());
      }
      if (!zero_ra && is_zero(ra_word)) {
        zero_ra = true;
        report_row(row, llvm::formatv("an RA word of 0, which {} takes for an offset", consumer_.name).str());
      }
      if (!zero_fp && is_zero(fp_word)) {
        zero_fp = true;
        report_row(row,
                   llvm::formatv("an FP word of 0, which {} takes for \"not saved\"", consumer_.name).str());
      }
      const auto rules = cursor.decode(row);
      if (!rules) continue;
      if (!outermost && rules->is_outermost()) {
        outermost = true;
        report_outermost(part, fde, at);
      }
      if (!loaded && rules->cfa.kind == Rule::Kind::stored &&
          (rules->cfa.base == abi.sp || rules->cfa.base == abi.fp)) {
        loaded = true;
        report(
            part, Id::P416,
            llvm::formatv("function {}: the row at {:x} loads the CFA from memory at {}, where {} ends the "
                          "stack trace",
                          fde.number, row.offset, rules->cfa.base == abi.sp ? "SP" : "FP", consumer_.name)
                .str(),
            row.section_offset, at);
      }
    }
  }

  void check_mapping(const SframePart& part, const EncodedFde& fde, const Location& at) {
    const elf::Image* image = input_.image();
    if (!image || image->segments().empty()) return;
    if (in_one_mapping(*image, fde.start, 1, elf::pf_x)) return;
    report(part, Id::P406,
           llvm::formatv("function {}: does not start in an executable PT_LOAD", fde.number).str(),
           fde.index_offset, at);
  }

  const Input& input_;
  const Reader& consumer_;
  Sink& sink_;
};

} // namespace

void check_profile(const Input& input, const Reader& reader, Sink& sink) {
  if (&reader != &readers::all_readers().front()) ProfileCheck(input, reader, sink).run();
}

} // namespace sframe::verify
