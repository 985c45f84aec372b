// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PartCheck reads a section as any reader would and translates the reader's errors (id_of()); what the reader
// accepts and the specification does not, or what wastes bytes, is checked along the way (encoding.h). After
// an error in a function it goes on with the next one. The rest concerns several functions (overlaps), or the
// file around them. A section may share rows, so that few bytes are very many rows: rows are limited by
// plausible_rows() and by the budget.

#include "sframe/verify/structure.h"

#include "encoding.h"
#include "table_checks.h"
#include "work_limit.h"

#include <algorithm>
#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

Id id_of(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::truncated_header:
  case ErrorKind::bad_magic: return Id::S001;
  case ErrorKind::unknown_version:
  case ErrorKind::unknown_abi: return Id::S002;
  case ErrorKind::index_out_of_bounds:
  case ErrorKind::rows_out_of_bounds:
  case ErrorKind::overlap:
  case ErrorKind::no_such_function:
  case ErrorKind::function_rows_out_of_bounds:
  case ErrorKind::rows_shared_partly:
  case ErrorKind::truncated_row: return Id::S003;
  case ErrorKind::too_large: return Id::S004;
  case ErrorKind::row_past_end: return Id::S008;
  case ErrorKind::row_order: return Id::S009;
  case ErrorKind::bad_dataword_size:
  case ErrorKind::bad_dataword_count: return Id::S010;
  case ErrorKind::bad_rep_size: return Id::S016;
  case ErrorKind::bad_fre_type:
  case ErrorKind::bad_fde_type: return Id::S022;
  case ErrorKind::bad_register:
  case ErrorKind::bad_rule: return Id::S023;
  }
  return Id::S003;
}

/// Checks one SFrame section of a table.
class PartCheck {
public:
  PartCheck(const Input& input, const SframePart& part, Sink& sink)
      : input_(input), part_(part), section_(part.section), table_(input.tables()[part.table]), sink_(sink),
        budget_(section_.plausible_rows()), encoding_(input.tables()[part.table], part, sink),
        extents_(input.tables()[part.table], part, input.relocatable(), sink) {}

  void run() {
    check_header();
    encoding_.check_header();
    std::uint64_t rows = 0;
    bool all_decoded = true;
    for (std::uint32_t i = 0; i < section_.num_fdes(); ++i) {
      const auto fde = section_.fde(i);
      input_.advance(1.0 / static_cast<double>(input_.num_functions()));
      check_order(i);
      if (!fde) {
        all_decoded = false;
        std::optional<Location> at;
        if (!input_.relocatable()) at = input_.locate(section_.fde_start(i));
        report(id_of(fde.error().kind), describe(fde.error()), fde.error().offset, at);
        continue;
      }
      rows += fde->num_fres;
      encoding_.check_function(*fde, location(*fde, 0));
      check_blocks(*fde);
      all_decoded = check_rows(*fde) && all_decoded;
    }
    extents_.check(all_decoded);
    // A section that shares rows may count them once or once per function.
    if (all_decoded && rows != section_.header().num_fres &&
        extents_.distinct_rows() != section_.header().num_fres)
      report(Id::S004,
             llvm::formatv("the header counts {} rows, but the functions have {}", section_.header().num_fres,
                           rows)
                 .str(),
             12);
  }

private:
  void report(Id id, std::string message, std::uint64_t offset, std::optional<Location> at = {}) {
    report_in_table(table_, part_, id, std::move(message), offset, at, sink_);
  }

  Location location(const EncodedFde& fde, std::uint32_t offset) const {
    Location at = input_.locate(input_.address(part_, fde).value_or(0));
    at.pc += offset;
    return at;
  }

  void check_header() {
    const Header& header = section_.header();
    if (const elf::Image* image = input_.image()) {
      if (header.byte_order != image->byte_order())
        report(
            Id::S001,
            llvm::formatv("the section is {}-endian, the file is not", order_name(header.byte_order)).str(),
            0);
      if (image->abi() != &section_.abi())
        report(
            Id::S002,
            llvm::formatv("the section is for {}, the file for {}", section_.abi().name, machine_name(*image))
                .str(),
            header_offset::abi);
    }
    if (!section_.sorted() && section_.num_fdes() > 1 && !input_.relocatable())
      report(Id::S017, llvm::formatv("flag SORTED is clear, with {} functions", section_.num_fdes()).str(),
             header_offset::flags);
  }

  static std::string_view order_name(ByteOrder order) {
    return order == ByteOrder::little ? "little" : "big";
  }
  static std::string machine_name(const elf::Image& image) {
    return image.abi() ? std::string(image.abi()->name) : llvm::formatv("machine {}", image.machine()).str();
  }

  /// Reported once per section: in an unsorted index nearly every function would be out of order.
  void check_order(std::uint32_t i) {
    if (!section_.sorted() || input_.relocatable() || order_reported_ || i == 0) return;
    const std::uint64_t before = section_.fde_start(i - 1), start = section_.fde_start(i);
    // Readers compare distances from the section; near the top of the address space, that is not the order of
    // addresses.
    const auto distance = [&](std::uint64_t at) {
      return static_cast<std::int64_t>(at - section_.address());
    };
    if (distance(start) >= distance(before)) return;
    order_reported_ = true;
    report(Id::S005,
           llvm::formatv("function {} starts at {:x}, before function {} at {:x}", i, start, i - 1, before)
               .str(),
           section_.index_offset() + std::uint64_t{i} * section_.version().entry_size, input_.locate(start));
  }

  void check_blocks(const EncodedFde& fde) {
    if (fde.pc_type != PcType::mask || !section_.version().has_rep_size || fde.size % fde.rep_size == 0)
      return;
    report(Id::S016,
           llvm::formatv("function {}: its {} bytes are not a multiple of the block size {}", fde.number,
                         fde.size, int{fde.rep_size})
               .str(),
           fde.index_offset, location(fde, 0));
  }

  /// False if not all rows can be read.
  bool check_rows(const EncodedFde& fde) {
    if (!input_.spend_rows(input_.budget(), section_, fde)) return false;
    if (!budget_.spend(fde.num_fres)) {
      if (!budget_reported_)
        report(Id::S004,
               "too many shared rows; the functions from here on are not "
               "checked",
               fde.index_offset);
      budget_reported_ = true;
      return false;
    }
    RowCursor rows = section_.rows(fde);
    FrameRow row, previous;
    bool first = true, repeated = false;
    RowCursor before = rows;
    std::uint64_t last_at = rows.section_offset();
    for (std::uint64_t at = last_at; rows.next(row); at = rows.section_offset()) {
      last_at = at;
      encoding_.check_row(fde, before, location(fde, row.offset));
      before = rows;
      if (first && row.offset != 0)
        report(Id::S011,
               llvm::formatv("function {}: the first row is at {:x}, its first {} bytes have no row",
                             fde.number, row.offset, row.offset)
                   .str(),
               at, location(fde, 0));
      if (!first && !repeated && row.same_rules(previous)) {
        report(Id::S013,
               llvm::formatv("function {}: the row at {:x} repeats the one before it", fde.number, row.offset)
                   .str(),
               at, location(fde, row.offset));
        repeated = true;
      }
      first = false;
      previous = row;
    }
    extents_.add(fde, rows.section_offset());
    if (rows.at_function_end())
      report(Id::S008,
             llvm::formatv("function {}: the row at {:x} is at the function's end and applies to no address",
                           fde.number, fde.size)
                 .str(),
             last_at, location(fde, 0));
    if (rows.error())
      report(id_of(rows.error()->kind), describe(*rows.error()), rows.error()->offset, location(fde, 0));
    return !rows.error();
  }

  const Input& input_;
  const SframePart& part_;
  const Section& section_;
  const SframeTable& table_;
  Sink& sink_;
  WorkLimit budget_;
  EncodingCheck encoding_;
  RowExtents extents_;
  bool order_reported_ = false;
  bool budget_reported_ = false;
};

void report_range(const Input& input, const OwnedRange& range, Id id, std::string message,
                  std::uint64_t begin, std::uint64_t end, Sink& sink) {
  const SframePart& part = input.parts()[range.source];
  Finding finding = input.finding(id, begin, end, std::move(message));
  finding.table = input.tables()[part.table].name;
  finding.offset = part.offset + part.section.index_offset() +
                   std::uint64_t{range.item} * part.section.version().entry_size;
  sink.add(std::move(finding));
}

void check_overlaps(const Input& input, Sink& sink) {
  const OwnedRange* reach = nullptr; // the earlier function that ends last
  for (const OwnedRange& range : input.functions()) {
    if (reach && range.begin < reach->end)
      report_range(input, range, Id::S006,
                   "the function overlaps the one at " + hex(input.locate(reach->begin).pc) + "-" +
                       hex(input.locate(reach->begin).pc + (reach->end - reach->begin)),
                   range.begin, std::min(range.end, reach->end), sink);
    if (!reach || range.end > reach->end) reach = &range;
  }
}

void check_code(const Input& input, Sink& sink) {
  if (input.code().empty()) return;
  for (const OwnedRange& range : input.functions()) {
    if (input.code().contains(AddressRange::between(range.begin, range.end))) continue;
    if (input.relocatable() && input.locate(range.begin).section == 0) continue; // S018 reports it
    report_range(input, range, Id::S007, "the function is not inside executable bytes of the file",
                 range.begin, range.end, sink);
  }
}

} // namespace

void check_structure(const Input& input, Sink& sink) {
  for (const SframePart& part : input.parts()) {
    if (part.offset != 0 && part.table < input.tables().size() && &part != input.parts().data() &&
        (&part - 1)->table == part.table)
      sink.add(
          {.id = Id::S020,
           .at = {},
           .message =
               llvm::formatv("another section of {} functions begins here", part.section.num_fdes()).str(),
           .sframe = {},
           .cfi = {},
           .table = std::string(input.tables()[part.table].name),
           .offset = part.offset});
    PartCheck(input, part, sink).run();
  }
  for (const SframeFault& fault : input.faults())
    sink.add({.id = id_of(fault.error.kind),
              .at = {},
              .message = describe(fault.error),
              .sframe = {},
              .cfi = {},
              .table = std::string(input.tables()[fault.table].name),
              .offset = fault.error.offset});
  check_tails(input, sink);
  check_relocations(input, sink);
  check_segment(input, sink);
  check_overlaps(input, sink);
  check_code(input, sink);
  check_loaded(input, sink);
}

} // namespace sframe::verify
