// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Return addresses from the thread's hardware shadow stack (sframe/unwind/hardware_shadow.h). They are exact,
// whatever has happened to the stack. SP is not on it: it is taken from a step that leads to the same address
// (code analysis, frame pointer), else from the place of the address on the stack. The steps of other
// steppers are checked: a return address that differs from the shadow stack's was overwritten.

#include "catalogue.h"
#include "guess.h"

#include "sframe/unwind/trampoline.h"

#include <algorithm>
#include <array>

namespace sframe::steppers {

namespace {

using unwind::FrameState;
using unwind::HardwareShadow;
using unwind::StepResult;
using unwind::StepStatus;

class ShadowStackStepper final : public CataloguedStepper<shadow_stack_info> {
public:
  explicit ShadowStackStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  StepResult step(const FrameState& frame, unwind::Memory& memory, FrameState& caller) override {
    const auto address = return_address(frame.shadow, memory);
    return address ? step_to(*address, frame, memory, caller) : StepResult::not_applicable();
  }

  bool checks_others() const override { return true; }

  bool check(const FrameState& frame, unwind::Memory& memory, FrameState& caller,
             StepResult& result) override {
    if (result.signal_frame) return check_signal(frame, memory, caller, result);
    if (result.same_stack) { // entered by a jump
      caller.shadow = frame.shadow;
      return false;
    }
    caller.shadow = {};
    const auto address = return_address(frame.shadow, memory);
    if (!address) return false;
    const bool differs = *address != caller.registers.pc;
    if (differs && (result.other_stack || result.may_skip)) {
      caller.shadow = after(caller.registers.pc, frame.shadow, memory);
      return false;
    }
    if (differs) correct(*address, frame, memory, caller, result);
    caller.shadow = frame.shadow.rest();
    caller.shadow.sp_is_guess = !result.has_cfa;
    return differs;
  }

private:
  /// The newest entry; nothing if there is none, and if it is no address of code: the mark of a signal, a
  /// token for a switch of stacks, zero at the end.
  std::optional<std::uint64_t> return_address(const HardwareShadow& shadow, unwind::Memory& memory) const {
    const auto word = shadow.has_entry() ? memory.word(shadow.next) : std::nullopt;
    if (!word) return std::nullopt;
    const std::uint64_t address = memory.code_address(*word);
    if (address && memory.space().is_code(address - 1)) return address;
    return find_trampoline(unwind_, memory, address) ? std::optional(address) : std::nullopt;
  }

  /// The entry of a trampoline is the kernel's mark, and the interrupted frame is not on the shadow stack. If
  /// its registers were read at the wrong place, only its caller is known.
  bool check_signal(const FrameState& frame, unwind::Memory& memory, FrameState& caller, StepResult& result) {
    caller.shadow = before_signal(frame.shadow, memory);
    if (!frame.shadow.sp_is_guess || leads_on(caller, memory)) return false;
    const auto address = return_address(caller.shadow, memory);
    if (!address) return false;
    const HardwareShadow shadow = caller.shadow.rest();
    result = step_by_lowest_sp(*address, frame, caller);
    result.may_skip = true;
    caller.shadow = shadow;
    return true;
  }

  HardwareShadow before_signal(const HardwareShadow& shadow, unwind::Memory& memory) const {
    const auto word = shadow.has_entry() ? memory.word(shadow.next) : std::nullopt;
    const std::uint64_t before =
        word && unwind_.shadow_before_signal ? unwind_.shadow_before_signal(shadow.next, *word) : 0;
    return before ? HardwareShadow{before, shadow.end, shadow.sp_is_guess} : HardwareShadow{};
  }

  /// The entries after the one with that address: frames were skipped.
  HardwareShadow after(std::uint64_t address, HardwareShadow shadow, unwind::Memory& memory) const {
    constexpr int most = 256;
    for (int i = 0; i < most && shadow.has_entry(); ++i) {
      const auto found = return_address(shadow, memory);
      shadow = shadow.rest();
      if (found == address) return shadow;
    }
    return {};
  }

  /// A step to a known return address.
  StepResult step_to(std::uint64_t address, const FrameState& frame, unwind::Memory& memory,
                     FrameState& caller) {
    if (!frame.registers.has(abi_.sp)) return StepResult::not_applicable();
    for (const auto& stepper : others().guesses) {
      StepResult result = stepper->step(frame, memory, caller);
      if (result.status != StepStatus::stepped || memory.code_address(caller.registers.pc) != address)
        continue;
      unwind::check_step(frame, caller, abi_.sp, result);
      if (result.status != StepStatus::stepped) continue;
      result.trust = unwind::Trust::exact;
      result.may_skip = false;
      return result;
    }
    FrameState found;
    if (find_on_stack(address, frame, memory, found) != Place::none) {
      caller = found;
      return stepped();
    }
    return step_by_lowest_sp(address, frame, caller);
  }

  /// The step after `result`, which led to an address that is wrong. What it restored from the stack may have
  /// been overwritten, too; its CFA is right if it is computed from SP.
  void correct(std::uint64_t address, const FrameState& frame, unwind::Memory& memory, FrameState& caller,
               StepResult& result) {
    FrameState by_table;
    const bool has_table = keep_unchanged(frame, caller, by_table, memory);
    by_table.registers.pc = address;
    by_table.pc_exact = false;
    by_table.shadow = frame.shadow.rest();
    StepResult corrected = stepped();
    corrected.has_cfa = result.has_cfa;
    corrected.cfa = result.cfa;
    if (has_table && leads_on(by_table, memory)) {
      caller = by_table;
      result = corrected;
      return;
    }
    FrameState found;
    const Place place = find_on_stack(address, frame, memory, found);
    if (place == Place::leads_on || (place == Place::plausible && !has_table)) {
      caller = found;
      result = stepped();
    } else if (has_table) {
      caller = by_table;
      corrected.has_cfa = false; // plausible only
      result = corrected;
    } else {
      result = step_by_lowest_sp(address, frame, caller);
    }
  }

  /// The registers of `from` that the step has not changed, and SP if it is plausible.
  bool keep_unchanged(const FrameState& frame, const FrameState& from, FrameState& to,
                      unwind::Memory& memory) const {
    for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
      if (const auto value = from.registers.get(reg); value && value == frame.registers.get(reg))
        to.registers.set(reg, *value);
    constexpr std::uint64_t largest_frame = 1 << 20;
    const auto sp = frame.registers.get(abi_.sp), caller_sp = from.registers.get(abi_.sp);
    if (!sp || !caller_sp || *caller_sp < *sp || *caller_sp - *sp > largest_frame) return false;
    if (*caller_sp == *sp && !frame.pc_exact) return false;
    to.registers.set(abi_.sp, *caller_sp);
    return memory.word(*caller_sp).has_value();
  }

  /// True if tables lead from `frame` to the return address that the shadow stack has for it.
  bool leads_on(const FrameState& frame, unwind::Memory& memory, int most_signals = 4) {
    const auto address = return_address(frame.shadow, memory);
    for (const auto& table : others().tables) {
      FrameState next;
      const StepResult result = table->step(frame, memory, next);
      if (result.status == StepStatus::bottom) return !address;
      if (result.status != StepStatus::stepped) continue;
      if (result.signal_frame) { // the interrupted frame has to lead on
        next.shadow = before_signal(frame.shadow, memory);
        return most_signals > 0 && next.shadow.has_entry() && leads_on(next, memory, most_signals - 1);
      }
      const std::uint64_t found = memory.code_address(next.registers.pc);
      return address ? found == *address : found == 0;
    }
    return false;
  }

  enum class Place : std::uint8_t { none, plausible, leads_on };

  /// Searches up the stack for the return address. Old copies of it may be below the right one, so a place
  /// counts most if the caller's tables lead on from there.
  Place find_on_stack(std::uint64_t address, const FrameState& frame, unwind::Memory& memory,
                      FrameState& found) {
    constexpr std::uint64_t longest_search = 8192; // words
    constexpr std::uint64_t at_once = 32, cost_of_these = 8, cost_of_place = 8;
    constexpr int most_places = 16;
    const std::uint64_t sp = frame.registers.values[abi_.sp];
    if (sp % 8) return Place::none;
    Place best = Place::none;
    int places = 0;
    for (std::uint64_t i = 0; i < longest_search && places < most_places; ++i) {
      if (i % at_once == 0 && !memory.space().may_guess(cost_of_these)) break;
      const std::uint64_t at = sp + 8 * i;
      const auto word = memory.word(offset_by(at, unwind_.call_trace.return_address));
      if (!word) break;
      if (memory.code_address(*word) != address) continue;
      FrameState caller;
      if (!is_place(at, address, frame, memory, caller)) continue;
      caller.shadow = frame.shadow.rest();
      ++places;
      if (!memory.space().may_guess(cost_of_place)) break;
      if (leads_on(caller, memory)) {
        found = caller;
        return Place::leads_on;
      }
      if (best == Place::none) found = caller;
      best = Place::plausible;
    }
    return best;
  }

  /// Sets `caller` if the return address at `at` may be that of the frame.
  bool is_place(std::uint64_t at, std::uint64_t address, const FrameState& frame, unwind::Memory& memory,
                FrameState& caller) const {
    if (step_by_trace(at, frame, memory, abi_, unwind_, caller).status == StepStatus::stepped) return true;
    // No call precedes the code to which a signal handler returns.
    if (!find_trampoline(unwind_, memory, address)) return false;
    caller.registers.known = 0;
    caller.registers.set(abi_.sp, offset_by(at, unwind_.call_trace.sp));
    caller.registers.pc = address;
    caller.pc_exact = false;
    return true;
  }

  /// Without the place of the return address: the lowest SP that the caller can have.
  StepResult step_by_lowest_sp(std::uint64_t address, const FrameState& frame, FrameState& caller) const {
    const std::uint64_t sp = frame.registers.values[abi_.sp];
    const std::int32_t called =
        unwind_.call_trace.sp; // what a call, or a function that calls, has on the stack
    const bool pushes = abi_.entry_row().ra.kind == Rule::Kind::fixed;
    caller.registers.known = 0;
    caller.registers.set(abi_.sp, !pushes && frame.pc_exact ? sp : offset_by(sp, called));
    caller.registers.pc = address;
    caller.pc_exact = false;
    return stepped();
  }

  /// Made when they are needed: few processes have a hardware shadow stack.
  struct Others {
    std::array<std::unique_ptr<unwind::FrameStepper>, 3> guesses;
    std::array<std::unique_ptr<unwind::FrameStepper>, 3> tables;
  };
  Others& others() {
    if (!others_)
      others_ = std::make_unique<Others>(
          Others{{make_context_stepper(abi_), make_analysis_stepper(abi_), make_frame_pointer_stepper(abi_)},
                 {make_sframe_stepper(abi_), make_cfi_stepper(abi_), make_signal_stepper(abi_)}});
    return *others_;
  }

  static StepResult stepped() { return {.status = StepStatus::stepped}; }

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  std::unique_ptr<Others> others_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_shadow_stack_stepper(const AbiTraits& abi) {
  return std::make_unique<ShadowStackStepper>(abi);
}

} // namespace sframe::steppers
