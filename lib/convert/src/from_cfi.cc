// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two passes over each section: the first lists FDEs by address to find overlaps and counts the unreadable
// ones, the second converts in the section's order, which reads each CIE once.

#include "sframe/convert/from_cfi.h"

#include "fde_converter.h"
#include "ownership.h"

#include <algorithm>

namespace sframe::conversion {

namespace {

const char* section_name(const cfi::Section& section) {
  return section.kind() == cfi::SectionKind::eh_frame ? ".eh_frame" : ".debug_frame";
}

bool contains(std::span<const Range> ranges, std::uint64_t address) {
  return std::ranges::any_of(ranges, [&](const Range& range) { return range.contains(address); });
}

class CfiConverter {
public:
  CfiConverter(const CfiInput& input, const Options& options, Conversion& out)
      : input_(input), options_(options), report_(out.report), fdes_(*input.abi, options, out) {
    std::ranges::sort(code_, {}, &Range::start);
  }

  void convert(const cfi::Section& section);

private:
  void convert(const cfi::Section& section, const cfi::Fde& fde, std::span<const Piece> pieces);
  bool asked_for(const cfi::Fde& fde) const;
  bool in_code(std::uint64_t address) const;
  void skip(Reason reason);

  const CfiInput& input_;
  const Options& options_;
  Report& report_;
  FdeConverter fdes_;
  std::vector<Range> code_ = input_.code;
  Covered covered_; ///< by the sections before
};

void CfiConverter::convert(const cfi::Section& section) {
  const char* name = section_name(section);
  std::vector<cfi::Error> faults;
  auto index = cfi::Index::build(section, &faults);
  for (const cfi::Error& error : faults) report_.faults.push_back({name, error});
  if (!index) {
    report_.faults.push_back({name, index.error()});
    return;
  }
  Ownership ownership(index->entries(), covered_);
  const bool is_last = &section == &input_.sections.back();
  if (!is_last) covered_.add(index->entries());
  *index = {};

  cfi::FdeCursor cursor = section.fdes();
  for (;;) {
    const auto fde = cursor.next();
    if (!fde) continue; // counted in the first pass
    if (!*fde) break;
    if ((*fde)->size != 0) convert(section, **fde, ownership.pieces(**fde));
  }
}

void CfiConverter::convert(const cfi::Section& section, const cfi::Fde& fde, std::span<const Piece> pieces) {
  if (!asked_for(fde)) return;
  if (!in_code(fde.start)) return skip(not_in_code);
  std::uint64_t owned = 0;
  for (const Piece& piece : pieces) owned += piece.end - piece.begin;
  if (owned == 0) {
    if (&section == &input_.sections.front()) skip(duplicate);
    return;
  }
  if (owned < fde.size) ++report_.overlapping;
  if (const auto fault = fdes_.convert(section, fde, pieces))
    report_.faults.push_back({section_name(section), *fault});
}

bool CfiConverter::asked_for(const cfi::Fde& fde) const {
  if (!options_.plt && contains(input_.plt, fde.start)) return false;
  return !options_.wanted || options_.wanted(fde);
}

bool CfiConverter::in_code(std::uint64_t address) const {
  if (code_.empty()) return true;
  const auto after = std::ranges::upper_bound(code_, address, {}, &Range::start);
  return after != code_.begin() && std::prev(after)->contains(address);
}

void CfiConverter::skip(Reason reason) {
  ++report_.functions.total;
  ++report_.functions.skipped;
  report_.count(reason);
}

} // namespace

Conversion from_cfi(const CfiInput& input, const Options& options) {
  Conversion out{Builder(build_options(*input.abi, options)), {}};
  CfiConverter converter(input, options, out);
  for (const cfi::Section& section : input.sections) converter.convert(section);
  std::ranges::stable_sort(out.report.left_out, {}, &LeftOut::start);
  return out;
}

} // namespace sframe::conversion
