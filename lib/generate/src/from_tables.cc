// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ORC is a list of rows without functions: symbols begin them or, where there is none, entries that are like
// a function's first. Go's table has the functions. What a table cannot describe counts as described by it:
// the code would not show more.

#include "from_tables.h"

#include "add_rows.h"
#include "sframe/elf/symbols.h"
#include "sframe/tables/go.h"
#include "sframe/tables/orc.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace sframe::generate {

namespace {

using tables::OrcEntry;

constexpr Reason stack_switch = {"stack-switch", "the function changes to another stack"};
constexpr Reason go_frame = {"go-frame",
                             "where the function saves the return address, or its caller's FP, is not known"};
constexpr Reason orc_base = {"orc-base",
                             "ORC finds the frame by a load and an offset, or by a register that it does "
                             "not define"};

/// Addresses at which functions begin, by address.
std::vector<std::uint64_t> function_starts(const elf::Image& image) {
  std::vector<std::uint64_t> starts;
  const elf::SymbolTable table = elf::SymbolTable::load(image);
  for (const elf::Symbol& symbol : table.symbols())
    if (symbol.function())
      starts.push_back(symbol.address + (image.relocatable() ? image.sections()[symbol.section].address : 0));
  std::ranges::sort(starts);
  return starts;
}

/// The state in which a function is entered by a call.
bool is_like_an_entry(const OrcEntry& entry) {
  return entry.kind == OrcEntry::Kind::call && entry.sp_base == OrcEntry::Base::sp && entry.sp_offset == 8 &&
         entry.bp_base == OrcEntry::Base::none;
}

/// The kernel's code is aligned so, unless it is built for size.
constexpr std::uint64_t usual_alignment = 16;

/// Rows from a table become functions: those that follow each other are in one FDE, until a gap, the start of
/// a function, or the mark of signal frames, which an FDE has as a whole, ends it.
class TableWriter {
public:
  /// `bytes` and `ranges`, of the report in `out`, are of what the table gives rows. All must outlive the
  /// object.
  TableWriter(const Options& options, Conversion& out, std::uint64_t& bytes,
              std::vector<AddressRange>& ranges)
      : options_(options), out_(out), bytes_(bytes), ranges_(ranges) {}

  /// The next addresses, in order.
  void add(AddressRange range, FrameRow row, bool signal_frame);
  /// The next ones, without a row.
  void leave_out(AddressRange range, const Reason& reason);
  /// The next address begins a function; or there is none.
  void end_function();

private:
  const Options& options_;
  Conversion& out_;
  std::uint64_t& bytes_;
  std::vector<AddressRange>& ranges_;
  Fde fde_; ///< of rows_
  std::vector<FrameRow> rows_;
  std::uint64_t end_ = 0; ///< of the last of rows_
};

void TableWriter::add(AddressRange range, FrameRow row, bool signal_frame) {
  if (!rows_.empty() && (range.start != end_ || signal_frame != fde_.signal_frame ||
                         range.end() - fde_.start > std::numeric_limits<std::uint32_t>::max()))
    end_function();
  if (rows_.empty()) fde_ = {.start = range.start, .signal_frame = signal_frame};
  append_row(options_, rows_, row, range.start - fde_.start);
  end_ = range.end();
}

void TableWriter::leave_out(AddressRange range, const Reason& reason) {
  end_function();
  ++out_.report.functions.total;
  ++out_.report.functions.skipped;
  out_.report.pc_bytes.total += range.size;
  out_.report.leave_out(range.start, range.end(), reason, false);
}

void TableWriter::end_function() {
  if (rows_.empty()) return;
  fde_.size = static_cast<std::uint32_t>(end_ - fde_.start);
  Report& report = out_.report;
  bool any_refused = false;
  const std::uint64_t covered =
      add_rows(out_, fde_, rows_, ranges_, [&](const AddressRange& range, const Reason& why) {
        report.leave_out(range.start, range.end(), why, any_refused);
        any_refused = true;
      });
  ++report.functions.total;
  ++(!any_refused   ? report.functions.converted
     : covered != 0 ? report.functions.partial
                    : report.functions.skipped);
  report.pc_bytes.total += fde_.size;
  report.pc_bytes.covered += covered;
  bytes_ += covered;
  rows_.clear();
}

} // namespace

void add_from_orc(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out) {
  const std::span<const OrcEntry> entries = options.orc->entries();
  const std::vector<std::uint64_t> starts = function_starts(*input.image);
  const auto next_start = [&](std::uint64_t address, std::uint64_t end) {
    const auto next = std::ranges::upper_bound(starts, address);
    return next != starts.end() && *next < end ? *next : end;
  };
  const AddressSet code = AddressSet(input.code).without(described);
  std::vector<AddressRange> added;
  TableWriter writer(options, out, out.report.orc_bytes, out.report.from_orc);
  for (const AddressRange& range : code.ranges()) {
    writer.end_function();
    const bool has_symbols = next_start(range.start, range.end()) != range.end();
    const OrcEntry* const first = options.orc->find(range.start);
    for (std::size_t i = first ? static_cast<std::size_t>(first - entries.data()) : 0;
         i < entries.size() && entries[i].start < range.end(); ++i) {
      std::uint64_t begin = std::max(entries[i].start, range.start);
      const std::uint64_t end = std::min(tables::range_of(entries, i).end(), range.end());
      if (entries[i].kind != OrcEntry::Kind::undefined) added.push_back({begin, end - begin});
      if (!has_symbols && is_like_an_entry(entries[i]) && begin % usual_alignment == 0) writer.end_function();
      for (std::uint64_t next = 0; begin < end; begin = next) {
        if (std::ranges::binary_search(starts, begin)) writer.end_function();
        next = next_start(begin, end);
        const AddressRange part{begin, next - begin};
        if (const auto row = entries[i].row())
          writer.add(part, *row, entries[i].signal);
        else if (entries[i].kind != OrcEntry::Kind::undefined)
          writer.leave_out(part, orc_base);
      }
    }
  }
  writer.end_function();
  described.add(added);
}

AddressSet add_from_go(const CfiInput& input, const Options& options, Conversion& out) {
  const AddressSet code = AddressSet(input.code).without(input.stubs());
  std::vector<AddressRange> added;
  TableWriter writer(options, out, out.report.go_bytes, out.report.from_go);
  tables::GoRows function;
  std::uint64_t end = 0; // of the functions before
  for (std::uint64_t i = 0; i < options.go->size() && options.go->rows(i, function); ++i) {
    writer.end_function();
    for (const tables::GoRow& one : function.rows) {
      // A damaged table may have functions in any order.
      if (one.range.start < end || !code.contains(one.range)) continue;
      end = one.range.end();
      added.push_back(one.range);
      if (one.missing == tables::GoRow::Missing::nothing)
        writer.add(one.range, one.row, function.signal);
      else
        writer.leave_out(one.range,
                         one.missing == tables::GoRow::Missing::stack_switch ? stack_switch : go_frame);
    }
  }
  writer.end_function();
  return AddressSet(std::move(added));
}

} // namespace sframe::generate
