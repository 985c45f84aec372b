// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The equations of a step, for any rule:
//
//   CFA    = rule.cfa(registers)
//   RA     = rule.ra(CFA, registers, memory)
//   SP     = CFA + AbiTraits::sp_from_cfa, unless the rule has an operation for SP
//   others = their operations; without one, call-saved registers keep their values and the rest is unknown
//
// At a signal trampoline, the registers come from the kernel's frame instead (step_over_signal()).

#include "step.h"

#include "host.h"
#include "sframe/bytes.h"

#include "sframe/cfi/expression.h"
#include "sframe/cfi/vector_granule.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/trampoline.h"

#include <array>

namespace sframe::here {

namespace {

const unwind::UnwindAbi& unwind_abi() {
  return *unwind::find_unwind_abi(host::abi);
}

/// What the operations of a rule are computed from, their expressions included.
class Values final : public cfi::ExpressionContext {
public:
  Values(const WalkFrame& frame, const FrameRule& rule, StackMemory& memory)
      : registers_(frame.registers), rule_(rule), memory_(memory) {}

  std::optional<std::uint64_t> cfa;

  bool get(std::uint16_t reg, std::uint64_t& value) const {
    if (!registers_.has(reg)) return false;
    value = registers_.values[reg];
    return true;
  }
  bool load(std::uint64_t address, std::uint64_t& value) { return memory_.load(address, value); }
  unwind::OperationFault evaluate(const Operation& op, std::uint64_t& value) {
    const auto result =
        cfi::evaluate(rule_.expression(op), *this, {.byte_order = traits(host::abi).byte_order, .cfa = cfa});
    value = result.value_or(0);
    return result ? unwind::OperationFault() : unwind::fault_of(result.error());
  }

  std::optional<std::uint64_t> read_register(std::uint32_t reg) override {
    // If no register has the return address, its number stands for the pc.
    const bool is_pc = !unwind_abi().ra_is_register && reg == traits(host::abi).ra;
    if (reg == cfi::vector_granule(traits(host::abi)))
      if (const std::uint64_t granule = host::vector_granule()) return granule;
    return is_pc ? registers_.pc : registers_.get(reg);
  }

  std::optional<std::uint64_t> read_memory(std::uint64_t address, std::uint32_t size) override {
    std::array<std::byte, 8> bytes = {};
    if (size > bytes.size() || !memory_.read(address, std::span(bytes).first(size))) return std::nullopt;
    return load_all(std::span(bytes).first(size), host_order);
  }

private:
  const unwind::Registers& registers_;
  const FrameRule& rule_;
  StackMemory& memory_;
};

/// The stack grows down, so callers are at higher addresses. A frame interrupted before it has pushed
/// anything may have its caller's SP; signal handlers may have their own stack.
bool goes_up(const WalkFrame& frame, const FrameRule& rule, std::uint64_t caller_sp) {
  const std::uint64_t sp = frame.registers.values[traits(host::abi).sp];
  return rule.flags & FrameRule::signal_frame || caller_sp > sp || (caller_sp == sp && frame.pc_exact);
}

} // namespace

unwind::StopReason step(WalkFrame& frame, const FrameRule& rule, StackMemory& memory) {
  if (rule.outermost()) return unwind::StopReason::bottom;
  const AbiTraits& abi = traits(host::abi);
  Values values(frame, rule, memory);
  std::uint64_t cfa = 0, ra = 0;
  if (const auto fault = compute(rule.cfa(), values, cfa); !fault.is_none()) return fault.reason;
  values.cfa = cfa;
  if (const auto fault = compute(rule.ra(), values, ra); !fault.is_none()) return fault.reason;

  unwind::Registers caller;
  if (!(rule.flags & FrameRule::other_registers_lost)) {
    // Call-saved registers without an operation keep their values.
    caller.values = frame.registers.values;
    caller.known = frame.registers.known & unwind_abi().call_saved;
  }
  caller.set(abi.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa}));
  for (const Operation& op : rule.saved()) {
    std::uint64_t value = 0;
    // A register that cannot be recovered ends the walk only if it is needed.
    if (compute(op, values, value).is_none())
      caller.set(op.reg, value);
    else
      caller.forget(op.reg);
  }
  if (!caller.has(abi.sp)) return unwind::StopReason::unknown_register;
  if (!goes_up(frame, rule, caller.values[abi.sp])) return unwind::StopReason::cfa_not_growing;
  caller.pc = host::strip(ra);
  frame.registers = caller;
  frame.pc_exact = rule.flags & FrameRule::signal_frame;
  return caller.pc ? unwind::StopReason::none : unwind::StopReason::zero_pc;
}

namespace {

/// Without SP the walk cannot go on.
bool read_saved(const unwind::SignalTrampoline& trampoline, std::uint64_t sp, StackMemory& memory,
                unwind::Registers& registers) {
  const auto load = [&](std::uint64_t address, std::uint64_t& value) { return memory.load(address, value); };
  return read_saved_registers(trampoline, sp, load, registers) && registers.has(traits(host::abi).sp);
}

} // namespace

bool read_signal_registers(std::uint64_t sp, StackMemory& memory, unwind::Registers& registers) {
  return read_saved(unwind_abi().trampolines.front(), sp, memory, registers);
}

unwind::StopReason step_over_signal(WalkFrame& frame, StackMemory& memory) {
  const auto read = [&](std::uint64_t address, std::span<std::byte> out) {
    return memory.read(address, out);
  };
  const unwind::SignalTrampoline* trampoline = find_trampoline(unwind_abi(), read, frame.registers.pc);
  if (!trampoline) return unwind::StopReason::no_rule;
  const auto sp = frame.registers.get(traits(host::abi).sp);
  if (!sp) return unwind::StopReason::unknown_register;
  unwind::Registers interrupted;
  if (!read_saved(*trampoline, *sp, memory, interrupted)) return unwind::StopReason::unreadable_memory;
  frame.registers = interrupted;
  frame.pc_exact = true;
  return frame.registers.pc ? unwind::StopReason::none : unwind::StopReason::zero_pc;
}

} // namespace sframe::here
