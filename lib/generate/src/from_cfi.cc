// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two passes over each section: the first lists FDEs by address to find overlaps and counts the unreadable
// ones; the second converts in the section's order, which reads each CIE once. The second processes parts,
// each with its own report; reports are joined in the section's order. Each thread has a builder, to which it
// adds the FDEs of its parts; an FDE with the bytes of an earlier one is not executed again. The builders are
// appended in any order: the output of a Builder does not depend on the order of adding.

#include "sframe/generate/from_cfi.h"

#include "fde_converter.h"
#include "from_code.h"
#include "from_tables.h"
#include "ownership.h"
#include "sframe/address.h"
#include "sframe/base/budget_shares.h"
#include "sframe/base/parallel.h"
#include "sframe/generate/plt.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace sframe::generate {

namespace {

const char* section_name(const cfi::CfiSection& section) {
  return section.kind() == cfi::SectionKind::eh_frame ? ".eh_frame" : ".debug_frame";
}

/// Bytes that one thread converts at a time: some thousand FDEs.
constexpr std::uint64_t part_size = 128 << 10;

using Entries = std::span<const cfi::FdeIndex::Entry>;

/// Linker-generated stubs.
struct Stubs : Plt {
  bool described = false; ///< has CFI
  bool refuted = false;   ///< which their instructions refute
};

/// The input's properties of addresses, independent of FDEs.
class Addresses {
public:
  Addresses(const CfiInput& input, const Options& options)
      : options_(options), stubs_(disjoint_stubs(input.plts)), code_(input.code) {
    std::ranges::sort(code_, {}, &AddressRange::start);
  }

  bool asked_for(const cfi::Fde& fde) const {
    const Stubs* stubs = stubs_at(fde.start);
    if (stubs && (!options_.plt || stubs->refuted)) return false;
    return !options_.wanted || options_.wanted(fde);
  }
  /// By address; none overlaps another one.
  std::span<Stubs> stubs() { return stubs_; }
  bool in_code(std::uint64_t address) const { return code_.empty() || range_at(code_, address); }

private:
  static std::uint64_t start_of(const Stubs& stubs) { return stubs.range.start; }

  static std::vector<Stubs> disjoint_stubs(std::span<const Plt> plts) {
    std::vector<Stubs> all;
    for (const Plt& plt : plts) all.push_back({plt});
    std::ranges::stable_sort(all, {}, start_of);
    std::vector<Stubs> kept;
    for (const Stubs& stubs : all)
      if (kept.empty() || kept.back().range.end() <= stubs.range.start) kept.push_back(stubs);
    return kept;
  }

  const Stubs* stubs_at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(stubs_, address, {}, start_of);
    if (after == stubs_.begin() || !std::prev(after)->range.contains(address)) return nullptr;
    return &*std::prev(after);
  }

  const Options& options_;
  std::vector<Stubs> stubs_;
  std::vector<AddressRange> code_;
};

/// A section, and the data needed to convert its FDEs.
struct Source {
  const cfi::CfiSection& section;
  std::span<const std::uint64_t> parts; ///< of the section
  std::size_t num_fdes;                 ///< that can be read
  const Addresses& addresses;
  Ownership ownership;
  const AddressSet& go; ///< what Go's table describes
  bool is_first;        ///< first of the input
};

/// The FDEs of a section by address, and those that cannot be read.
struct IndexedSection {
  const cfi::CfiSection& section;
  std::vector<std::uint64_t> parts;
  std::vector<cfi::Error> faults;
  expected<cfi::FdeIndex, cfi::Error> index;

  IndexedSection(const cfi::CfiSection& its_section, unsigned threads)
      : section(its_section), parts(section.parts(part_size)),
        index(cfi::FdeIndex::build(section, &faults, threads, parts)) {}
};

/// All addresses that the CFI describes or that are in stubs.
AddressSet described_addresses(const CfiInput& input, std::span<const IndexedSection> sections) {
  std::vector<AddressRange> ranges;
  for (const IndexedSection& section : sections)
    if (section.index) std::ranges::copy(ranges_of(section.index->entries()), std::back_inserter(ranges));
  AddressSet all = input.stubs();
  all.add(ranges);
  return all;
}

/// Few FDEs become several functions, and few stubs have none. Encoded rows rarely take more bytes than the
/// instructions that they come from.
void reserve(Builder& builder, std::size_t fdes, std::size_t bytes) {
  builder.reserve(builder.num_fdes() + fdes + fdes / 16 + 16, bytes);
}

/// What a thread keeps for all its parts of a section.
class Worker {
public:
  /// For one of `shares` equal parts of the section. Adds to `builder`, or to one of its own if that is
  /// nullptr.
  Worker(const Source& source, std::size_t shares, Builder* builder, BuildOptions options)
      : known_(source.section, source.section.bytes().size() / shares), own_(std::move(options)),
        builder_(builder ? builder : &own_) {
    if (!builder) reserve(own_, source.num_fdes / shares, source.section.bytes().size() / shares);
  }

  KnownRows& known() { return known_; }
  Builder& builder() { return *builder_; }

private:
  KnownRows known_;
  Builder own_;
  Builder* builder_;
};

/// Converts a part of a section.
class PartConverter {
public:
  PartConverter(const Source& source, const Options& options, const CfiInput& input,
                const AddressSet* described, Repairer* repairer, Worker& worker, Report& report)
      : source_(source), known_(worker.known()), report_(report),
        returns_(described ? std::optional<ReturnAddresses>(std::in_place, input, *described) : std::nullopt),
        fdes_(source.section.abi(), options, returns_ ? &*returns_ : nullptr, repairer, worker.known(),
              worker.builder(), report) {}

  void convert(cfi::FdeCursor fdes) {
    do {
      read_ahead(fdes);
      for (const Next& next : ahead()) known_.expect(next.place);
      for (const Next& next : ahead()) convert(next);
    } while (!ahead().empty());
  }

private:
  /// An FDE to be converted.
  struct Next {
    cfi::Fde fde;
    KnownRows::Place place;
  };

  std::span<const Next> ahead() const { return std::span(ahead_).first(num_ahead_); }
  void read_ahead(cfi::FdeCursor& fdes);
  void convert(const Next& next);

  const Source& source_;
  const KnownRows& known_;
  Report& report_;
  std::optional<ReturnAddresses> returns_;
  FdeConverter fdes_;
  std::array<Next, 8> ahead_;
  std::size_t num_ahead_ = 0;
};

/// Replaces ahead() by the next FDEs; there are none at the end.
void PartConverter::read_ahead(cfi::FdeCursor& fdes) {
  num_ahead_ = 0;
  while (num_ahead_ < ahead_.size()) {
    const auto fde = fdes.next();
    if (!fde) continue; // counted in the first pass
    if (!*fde) return;
    if ((*fde)->size != 0) ahead_[num_ahead_++] = {**fde, known_.place(**fde)};
  }
}

void PartConverter::convert(const Next& next) {
  const cfi::Fde& fde = next.fde;
  if (!source_.addresses.asked_for(fde) || source_.go.contains(fde.start)) return;
  if (!source_.addresses.in_code(fde.start)) {
    ++report_.functions.total;
    ++report_.functions.skipped;
    return report_.leave_out(fde.start, fde.end(), not_in_code, false);
  }
  OwnedRange whole;
  const auto pieces = source_.ownership.pieces(fde, whole);
  std::uint64_t owned = 0;
  for (const OwnedRange& piece : pieces) owned += piece.end - piece.begin;
  if (owned == 0) {
    if (!source_.is_first) return;
    ++report_.functions.total;
    ++report_.functions.skipped;
    return report_.count(duplicate);
  }
  if (owned < fde.size) ++report_.overlapping;
  if (const auto fault = fdes_.convert(source_.section, fde, next.place, pieces))
    report_.faults.push_back({section_name(source_.section), *fault, fde.start});
}

/// Converts the sections of an input in order.
class Converter {
public:
  Converter(const CfiInput& input, const Options& options, Conversion& out)
      : input_(input), options_(options), out_(out), addresses_(input, options) {
    for (const cfi::CfiSection& section : input.sections)
      total_bytes_ += static_cast<double>(section.bytes().size());
  }

  /// What is in Go's table: before its CFI, which does not say where FP is, nor where stacks end.
  void convert_go();
  void convert_sections();
  /// Stubs without CFI, or with wrong CFI.
  void convert_plts();
  /// What is in the kernel's table.
  void convert_orc();
  /// Code without any of that.
  void convert_code();

private:
  void convert(IndexedSection indexed);
  void convert_parts(const Source& source);
  void note_stubs(const cfi::CfiSection& section, Entries entries);
  bool is_refuted(const cfi::CfiSection& section, Entries entries, const Plt& plt) const;
  void convert_plt(const Plt& plt, std::uint64_t& bytes);

  const CfiInput& input_;
  const Options& options_;
  Conversion& out_;
  Addresses addresses_;
  AddressSet go_;                       ///< what Go's table describes
  AddressSet covered_;                  ///< by that, and by the sections before
  std::optional<AddressSet> described_; ///< for Options::return_addresses, code and repair
  std::vector<OwnedRange> functions_;   ///< for Options::repair
  std::optional<code::Callees> callees_;
  double total_bytes_ = 0; ///< of all sections
};

void Converter::convert_go() {
  if (!options_.go || !input_.image) return;
  go_ = add_from_go(input_, options_, out_);
  covered_ = go_;
}

/// One index at a time is in memory, unless the addresses of all are needed first.
void Converter::convert_sections() {
  const bool needs_addresses = options_.code || options_.orc || options_.go || options_.return_addresses ||
                               options_.repair != Options::Repair::none;
  if (!needs_addresses || !input_.image) {
    for (const cfi::CfiSection& section : input_.sections) convert({section, options_.threads});
    return;
  }
  std::vector<IndexedSection> sections;
  for (const cfi::CfiSection& section : input_.sections) sections.emplace_back(section, options_.threads);
  described_ = described_addresses(input_, sections);
  described_->add(go_.ranges());
  if (options_.repair != Options::Repair::none) {
    for (const IndexedSection& section : sections)
      if (section.index)
        for (const cfi::FdeIndex::Entry& entry : section.index->entries())
          functions_.push_back({entry.start, range_end(entry.start, entry.size)});
    sort_ranges(functions_);
    functions_ = disjoint(functions_);
    callees_.emplace(*input_.image, functions_, input_.externals);
  }
  for (IndexedSection& section : sections) convert(std::move(section));
}

void Converter::convert(IndexedSection indexed) {
  const cfi::CfiSection& section = indexed.section;
  auto& index = indexed.index;
  const char* name = section_name(section);
  for (const cfi::Error& error : indexed.faults) out_.report.faults.push_back({name, error, {}});
  if (!index) {
    out_.report.faults.push_back({name, index.error(), {}});
    return;
  }
  const std::size_t fdes = index->entries().size();
  Source source{section,
                indexed.parts,
                fdes,
                addresses_,
                Ownership(index->entries(), covered_),
                go_,
                &section == &input_.sections.front()};
  if (&section != &input_.sections.back()) covered_.add(ranges_of(index->entries()));
  note_stubs(section, index->entries());
  reserve(out_.builder, fdes, section.bytes().size());
  *index = {};
  convert_parts(source);
}

void Converter::note_stubs(const cfi::CfiSection& section, Entries entries) {
  std::uint64_t reach = 0; // of all FDEs that start before the current entry
  auto entry = entries.begin();
  for (Stubs& stubs : addresses_.stubs()) {
    const auto pass = [&](std::uint64_t end) {
      for (; entry != entries.end() && entry->start < end; ++entry)
        if (entry->size != 0) reach = std::max(reach, range_end(entry->start, entry->size));
    };
    pass(stubs.range.start);
    const bool entered = reach > stubs.range.start; // by the FDE of other code
    const auto first = entry;
    pass(stubs.range.end());
    if (stubs.described || reach <= stubs.range.start) continue;
    stubs.described = true;
    // CFI of other code that extends into the stubs is kept: functions must not overlap.
    if (options_.plt && !entered) stubs.refuted = is_refuted(section, {first, entry}, stubs);
  }
}

/// True if the stubs' instructions show that the CFI of one of their FDEs is wrong.
bool Converter::is_refuted(const cfi::CfiSection& section, Entries entries, const Plt& plt) const {
  if (plt.bytes.empty()) return false;
  StubRows rows;
  rows.add(*input_.abi, plt.bytes, plt.range.start);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto fde = section.fde(entries[i].offset);
    if (!fde || !addresses_.asked_for(*fde)) continue;
    // Where FDEs overlap, the one that starts last counts. So each stub is visited once.
    const std::uint64_t end =
        i + 1 < entries.size() ? std::min(fde->end(), entries[i + 1].start) : fde->end();
    if (fde->start < end && rows.refute(section, *fde, fde->start, end)) return true;
  }
  return false;
}

void Converter::convert_plts() {
  if (!options_.plt) return;
  for (const Stubs& stubs : addresses_.stubs()) {
    if (stubs.refuted)
      convert_plt(stubs, out_.report.refuted_plt_bytes);
    else if (!stubs.described && !options_.wanted && !stubs.bytes.empty())
      convert_plt(stubs, out_.report.plt_bytes);
  }
}

void Converter::convert_plt(const Plt& plt, std::uint64_t& bytes) {
  for (PltFunction& function : plt_functions(*input_.abi, plt.bytes, plt.range.start)) {
    ++out_.report.functions.total;
    out_.report.pc_bytes.total += function.fde.size;
    const auto leave_out = [&](RefusalReason why) {
      ++out_.report.functions.skipped;
      out_.report.leave_out(function.fde.start, range_end(function.fde.start, function.fde.size), reason(why),
                            false);
    };
    if (const auto added = out_.builder.add(function.fde, function.rows); !added) {
      leave_out(added.error().reason);
      continue;
    }
    ++out_.report.functions.converted;
    out_.report.pc_bytes.covered += function.fde.size;
    bytes += function.fde.size;
    out_.report.from_stubs.push_back({function.fde.start, function.fde.size});
  }
}

void Converter::convert_orc() {
  if (options_.orc && input_.image) add_from_orc(input_, options_, *described_, out_);
}

void Converter::convert_code() {
  if (options_.code && input_.image) add_from_code(input_, *described_, options_, out_);
}

void Converter::convert_parts(const Source& source) {
  std::vector<std::uint64_t> cuts(source.parts.begin(), source.parts.end());
  cuts.push_back(source.section.bytes().size());
  std::vector<Report> reports(cuts.size() - 1);
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < reports.size(); ++i) sizes.push_back(cuts[i + 1] - cuts[i]);
  BudgetShares shares(callees_ ? input_.image->budget() : nullptr, sizes);
  // The first thread adds to the result, the others to builders that are appended to it.
  const std::size_t threads = std::min<std::size_t>(reports.size(), std::max(options_.threads, 1u));
  std::list<Worker> workers;
  std::mutex starting;
  for_each_parallel(
      reports.size(), options_.threads,
      [&] {
        const std::lock_guard lock(starting);
        return &workers.emplace_back(source, threads, workers.empty() ? &out_.builder : nullptr,
                                     build_options(source.section.abi(), options_));
      },
      [&](std::size_t i, Worker* worker) {
        BudgetShares::Share budget(shares, i);
        std::optional<Repairer> repairer;
        if (callees_) repairer.emplace(*input_.image, *callees_, budget);
        Report report; // counts each FDE: not in a cache line that another thread writes
        PartConverter(source, options_, input_,
                      options_.return_addresses && described_ ? &*described_ : nullptr,
                      repairer ? &*repairer : nullptr, *worker, report)
            .convert({source.section, cuts[i], cuts[i + 1]});
        reports[i] = std::move(report);
        if (options_.progress) options_.progress(static_cast<double>(cuts[i + 1] - cuts[i]) / total_bytes_);
      });
  for (; workers.size() > 1; workers.pop_back()) out_.builder.append(workers.back().builder());
  for (const Report& report : reports) {
    out_.report.add_counts(report);
    out_.report.left_out.insert(out_.report.left_out.end(), report.left_out.begin(), report.left_out.end());
    out_.report.repairs.insert(out_.report.repairs.end(), report.repairs.begin(), report.repairs.end());
  }
}

} // namespace

Conversion from_cfi(const CfiInput& input, const Options& options) {
  Conversion out{Builder(build_options(*input.abi, options)), {}};
  Converter converter(input, options, out);
  converter.convert_go();
  converter.convert_sections();
  converter.convert_plts();
  converter.convert_orc();
  converter.convert_code();
  if (options.merge_functions) out.builder.merge_functions();
  std::ranges::stable_sort(out.report.left_out, {}, &LeftOut::start);
  std::ranges::stable_sort(out.report.repairs, {}, &Repair::begin);
  return out;
}

} // namespace sframe::generate
