// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact steps are made without state. The steppers after them, by modules and heuristics, have caches by
// address, which each thread keeps for the space that it used last.

#include "sframe/remote/remote_cursor.h"

#include "procedure_step.h"
#include "sframe/cfi/vector_granule.h"
#include "sframe/unwind/trampoline.h"
#include "sframe/unwind/walker.h"

#include "sframe/modules/dynamic_code.h"
#include "sframe/steppers/steppers.h"

#include <atomic>
#include <type_traits>

namespace sframe::remote {

static_assert(std::is_trivially_copyable_v<RemoteCursor>);

namespace {

RemoteStatus status_of(const unwind::StepResult& result, RemoteStatus memory_status) {
  switch (result.reason) {
  case unwind::StopReason::unreadable_memory:
    return memory_status != RemoteStatus::ok ? memory_status : RemoteStatus::invalid;
  case unwind::StopReason::unknown_register: return RemoteStatus::bad_register;
  case unwind::StopReason::bad_table: return RemoteStatus::bad_version;
  case unwind::StopReason::loop:
  case unwind::StopReason::cfa_not_growing: return RemoteStatus::bad_frame;
  case unwind::StopReason::not_code: return RemoteStatus::invalid_ip;
  case unwind::StopReason::no_rule: return RemoteStatus::no_info;
  default: return RemoteStatus::unspecified;
  }
}

/// Checks a stepper's answer.
void check(unwind::Memory& memory, const unwind::FrameState& frame, unwind::FrameState& caller,
           unwind::StepResult& result) {
  if (result.status != unwind::StepStatus::stepped) return;
  caller.registers.pc = memory.code_address(caller.registers.pc);
  check_step(frame, caller, memory.space().abi().sp, result);
}

/// For frames unknown to the owner of the target: code registered by the target's program, and steppers by
/// modules and heuristics. Their caches are for one target.
class FallbackSteppers final : public modules::ByteSource {
public:
  FallbackSteppers(CallbackSpace& space, void* arg, std::uint64_t walk)
      : walk(walk), epoch_(space.epoch()), flushed_(space.flushed()), view_(space, arg),
        generated_(view_, files_, *this, modules_), walker_(view_, make_steppers(space.abi())) {
    view_.set_generated_code(&generated_);
    generated_.add_dyn_info_list(view_.dynamic_info_list().value_or(0));
  }

  bool is_for(const CallbackSpace& space, void* arg) const {
    return epoch_ == space.epoch() && flushed_ == space.flushed() && arg == view_.arg();
  }
  unwind::Walker& walker() { return walker_; }
  modules::DynamicCode& generated() { return generated_; }
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }

  std::uint64_t walk; ///< the last walk that used it

private:
  static unwind::StepperList make_steppers(const AbiTraits& abi) {
    unwind::StepperList made;
    for (const auto make :
         {steppers::make_sframe_stepper, steppers::make_cfi_stepper, steppers::make_context_stepper,
          steppers::make_analysis_stepper, steppers::make_frame_pointer_stepper})
      made.push_back(make(abi));
    return made;
  }

  std::uint64_t epoch_, flushed_; ///< of the space
  modules::FileOptions files_{.open_files = false};
  CallbackView view_;
  std::deque<modules::Module> modules_;
  modules::DynamicCode generated_;
  unwind::Walker walker_;
};

/// Each thread keeps one, for the target that it used last. A new walk reads code registered meanwhile.
FallbackSteppers& fallback_steppers(CallbackSpace& space, void* arg, std::uint64_t walk) {
  static thread_local std::unique_ptr<FallbackSteppers> kept;
  const bool may_keep =
      kept && kept->is_for(space, arg) &&
      (kept->walk == walk || (space.caching() != CachingPolicy::none && !kept->generated().refresh()));
  if (!may_keep) kept = std::make_unique<FallbackSteppers>(space, arg, walk);
  kept->walk = walk;
  return *kept;
}

} // namespace

RemoteStatus RemoteCursor::start(CallbackSpace& space, void* arg) {
  static std::atomic<std::uint64_t> walks = 0;
  *this = RemoteCursor();
  space_ = &space;
  arg_ = arg;
  walk_ = ++walks;
  stepper_ = "context";
  Accessors& accessors = space.accessors();
  const AbiTraits& abi = space.abi();
  const unwind::UnwindAbi& unwind = *unwind::find_unwind_abi(abi.id);
  auto status = accessors.access_register(unwind::pc_register, frame_.registers.pc, false, arg);
  if (status != RemoteStatus::ok) return status;
  frame_.registers.pc &= accessors.code_address_mask(abi, arg);
  if (const std::uint64_t granule = cfi::vector_granule(abi) ? accessors.vector_granule(arg) : 0)
    frame_.registers.set(unwind::Registers::vector_granule, granule);
  locations_.set(unwind::SaveLocations::pc, {unwind::SaveLocation::Kind::reg, unwind::pc_register});
  for (std::uint16_t reg = 0; reg < unwind.register_names.size() && reg < unwind::Registers::count; ++reg) {
    if (!unwind.ra_is_register && reg == abi.ra) continue;
    std::uint64_t value = 0;
    status = accessors.access_register(reg, value, false, arg);
    if (status == RemoteStatus::ok) {
      frame_.registers.set(reg, value);
      locations_.set(reg, {unwind::SaveLocation::Kind::reg, reg});
    } else if (reg == abi.sp) {
      return status;
    }
  }
  return RemoteStatus::ok;
}

/// By the owner's information, else by a trampoline's code. no_info: neither covers the frame.
RemoteStatus RemoteCursor::step_exact(CallbackView& view, unwind::Memory& memory, unwind::FrameState& caller,
                                      unwind::StepResult& result, unwind::SaveLocations* locations) const {
  const auto status =
      step_by_procedure(view, memory, frame_, caller, result, locations ? &locations_ : nullptr, locations);
  if (status != RemoteStatus::no_info) {
    if (status == RemoteStatus::ok) check(memory, frame_, caller, result);
    return status;
  }
  const AbiTraits& abi = view.abi();
  const unwind::SignalTrampoline* trampoline =
      find_trampoline(*unwind::find_unwind_abi(abi.id), memory, frame_.registers.pc);
  if (!trampoline) return status;
  result = step_by_trampoline(*trampoline, abi, frame_, memory, caller);
  check(memory, frame_, caller, result);
  if (locations && result.status == unwind::StepStatus::stepped) {
    const std::uint64_t sp = frame_.registers.values[abi.sp];
    locations->in_memory = locations->in_register = 0;
    for (const unwind::SavedRegister& saved : trampoline->registers)
      locations->set(saved.reg, {unwind::SaveLocation::Kind::memory, sp + saved.offset});
    locations->set(unwind::SaveLocations::pc,
                   {unwind::SaveLocation::Kind::memory, sp + trampoline->pc_offset});
  }
  return RemoteStatus::ok;
}

/// The result of a step.
struct RemoteCursor::Next {
  /// If not `ok`, there is no `result`: the owner ends the walk.
  RemoteStatus status = RemoteStatus::ok;
  unwind::StepResult result;
  unwind::FrameState caller;
  std::string_view by = procedure_stepper_name;
  RemoteStatus memory_status = RemoteStatus::ok; ///< of the last read that failed
};

/// The common part of step() and peek().
void RemoteCursor::find_next(Next& next, unwind::SaveLocations* locations) const {
  CallbackView view(*space_, arg_);
  unwind::Memory memory(view);
  unwind::StepResult& result = next.result;
  next.status = step_exact(view, memory, next.caller, result, locations);
  if (next.status == RemoteStatus::no_info) {
    next.status = RemoteStatus::ok;
    if (locations) locations->in_memory = locations->in_register = 0;
    const unwind::FrameStepper* by = nullptr;
    fallback_steppers(*space_, arg_, walk_).walker().step(frame_, next.caller, by, result);
    if (result.is_final())
      next.by = by->name();
    else // whatever went wrong, the owner has no information
      result = unwind::StepResult::failed(view.is_code(frame_.lookup_pc()) ? unwind::StopReason::no_rule
                                                                           : unwind::StopReason::not_code,
                                          frame_.registers.pc);
  } else if (next.status == RemoteStatus::stop_unwind) {
    result = {.status = unwind::StepStatus::bottom, .reason = unwind::StopReason::bottom};
  } else if (next.status != RemoteStatus::ok) {
    result = unwind::StepResult::failed(unwind::StopReason::bad_table);
  }
  if (result.status == unwind::StepStatus::stepped && next.caller.registers.pc == 0) {
    result.status = unwind::StepStatus::bottom;
    result.reason = unwind::StopReason::zero_pc;
  }
  // Walkers have kept it; rows of SFrame, and trampolines, do not have it.
  next.caller.registers.keep_vector_granule(frame_.registers);
  next.memory_status = view.memory_status();
}

unwind::StepStatus RemoteCursor::step(unwind::StepResult* made) {
  Next next;
  unwind::SaveLocations locations;
  find_next(next, &locations);
  const unwind::StepResult& result = next.result;
  if (made) *made = result;
  reason_ = result.reason;
  status_ = next.status;
  may_skip_ |= result.may_skip;
  if (result.status == unwind::StepStatus::bottom) {
    complete_ = result.trust == unwind::Trust::exact && !may_skip_;
    return unwind::StepStatus::bottom;
  }
  if (result.status != unwind::StepStatus::stepped) {
    if (status_ == RemoteStatus::ok) status_ = status_of(result, next.memory_status);
    return unwind::StepStatus::error;
  }
  innermost_ = false;
  frame_ = next.caller;
  locations_ = locations;
  trust_ = result.trust;
  stepper_ = next.by;
  return unwind::StepStatus::stepped;
}

unwind::StepResult RemoteCursor::peek() const {
  Next next;
  find_next(next, nullptr);
  return next.result;
}

namespace {

std::size_t index_of(std::uint16_t reg) {
  return reg == unwind::pc_register ? unwind::SaveLocations::pc : reg;
}

} // namespace

unwind::SaveLocation RemoteCursor::save_location(std::uint16_t reg) const {
  const std::size_t index = index_of(reg);
  return index <= unwind::SaveLocations::pc ? locations_.get(index) : unwind::SaveLocation{};
}

RemoteStatus RemoteCursor::set_register(std::uint16_t reg, std::uint64_t value) {
  if (index_of(reg) > unwind::SaveLocations::pc) return RemoteStatus::bad_register;
  const unwind::SaveLocation location = save_location(reg);
  Accessors& accessors = space_->accessors();
  RemoteStatus status = RemoteStatus::ok;
  if (location.kind == unwind::SaveLocation::Kind::memory)
    status = accessors.access_memory(location.where, value, true, arg_);
  if (location.kind == unwind::SaveLocation::Kind::reg)
    status = accessors.access_register(static_cast<std::uint16_t>(location.where), value, true, arg_);
  if (status != RemoteStatus::ok) return status;
  if (reg == unwind::pc_register)
    frame_.registers.pc = value;
  else
    frame_.registers.set(reg, value);
  return status;
}

RemoteStatus RemoteCursor::resume() {
  Accessors& accessors = space_->accessors();
  std::uint64_t pc = frame_.registers.pc;
  auto status = accessors.access_register(unwind::pc_register, pc, true, arg_);
  for (std::uint16_t reg = 0; reg < unwind::Registers::vector_granule && status == RemoteStatus::ok; ++reg)
    if (auto value = frame_.registers.get(reg)) status = accessors.access_register(reg, *value, true, arg_);
  return status == RemoteStatus::ok ? accessors.resume(*this, arg_) : status;
}

modules::Module* RemoteCursor::generated_module() const {
  return fallback_steppers(*space_, arg_, walk_).generated().module_at(frame_.lookup_pc());
}

RemoteStatus RemoteCursor::find_procedure(ProcedureInfo& info) const {
  const auto status = space_->accessors().find_procedure(frame_.lookup_pc(), false, arg_, info);
  if (status != RemoteStatus::no_info) return status;
  modules::Module* module = generated_module();
  const auto extent = module ? module->find_function(frame_.lookup_pc()) : std::nullopt;
  if (!extent) return status;
  info.start = extent->start;
  info.end = info.start + extent->size;
  return RemoteStatus::ok;
}

RemoteStatus RemoteCursor::find_name(std::span<char> buffer, std::uint64_t& offset) const {
  auto status = space_->accessors().find_name(frame_.lookup_pc(), buffer, offset, arg_);
  if (status == RemoteStatus::no_info)
    if (modules::Module* module = generated_module())
      if (const auto match = module->symbols().find(module->link(frame_.lookup_pc()))) {
        offset = match->offset;
        status = copy_name(match->symbol->name, buffer);
      }
  offset += !frame_.pc_exact;
  return status;
}

} // namespace sframe::remote
