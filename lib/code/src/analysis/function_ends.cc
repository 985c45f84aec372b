// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "function_ends.h"

#include "sframe/base/address_ranges.h"
#include "sframe/code/row_check.h"

#include <algorithm>
#include <optional>

namespace sframe::code {

bool FunctionEnds::is_known_not_to_return(const Decoded& call) const {
  Environment* const environment = subject_.function.environment;
  return call.does_not_return || call.calls_trap ||
         (call.instruction.flow == Flow::call && environment &&
          environment->never_returns(call.instruction.target));
}

FunctionEnds::AfterCall FunctionEnds::after_call(const Instruction& call, const State& after) {
  if (!subject_.function.environment) return AfterCall::goes_on;
  const std::uint64_t next = call.address + call.length;
  const auto target = call.flow == Flow::call ? std::optional(call.target) : std::nullopt;
  const Start start = start_after(next, after);
  const bool may_end =
      subject_.function.environment->may_not_return(target, next, {.is_marked = start != Start::none});
  doubts_calls_ |= may_end;
  if (!may_end) return AfterCall::goes_on;
  return start == Start::another_frame ? AfterCall::another_function : AfterCall::perhaps_ends;
}

bool FunctionEnds::rows_show_end(std::uint64_t next, std::uint64_t after_padding, const State& before,
                                 const State& after) const {
  const FrameRow* const row =
      last_not_above(subject_.function.rows, subject_.offset_of(after_padding), &FrameRow::offset);
  if (!row || row->offset < subject_.offset_of(next)) return false;
  const auto fits = [&](const State& state) {
    const Agreement worst = check(*row, state, subject_.abi).worst();
    return worst == Agreement::agrees || worst == Agreement::unknown;
  };
  return !fits(before) && !fits(after);
}

bool FunctionEnds::may_be_past_end(const Instruction& from, const Instruction& target,
                                   const State& state) const {
  if (subject_.has_rows() || !subject_.function.environment) return false;
  const std::uint32_t after = code_.at(code_.after_padding(target.address));
  if (after == no_index) return false;
  // Labels of which the address is taken are marked, too: indirect jumps lead there.
  const bool is_direct = from.flow == Flow::jump || from.flow == Flow::branch;
  const bool is_elsewhere = target.address != subject_.function.start;
  const StartSigns signs{.is_marked = (code_[after].instruction.marks_start && is_direct && is_elsewhere) ||
                                      signs_again(code_[after], state)};
  return (target.is_nop || signs.is_marked) &&
         subject_.function.environment->may_end_at(target.address, signs);
}

/// Whether what follows a call starts as only a function does.
FunctionEnds::Start FunctionEnds::start_after(std::uint64_t next, const State& after) {
  constexpr int max_instructions = 16;
  std::uint64_t address = code_.after_padding(next);
  std::uint32_t index = code_.at(address);
  const Start otherwise =
      index != no_index && code_[index].instruction.marks_start ? Start::marked : Start::none;
  const std::uint16_t fp_register = subject_.abi.fp, link = subject_.abi.ra;
  const Value fp = after.reg(fp_register);
  const bool has_frame = fp.base == Value::Base::cfa;
  bool has_lost_link = subject_.abi.fixed_ra_offset == 0 && after.reg(link) == Value::other();
  State state = after;
  for (int i = 0; i < max_instructions && (has_frame || has_lost_link); ++i) {
    if (index == no_index || code_[index].bad || code_[index].instruction.flow != Flow::next) break;
    effort_.add();
    Decoded decoded = code_[index]; // a copy: what it does here says nothing of it in the function
    if (has_lost_link && saves_link(decoded)) return Start::another_frame;
    transfer_.apply(index, decoded, state);
    if (has_frame && state.reg(fp_register) != fp)
      return starts_frame(fp, state) ? Start::another_frame : otherwise;
    has_lost_link &= state.reg(link) == Value::other() && !changes_link(decoded);
    address += decoded.instruction.length;
    index = code_.at(address);
  }
  return otherwise;
}

/// True if a second frame record was made, one that points to the record of this function.
bool FunctionEnds::starts_frame(const Value& fp, const State& state) const {
  const Value now = state.reg(subject_.abi.fp);
  return now.base == Value::Base::cfa && now.offset < fp.offset && state.word(now) == fp;
}

/// True if an instruction stores or signs the return address in the link register. Where a call has just put
/// another one there, only a function that was called does so.
bool FunctionEnds::saves_link(const Decoded& decoded) const {
  return std::ranges::any_of(code_.effects(decoded), [&](const Effect& effect) {
    const bool is_saved = effect.kind == Effect::Kind::store && effect.source == subject_.abi.sp;
    return effect.reg == subject_.abi.ra && (is_saved || effect.kind == Effect::Kind::sign);
  });
}

/// True if an instruction uses the link register like any other.
bool FunctionEnds::changes_link(const Decoded& decoded) const {
  return std::ranges::any_of(code_.effects(decoded), [&](const Effect& effect) {
    return effect.reg == subject_.abi.ra && effect.kind != Effect::Kind::compare;
  });
}

bool FunctionEnds::signs_again(const Decoded& decoded, const State& state) const {
  const std::uint16_t link = subject_.abi.ra;
  const Value& value = state.reg(link);
  if (value != Value::other() && !(value.base == Value::Base::entry && value.flag)) return false;
  return std::ranges::any_of(code_.effects(decoded), [&](const Effect& effect) {
    return effect.kind == Effect::Kind::sign && effect.reg == link;
  });
}

} // namespace sframe::code
