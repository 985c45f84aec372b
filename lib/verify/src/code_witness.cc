// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code_witness.h"

#include "sframe/base/budget.h"
#include "sframe/code/row_check.h"
#include "sframe/generate/call_sites.h"

namespace sframe::verify {

using code::Agreement;

CodeWitness::CodeWitness(const Input& input)
    : input_(input), abi_(*input.image()->abi()), functions_(all_cfi(input)),
      callees_(*input.image(), functions_), analyzer_(abi_) {}

const code::Results* CodeWitness::analyse(const OpenFde& open) {
  if (analysed_ == open.begin) return results_;
  analysed_ = open.begin;
  results_ = nullptr;
  const auto bytes = input_.image()->read(open.begin, open.fde.size);
  if (!bytes || open.fde.cie.signal_frame) return nullptr;
  hints_.clear();
  const cfi::CfiSection& section = input_.cfi()[open.source].section;
  cfi::MinimalRowCursor cursor(section, open.fde);
  for (cfi::MinimalRow row; cursor.next(row);)
    if (const auto made = cfi::to_frame_row(row, abi_)) {
      hints_.push_back(*made);
      hints_.back().offset = static_cast<std::uint32_t>(row.begin - open.fde.start);
    }
  if (hints_.empty() || hints_.front().offset != 0) return nullptr;
  call_sites_ = generate::call_sites(*input_.image(), open.fde, abi_, input_.budget());
  results_ = &analyzer_.run({.start = open.begin,
                             .bytes = *bytes,
                             .entry = hints_.front(),
                             .call_sites = call_sites_,
                             .rows = hints_,
                             .environment = &callees_,
                             .budget = input_.budget()});
  return results_;
}

const char* CodeWitness::confirms(const FrameRow& row, const CfiRule& cfi, const OpenFde& fde,
                                  std::uint64_t begin, std::uint64_t end) {
  const code::Results* const results = fde.distance == 0 ? analyse(fde) : nullptr;
  if (!results || row.is_outermost()) return nullptr;
  bool any = false, right = true, cfi_right = cfi.kind == CfiRule::Kind::row;
  results->visit([&](const code::Reached& at) {
    const std::uint64_t address = at.instruction.address;
    if (address >= end) return false;
    if (address + at.instruction.length <= begin) return true;
    const code::RowCheck check = code::check(row, at.state, abi_);
    right =
        at.certainty == code::Certainty::certain && check.worst() == Agreement::agrees && check.sign_agrees;
    any = true;
    if (cfi_right) cfi_right = code::check(cfi.row, at.state, abi_).worst() == Agreement::agrees;
    return right;
  });
  for (const code::Gap& gap : results->gaps())
    if (gap.begin < end && begin < gap.end) return nullptr;
  if (!any || !right || (input_.budget() && input_.budget()->is_used_up(Resource::code_steps)))
    return nullptr;
  return cfi_right ? "the code confirms SFrame, and the CFI as well"
                   : "the code confirms SFrame and contradicts the CFI";
}

} // namespace sframe::verify
