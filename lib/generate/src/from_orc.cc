// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ORC table is a list of rows without functions. Writer puts rows that follow each other into one FDE
// until a symbol, a gap, or the mark of signal frames, which an FDE has as a whole, ends it.

#include "from_orc.h"

#include "sframe/elf/symbols.h"
#include "sframe/tables/orc.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace sframe::generate {

namespace {

using tables::OrcEntry;

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

/// The end of the entry at `number`: the start of the next one.
std::uint64_t end_of(std::span<const OrcEntry> entries, std::size_t number) {
  return number + 1 < entries.size() ? entries[number + 1].start : std::numeric_limits<std::uint64_t>::max();
}

/// The state in which a function is entered by a call.
bool is_like_an_entry(const OrcEntry& entry) {
  return entry.kind == OrcEntry::Kind::call && entry.sp_base == OrcEntry::Base::sp && entry.sp_offset == 8 &&
         entry.bp_base == OrcEntry::Base::none;
}

/// The kernel's code is aligned so, unless it is built for size.
constexpr std::uint64_t usual_alignment = 16;

class Writer {
public:
  Writer(const Options& options, Conversion& out) : options_(options), out_(out) {}

  /// The next addresses, of one entry.
  void add(const OrcEntry& entry, AddressRange range) {
    if (entry.kind == OrcEntry::Kind::undefined) return end_function();
    auto row = entry.row();
    if (!row) return leave_out(range);
    if (!rows_.empty() && (range.start != end_ || entry.signal != fde_.signal_frame ||
                           range.end() - fde_.start > std::numeric_limits<std::uint32_t>::max()))
      end_function();
    if (rows_.empty()) fde_ = {.start = range.start, .signal_frame = entry.signal};
    row->offset = static_cast<std::uint32_t>(range.start - fde_.start);
    if (!options_.merge_rows || rows_.empty() || !rows_.back().same_rules(*row)) rows_.push_back(*row);
    end_ = range.end();
  }

  /// The next address begins a function.
  void end_function() {
    if (rows_.empty()) return;
    fde_.size = static_cast<std::uint32_t>(end_ - fde_.start);
    AddressSet refused;
    out_.builder.add_parts(fde_, rows_, [&](AddressRange range, const Refusal& why) {
      out_.report.leave_out(range.start, range.end(), reason(why.reason), !refused.empty());
      refused.add(range);
    });
    const std::uint64_t covered = fde_.size - refused.size();
    Report& report = out_.report;
    ++report.functions.total;
    ++(refused.empty() ? report.functions.converted
       : covered != 0  ? report.functions.partial
                       : report.functions.skipped);
    report.pc_bytes.total += fde_.size;
    report.pc_bytes.covered += covered;
    report.table_bytes += covered;
    std::ranges::move(refused.outside({fde_.start, fde_.size}), std::back_inserter(report.from_table));
    rows_.clear();
  }

private:
  void leave_out(AddressRange range) {
    end_function();
    ++out_.report.functions.total;
    ++out_.report.functions.skipped;
    out_.report.pc_bytes.total += range.size;
    out_.report.leave_out(range.start, range.end(), orc_base, false);
  }

  const Options& options_;
  Conversion& out_;
  Fde fde_; ///< of rows_
  std::vector<FrameRow> rows_;
  std::uint64_t end_ = 0; ///< of the last of rows_
};

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
  Writer writer(options, out);
  for (const AddressRange& range : code.ranges()) {
    writer.end_function();
    const bool has_symbols = next_start(range.start, range.end()) != range.end();
    const OrcEntry* const first = options.orc->find(range.start);
    for (std::size_t i = first ? static_cast<std::size_t>(first - entries.data()) : 0;
         i < entries.size() && entries[i].start < range.end(); ++i) {
      std::uint64_t begin = std::max(entries[i].start, range.start);
      const std::uint64_t end = std::min(end_of(entries, i), range.end());
      if (entries[i].kind != OrcEntry::Kind::undefined) added.push_back({begin, end - begin});
      if (!has_symbols && is_like_an_entry(entries[i]) && begin % usual_alignment == 0) writer.end_function();
      for (std::uint64_t next = 0; begin < end; begin = next) {
        if (std::ranges::binary_search(starts, begin)) writer.end_function();
        next = next_start(begin, end);
        writer.add(entries[i], {begin, next - begin});
      }
    }
  }
  writer.end_function();
  described.add(added);
}

} // namespace sframe::generate
