// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "walk.h"

namespace sframe::here {

/// False if `frames` is full.
inline bool Walk::emit(std::uint64_t pc) {
  if (skip_) {
    --skip_;
    return true;
  }
  if (count_ == frames_.size()) return false;
  frames_[count_++] = pc;
  return true;
}

/// True if the rules for an address of a module that can be unloaded are still valid.
bool Walk::is_current(std::uint64_t pc) {
  if (pc - checked_low_ < checked_size_) return true;
  const ModuleTables* module = snapshot_.module_at(pc);
  if (!module || !module->is_loaded(pc)) return false;
  checked_low_ = module->low();
  checked_size_ = module->high() - module->low();
  return true;
}

/// Steps as long as rules are plain.
Walk::Pause Walk::go_plain(Position at, StackMemory& memory) {
  using Kind = CachedRule::Kind;
  for (;; ++plain_steps_) {
    const CachedRule cached = snapshot_.look_up(at.lookup_pc);
    if (cached.unloadable() && !is_current(at.lookup_pc)) {
      missing_tables_ = at.lookup_pc;
      return {unwind::StopReason::no_rule};
    }
    if (cached.kind() != Kind::plain) [[unlikely]]
      return {unwind::StopReason::none, cached.kind()};
    const PlainRule rule = host::unpack(cached.packed());
    const std::uint64_t cfa = (rule.fp_based ? at.fp : at.sp) + static_cast<std::uint64_t>(rule.cfa_offset);
    const std::uint64_t sp = cfa + static_cast<std::uint64_t>(host::sp_from_cfa);
    std::uint64_t ra = 0;
    const bool stepped =
        memory.load(cfa + static_cast<std::uint64_t>(rule.ra_offset), ra) &&
        (!rule.fp_saved || memory.load(cfa + static_cast<std::uint64_t>(rule.fp_offset), at.fp));
    // An innermost frame may have its caller's SP. Anything else is an error, which the full step reports.
    if (!stepped || sp <= at.sp) [[unlikely]]
      return {unwind::StopReason::none, Kind::full};
    at.sp = sp;
    ra = host::strip(ra);
    at.lookup_pc = ra - 1;
    if (ra == 0) return {unwind::StopReason::zero_pc};
    if (!emit(ra)) return {unwind::StopReason::frame_limit};
  }
}

/// A step with all registers, by any tables.
unwind::StopReason Walk::step_fully(WalkFrame& frame, StackMemory& memory) {
  const std::uint64_t pc = frame.lookup_pc();
  const ModuleTables* module = snapshot_.module_at(pc);
  Operations operations;
  const auto rule = module ? snapshot_.full_rule(*module, pc, operations) : std::nullopt;
  if (!rule) return unwind::StopReason::no_rule;
  if (!is_current(pc)) {
    missing_tables_ = pc;
    return unwind::StopReason::no_rule;
  }
  return step(frame, *rule, memory);
}

/// A step without tables.
unwind::StopReason Walk::step_at_edge(WalkFrame& frame, StackMemory& memory) {
  if (step_over_signal(frame, memory) == unwind::StopReason::none) return unwind::StopReason::none;
  if (!snapshot_.module_at(frame.lookup_pc())) missing_tables_ = frame.lookup_pc();
  // An interrupted pc without memory: most likely the target of a call, which has just pushed its return
  // address or set the link register.
  std::byte first;
  if (!frame.pc_exact || memory.read(frame.registers.pc, std::span(&first, 1)))
    return unwind::StopReason::no_rule;
  WalkFrame caller = frame;
  const unwind::StopReason result = step(caller, {snapshot_.entry, 0, {}}, memory);
  if (result != unwind::StopReason::none ||
      snapshot_.look_up(caller.lookup_pc()).kind() == CachedRule::Kind::none)
    return unwind::StopReason::no_rule;
  frame = caller;
  return unwind::StopReason::none;
}

/// Steps from the checkpoint to the next one, which becomes the checkpoint.
unwind::StopReason Walk::go(WalkFrame& checkpoint, StackMemory& memory) {
  const AbiTraits& abi = traits(host::abi);
  plain_steps_ = 0;
  const unwind::Registers& registers = checkpoint.registers;
  const Pause pause = go_plain({checkpoint.lookup_pc(), registers.values[abi.sp],
                                registers.has(abi.fp) ? registers.values[abi.fp] : 0},
                               memory);
  if (pause.end != unwind::StopReason::none) return pause.end;
  if (pause.next == CachedRule::Kind::outermost) return unwind::StopReason::bottom;
  for (; plain_steps_; --plain_steps_)
    if (const unwind::StopReason fault = step_fully(checkpoint, memory); fault != unwind::StopReason::none)
      return fault;
  unwind::StopReason result = step_fully(checkpoint, memory);
  if (result == unwind::StopReason::no_rule && !missing_tables_) result = step_at_edge(checkpoint, memory);
  if (result == unwind::StopReason::none && !emit(checkpoint.registers.pc))
    return unwind::StopReason::frame_limit;
  return result;
}

Callers Walk::run(const unwind::Registers& start, bool with_start) {
  StackMemory memory(start.values[traits(host::abi).sp]);
  WalkFrame checkpoint{start, true};
  unwind::StopReason end =
      with_start && !emit(start.pc) ? unwind::StopReason::frame_limit : unwind::StopReason::none;
  while (end == unwind::StopReason::none) end = go(checkpoint, memory);
  memory.remember();
  return {count_, end};
}

} // namespace sframe::here
