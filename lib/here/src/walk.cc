// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// go_plain() is the loop that nearly all frames pass: a lookup in the cache, then
//
//   CFA = SP or FP + cfa_offset,  RA = [CFA + ra_offset],  FP = [CFA + fp_offset] if it is saved
//
// go() repeats these steps in full from the last checkpoint where another kind of rule follows. SP must grow
// with each step, so a walk ends even without a limit of frames.

#include "walk.h"

#include "sframe/base/row_sources.h"

namespace sframe::here {

namespace {

/// False if `frames` is full. Numbers of frames that are skipped are negative, so more than any size.
inline bool store(std::span<std::uint64_t> frames, std::size_t& count, std::uint64_t pc) {
  if (count < frames.size()) [[likely]]
    frames[count] = pc;
  else if (count == frames.size())
    return false;
  ++count;
  return true;
}

} // namespace

bool Walk::emit(std::uint64_t pc) {
  return store(frames_, count_, pc);
}

/// True if the rules for an address of a module that can be unloaded are still valid.
bool Walk::is_current(std::uint64_t pc) {
  if (pc - checked_low_ < checked_size_) return true;
  const ModuleTables* module = snapshot_.module_at(pc);
  if (!module) return false;
  checked_size_ = 0;
  if (!module->recognisable()) {
    if (!read_in_place(pc)) return false;
    module = &*in_place_;
  } else if (!module->is_loaded(pc)) {
    return false;
  }
  checked_low_ = module->low();
  checked_size_ = module->high() - module->low();
  return true;
}

/// Gets the tables of the module that is at the address now. This thread's frames keep it loaded.
bool Walk::read_in_place(std::uint64_t pc) {
  const auto bytes = ModuleBytes::at(pc, true);
  if (!bytes) return false;
  in_place_.emplace(*bytes);
  return in_place_->complete();
}

/// The rule with all registers. `module` is current.
std::optional<FrameRule> Walk::full_rule(const ModuleTables& module, std::uint64_t pc, Operations& to) const {
  if (module.recognisable()) return snapshot_.full_rule(module, pc, to);
  Workspace workspace;
  return workspace.get() ? in_place_->find(pc, true, to, *workspace.get()) : std::nullopt;
}

/// Steps as long as rules are plain. What is used in each step is in local variables: for all that a compiler
/// knows, storing a frame changes the members.
Walk::Pause Walk::go_plain(Position at, StackMemory& memory) {
  using Kind = CachedRule::Kind;
  const Snapshot& snapshot = snapshot_;
  const std::span<std::uint64_t> frames = frames_;
  std::size_t count = count_;
  const auto pause = [&](unwind::StopReason end, Kind next = Kind::none) {
    count_ = count;
    return Pause{end, next};
  };
  AtomicRuleCache::Place place = AtomicRuleCache::place_of(at.lookup_pc);
  for (;;) {
    const CachedRule cached = snapshot.look_up(place, at.lookup_pc);
    if (!cached.permanent_and_plain()) [[unlikely]] {
      if (cached.unloadable() && !is_current(at.lookup_pc)) {
        missing_tables_ = at.lookup_pc;
        return pause(unwind::StopReason::no_rule);
      }
      if (cached.kind() != Kind::plain) return pause(unwind::StopReason::none, cached.kind());
    }
    const PlainRule rule = host::unpack(cached.packed());
    const std::uint64_t cfa = (rule.fp_based ? at.fp : at.sp) + static_cast<std::uint64_t>(rule.cfa_offset);
    const std::uint64_t sp = cfa + static_cast<std::uint64_t>(host::sp_from_cfa);
    std::uint64_t ra = 0;
    const bool stepped =
        memory.load(cfa + static_cast<std::uint64_t>(rule.ra_offset), ra) &&
        (!rule.fp_saved || memory.load(cfa + static_cast<std::uint64_t>(rule.fp_offset), at.fp));
    // An innermost frame may have its caller's SP. Anything else is an error, which the full step reports.
    if (!stepped || sp <= at.sp) [[unlikely]]
      return pause(unwind::StopReason::none, Kind::full);
    at.sp = sp;
    ra = host::strip(ra);
    at.lookup_pc = ra - 1;
    place = snapshot.cache.place_after(place, at.lookup_pc);
    if (ra == 0) [[unlikely]]
      return pause(unwind::StopReason::zero_pc);
    if (!store(frames, count, ra)) [[unlikely]]
      return pause(unwind::StopReason::frame_limit);
  }
}

namespace {

/// Generated code. It is in no cache: other code may be in its place at any time.
unwind::StopReason step_by_source(WalkFrame& frame, StackMemory& memory) {
  SourcedRow found;
  if (!find_sourced_row(frame.lookup_pc(), found)) return unwind::StopReason::no_rule;
  Operations operations;
  return step(frame, rule_of(found.row, found.signal_frame, operations), memory);
}

} // namespace

/// A step with all registers, by any tables.
unwind::StopReason Walk::step_fully(WalkFrame& frame, StackMemory& memory) {
  const std::uint64_t pc = frame.lookup_pc();
  const ModuleTables* module = snapshot_.module_at(pc);
  if (!module) return step_by_source(frame, memory);
  if (!is_current(pc)) {
    missing_tables_ = pc;
    return unwind::StopReason::no_rule;
  }
  Operations operations;
  const auto rule = full_rule(*module, pc, operations);
  return rule ? step(frame, *rule, memory) : unwind::StopReason::no_rule;
}

/// True if there is a rule for the address.
bool Walk::has_rule(std::uint64_t pc) const {
  SourcedRow found;
  return snapshot_.look_up(pc).kind() != CachedRule::Kind::none ||
         (!snapshot_.module_at(pc) && find_sourced_row(pc, found));
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
  if (result != unwind::StopReason::none || !has_rule(caller.lookup_pc())) return unwind::StopReason::no_rule;
  frame = caller;
  return unwind::StopReason::none;
}

/// Steps from the checkpoint to the next one, which becomes the checkpoint.
unwind::StopReason Walk::go(WalkFrame& checkpoint, StackMemory& memory) {
  const AbiTraits& abi = traits(host::abi);
  const std::size_t first = count_;
  const unwind::Registers& registers = checkpoint.registers;
  const Pause pause = go_plain({checkpoint.lookup_pc(), registers.values[abi.sp],
                                registers.has(abi.fp) ? registers.values[abi.fp] : 0},
                               memory);
  if (pause.end != unwind::StopReason::none) return pause.end;
  if (pause.next == CachedRule::Kind::outermost) return unwind::StopReason::bottom;
  for (std::size_t steps = count_ - first; steps; --steps)
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
  return {count_ <= frames_.size() ? count_ : 0, end};
}

} // namespace sframe::here
