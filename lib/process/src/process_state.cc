// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/process/process_state.h"

#include "from_elf.h"
#include "sframe/unwind/abi.h"

#include <utility>

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

bool is_other_mode(const core::RegisterValues& registers, const unwind::UnwindAbi& unwind) {
  const auto value = unwind.mode ? registers.get(unwind.mode->reg) : std::nullopt;
  return value && unwind.mode->is_other(*value);
}

namespace {

/// The one address in memory with `flags` that has this lower half.
std::optional<std::uint64_t> with_upper_half(std::uint64_t half, const core::Core& core,
                                             std::uint32_t flags) {
  constexpr std::uint64_t step = std::uint64_t{1} << 32;
  std::optional<std::uint64_t> found;
  for (const core::MemoryRange& range : core.memory()) {
    if (!(range.flags & flags)) continue;
    std::uint64_t address = range.start / step * step + half;
    if (address < range.start) address += step;
    for (; range.contains(address); address += step)
      if (std::exchange(found, address)) return std::nullopt;
  }
  return found;
}

/// Registers of which only lower halves are known: the pc and SP are where there is code and a stack; the
/// rest is lost.
core::RegisterValues completed(const core::RegisterValues& halves, const core::Core& core, std::uint16_t sp) {
  core::RegisterValues registers;
  registers.pc = with_upper_half(halves.pc, core, elf::pf_x).value_or(0);
  if (const auto half = halves.get(sp))
    if (const auto value = with_upper_half(*half, core, elf::pf_w)) registers.set(sp, *value);
  return registers;
}

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
  for (const core::CoreThread& thread : core.threads()) {
    const bool other_mode = is_other_mode(thread.registers, unwind);
    const core::RegisterValues registers = thread.registers.lower_halves && !other_mode
                                               ? completed(thread.registers, core, abi.sp)
                                               : thread.registers;
    threads_.push_back({thread.tid, thread.signal, thread.name.empty() ? core.process_name() : thread.name,
                        registers_of(registers, abi, unwind), false, shadow_of(core, thread), other_mode});
  }
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
