// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// find() notes all reached instructions, the certain ones too, since guessed code jumps to them. Then passes
// over them, the last one first, until nothing changes, take what is shown from an instruction to those that
// lead to it.

#include "return_proof.h"

#include "sframe/base/budget.h"

#include <algorithm>
#include <ranges>

namespace sframe::generate {

namespace {

using code::Effect;
using code::Flow;

/// Each pass finds all in front of what is shown, unless there are loops.
constexpr int max_passes = 16;

bool writes(const Effect& effect, std::uint16_t reg) {
  using Kind = Effect::Kind;
  const bool is_same_value = effect.kind == Kind::sign || effect.kind == Kind::authenticate ||
                             effect.kind == Kind::add_address || effect.kind == Kind::compare;
  const bool is_memory = effect.kind == Kind::store || effect.kind == Kind::overwrite;
  return effect.reg == reg && !is_memory && !is_same_value;
}

/// True for the value of a register at the entry, signed or not.
bool is_callers(const code::Value& value, std::uint16_t reg) {
  return value.base == code::Value::Base::entry && value.id == reg && value.offset == 0;
}

} // namespace

ReturnProof::ReturnProof(const AbiTraits& abi) : abi_(abi), decoder_(code::make_decoder(abi)) {}

void ReturnProof::forget() {
  steps_.clear();
  confirms_entry_ = false;
}

ReturnProof::Kept ReturnProof::kept(const code::State& state, std::uint16_t reg) const {
  Kept kept;
  kept.in_register = is_callers(state.reg(reg), reg);
  for (const code::Slot& slot : state.slots()) {
    if (!is_callers(slot.value, reg)) continue;
    ++kept.words;
    if (slot.location.base != code::Value::Base::cfa) ++kept.words; // of which no row can be made
    kept.word = slot.location.offset;
  }
  for (const Effect& effect : effects_) {
    kept.is_written |= writes(effect, reg);
    kept.is_loaded |= effect.kind == Effect::Kind::load && effect.reg == reg;
    kept.is_stored |= effect.kind == Effect::Kind::store && effect.reg == reg;
  }
  return kept;
}

/// False if SP gets a value that does not depend on what it was, or not by a constant.
bool ReturnProof::is_moved_by_constants(std::int64_t& distance) const {
  distance = 0;
  for (const Effect& effect : effects_) {
    if (!writes(effect, abi_.sp)) continue;
    const bool is_sum = effect.kind == Effect::Kind::add && effect.source == Effect::none;
    const bool is_own = effect.kind == Effect::Kind::set && effect.source == abi_.sp && effect.size == 0;
    if (!is_sum && !is_own) return false;
    distance += effect.value;
  }
  return true;
}

ReturnProof::Step ReturnProof::step_of(const code::Function& function, const code::Reached& at) {
  const code::Instruction& instruction = at.instruction;
  Step step{.address = instruction.address,
            .target = instruction.target,
            .end = instruction.address + instruction.length,
            .flow = instruction.flow};
  effects_.clear();
  code::Instruction again;
  const auto bytes = function.bytes.subspan(instruction.address - function.start, instruction.length);
  const bool is_known = decoder_->decode(bytes, instruction.address, again, effects_) && !at.is_unknown;
  const code::State& state = at.state();
  const code::Value sp = state.reg(abi_.sp);
  std::int64_t distance = 0;
  step.has_sp = is_known && sp.base == code::Value::Base::cfa && is_moved_by_constants(distance);
  step.sp = sp.offset;
  step.sp_after = static_cast<std::int32_t>(sp.offset + distance);
  step.fp = kept(state, abi_.fp);
  step.ra = kept(state, abi_.ra);
  const bool is_call = step.flow == Flow::call || step.flow == Flow::indirect_call;
  step.ra.is_written |= is_call && instruction.link_register == abi_.ra;
  step.is_guessed = at.certainty != code::Certainty::certain;
  step.starts_block = at.block_start;
  step.stops = at.exit != code::Exit::none;
  step.jumps_by_table = step.flow == Flow::indirect_jump && instruction.jump_register != Effect::none &&
                        state.reg(instruction.jump_register).base == code::Value::Base::table;
  const bool is_return = step.flow == Flow::ret;
  const bool keeps_fp = step.fp.in_register;
  step.returns = is_return && at.exit == code::Exit::returns && keeps_fp;
  step.returns_wrong =
      at.exit == code::Exit::returns_wrong || (is_return && at.exit == code::Exit::returns && !keeps_fp);
  return step;
}

const ReturnProof::Step* ReturnProof::at(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(steps_, address, {}, &Step::address);
  return found != steps_.end() && found->address == address ? &*found : nullptr;
}

const ReturnProof::Step* ReturnProof::target_of(const Step& step) const {
  const bool jumps = step.flow == Flow::jump || step.flow == Flow::branch;
  return jumps && !step.stops ? at(step.target) : nullptr;
}

/// The instruction that control surely reaches after this one. What follows a call in another block may be
/// a guess.
const ReturnProof::Step* ReturnProof::next_of(const Step& step) const {
  const bool is_call = step.flow == Flow::call || step.flow == Flow::indirect_call;
  const bool goes_on = step.flow == Flow::next || step.flow == Flow::branch || is_call;
  if (!goes_on || (step.stops && step.flow != Flow::branch)) return nullptr;
  const Step* const next = at(step.end);
  return next && !(is_call && next->starts_block) ? next : nullptr;
}

/// Where a value is before an instruction, if a return shows where it is after it.
ReturnProof::Where ReturnProof::before(const Kept& kept, const Where& after) {
  using Kind = Where::Kind;
  const bool has_one_word = kept.words == 1;
  if (after.kind == Kind::in_register) {
    if (!kept.is_written) return kept.in_register ? after : Where{};
    return kept.is_loaded && has_one_word ? Where{Kind::in_word, kept.word} : Where{};
  }
  if (after.kind != Kind::in_word) return {};
  if (has_one_word && kept.word == after.word) return after;
  return kept.words == 0 && kept.is_stored && kept.in_register ? Where{Kind::in_register, 0} : Where{};
}

bool ReturnProof::follow(Step& step, const Step* next) const {
  if (!next || !next->is_shown || next->sp != step.sp_after) return false;
  const Where fp = before(step.fp, next->fp.shown);
  const Where ra = before(step.ra, next->ra.shown);
  const bool has_ra = abi_.fixed_ra_offset != 0 || ra.kind != Where::Kind::nowhere;
  if (fp.kind == Where::Kind::nowhere || !has_ra) return false;
  step.fp.shown = fp;
  step.ra.shown = ra;
  return true;
}

bool ReturnProof::show(Step& step) const {
  if (!step.has_sp) return false;
  if (!step.returns) return follow(step, target_of(step)) || follow(step, next_of(step));
  if (abi_.fixed_ra_offset == 0 && !step.ra.in_register) return false;
  step.fp.shown = step.ra.shown = {Where::Kind::in_register, 0};
  return true;
}

/// True if something has changed.
bool ReturnProof::propagate() {
  bool changed = false;
  for (Step& step : steps_ | std::views::reverse) {
    if (!step.is_shown && show(step)) step.is_shown = changed = true;
    if (step.leads_wrong) continue;
    const Step* const target = target_of(step);
    const Step* const next = next_of(step);
    step.leads_wrong = step.returns_wrong || (target && target->leads_wrong) || (next && next->leads_wrong);
    changed |= step.leads_wrong;
  }
  return changed;
}

void ReturnProof::look_for_entry() {
  const Step* before = nullptr;
  bool has_table = false, has_return = false;
  for (const Step& step : steps_) {
    const bool follows_call = before && before->end == step.address && !before->is_guessed &&
                              (before->flow == Flow::call || before->flow == Flow::indirect_call);
    if (step.is_guessed && step.is_shown && step.starts_block && follows_call)
      confirms_entry_ |= step.sp != -abi_.entry_cfa_offset;
    has_table |= !step.is_guessed && step.jumps_by_table;
    has_return |= step.is_guessed && step.returns && step.is_shown;
    before = &step;
  }
  confirms_entry_ |= has_table && has_return;
}

bool ReturnProof::find(const code::Function& function, const code::Results& results) {
  forget();
  if (!decoder_) return false;
  results.visit([&](const code::Reached& at) { steps_.push_back(step_of(function, at)); });
  bool changed = true;
  for (int pass = 0; changed && pass < max_passes; ++pass) {
    if (function.budget && !function.budget->take(Resource::code_steps, steps_.size())) break;
    changed = propagate();
  }
  const auto contradicts = [](const Step& step) { return step.is_shown && step.leads_wrong; };
  const auto helps = [](const Step& step) { return step.is_shown && step.is_guessed; };
  if (changed || std::ranges::any_of(steps_, contradicts) || std::ranges::none_of(steps_, helps)) {
    forget();
    return false;
  }
  look_for_entry();
  return true;
}

std::optional<FrameRow> ReturnProof::row_at(std::uint64_t address) const {
  const Step* const step = at(address);
  if (!step || !step->is_shown) return std::nullopt;
  const auto rule = [](const Where& where) {
    return where.kind == Where::Kind::in_register ? Rule::same() : Rule::at_cfa(where.word);
  };
  return FrameRow{.offset = 0,
                  .cfa = Rule::value(abi_.sp, -step->sp),
                  .ra = abi_.fixed_ra_offset != 0 ? Rule::fixed() : rule(step->ra.shown),
                  .fp = rule(step->fp.shown),
                  .ra_signed = false};
}

} // namespace sframe::generate
