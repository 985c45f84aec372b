// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "repairer.h"

#include "sframe/base/budget.h"
#include "sframe/code/row_check.h"

#include <algorithm>

namespace sframe::generate {

namespace {

using code::Agreement;

/// A rule of the CFI that is right stays, so that a repair changes no more than it must.
void keep_right_rules(FrameRow& repaired, const FrameRow& before, const code::RowCheck& check) {
  if (check.cfa.agreement != Agreement::agrees) return; // the others may be relative to it
  repaired.cfa = before.cfa;
  if (check.ra.agreement == Agreement::agrees) repaired.ra = before.ra;
  if (check.fp.agreement == Agreement::agrees) repaired.fp = before.fp;
}

} // namespace

Repairer::Repairer(const elf::Image& image, code::Callees& callees, Budget& budget)
    : abi_(*image.abi()), budget_(budget), analyzer_(image, callees, &budget) {}

std::span<const Repair> Repairer::find(const cfi::CfiSection& section, const cfi::Fde& fde) {
  repairs_.clear();
  results_ = analyzer_.run(section, fde);
  if (!results_ || !analyzer_.complete() || analyzer_.rows().front().is_outermost()) return repairs_;
  start_ = fde.start;
  switches_stack_ = false;
  results_->visit([&](const code::Reached& at) { visit(at); });
  // States that were not joined with all others prove nothing, nor does a function that leaves its stack.
  if (switches_stack_ || budget_.is_used_up(Resource::code_steps)) repairs_.clear();
  return repairs_;
}

void Repairer::visit(const code::Reached& at) {
  switches_stack_ |=
      at.exit == code::Exit::indirect_unknown && at.state().reg(abi_.sp).base == code::Value::Base::symbol;
  if (at.certainty != code::Certainty::certain) return;
  const std::uint64_t begin = at.instruction.address, end = begin + at.instruction.length;
  const std::span<const FrameRow> rows = analyzer_.rows();
  const FrameRow* const row = last_not_above(rows, begin - start_, &FrameRow::offset);
  if (!row || row->is_outermost()) return;
  const code::RowCheck check = code::check(*row, at.state(), abi_);
  if (check.worst() != Agreement::contradicts && check.sign_agrees) return;
  if (check.worst() == Agreement::conflicts || check.worst() == Agreement::unknown) return;
  std::optional<FrameRow> right = code::row_of(at.state(), abi_);
  // A row at another register than SP and FP is that of a function that switches stacks.
  const std::uint16_t base = row->cfa.base;
  if (!right || right->fp.kind == Rule::Kind::undefined ||
      (base != abi_.sp && base != abi_.fp &&
       std::ranges::any_of(results_->obstacles(), [&](const code::Obstacle& o) {
         return o.kind == code::Obstacle::Kind::sp_lost && o.address == begin;
       })))
    return;
  keep_right_rules(*right, *row, check);
  if (code::check(*right, at.state(), abi_).worst() != Agreement::agrees || right->same_rules(*row)) return;
  right->offset = 0;
  FrameRow before = *row;
  before.offset = 0;
  if (!repairs_.empty() && repairs_.back().end == begin && repairs_.back().after == *right &&
      repairs_.back().before == before)
    repairs_.back().end = end;
  else
    repairs_.push_back({begin, end, before, *right});
}

} // namespace sframe::generate
