// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/process/process_state.h"

#include "from_elf.h"
#include "sframe/unwind/abi.h"

namespace sframe::process {

unwind::Registers registers_of(const core::RegisterValues& from, const AbiTraits& abi,
                               const unwind::UnwindAbi& unwind) {
  unwind::Registers to;
  for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
    if (const auto value = from.get(reg)) to.set(reg, *value);
  if (!unwind.ra_is_register) to.forget(abi.ra);
  to.pc = from.pc;
  return to;
}

namespace {

/// Whether the pc of the thread that died is after the faulting instruction. Signals sent by a process have
/// no such instruction.
bool died_after_fault(const core::Core& core, const unwind::UnwindAbi& unwind) {
  const auto& info = core.signal_info();
  const std::int32_t signal = core.signal();
  return (!info || info->code > 0) && signal > 0 && signal < 64 && unwind.signals_after_fault >> signal & 1;
}

/// The shadow stack of a thread, if it is in the core.
unwind::HardwareShadow shadow_of(const core::Core& core, const core::CoreThread& thread) {
  const core::MemoryRange* const range =
      thread.hardware_shadow ? core.range_at(thread.hardware_shadow) : nullptr;
  return range ? unwind::HardwareShadow{thread.hardware_shadow, range->start + range->present}
               : unwind::HardwareShadow{};
}

} // namespace

CoreProcess::CoreProcess(const core::Core& core, modules::FileOptions files)
    : space_(core, std::move(files)) {
  const AbiTraits& abi = *core.abi();
  const unwind::UnwindAbi& unwind = *unwind::find_unwind_abi(abi.id);
  threads_.reserve(core.threads().size());
  for (const core::CoreThread& thread : core.threads())
    threads_.push_back({thread.tid, thread.signal, thread.name.empty() ? core.process_name() : thread.name,
                        registers_of(thread.registers, abi, unwind), false, shadow_of(core, thread),
                        thread.registers.other_mode});
  if (!threads_.empty()) threads_.front().after_fault = died_after_fault(core, unwind);
}

Result<std::unique_ptr<CoreProcess>> CoreProcess::create(const core::Core& core, modules::FileOptions files) {
  if (const auto system = core.other_system(); !system.empty())
    return fail("core file of " + std::string(system) + ": only Linux cores are supported");
  if (!core.abi()) return fail("core file of a machine that SFrame does not support");
  if (!unwind::find_unwind_abi(core.abi()->id))
    return fail("unwinding is not supported for ABI " + std::string(core.abi()->name));
  return std::unique_ptr<CoreProcess>(new CoreProcess(core, std::move(files)));
}

} // namespace sframe::process
