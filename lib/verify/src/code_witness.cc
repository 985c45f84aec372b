// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code_witness.h"

#include "sframe/base/budget.h"
#include "sframe/code/row_check.h"

namespace sframe::verify {

using code::Agreement;

CodeWitness::CodeWitness(const Input& input)
    : input_(input), abi_(*input.image()->abi()), callees_(*input.image(), input.all_cfi()),
      analyzer_(*input.image(), callees_, input.budget()) {}

const code::Results* CodeWitness::analyse(const OpenFde& open) {
  if (analysed_ != open.begin) results_ = analyzer_.run(input_.cfi()[open.source].section, open.fde);
  analysed_ = open.begin;
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
    const code::RowCheck check = code::check(row, at.state(), abi_);
    if (cfi_right) cfi_right = code::check(cfi.row, at.state(), abi_).worst() == Agreement::agrees;
    // What only other parts of a function enter is followed from the CFI's row at its start. That shows
    // whether two rows have the same meaning, not which of two is right.
    const bool is_proof =
        at.certainty == code::Certainty::certain || (at.certainty == code::Certainty::assumed && cfi_right);
    right = is_proof && check.worst() == Agreement::agrees && check.sign_agrees;
    any = true;
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
