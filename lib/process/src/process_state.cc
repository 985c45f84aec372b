// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core's records as what walks need: its registers by DWARF number, which of its threads were in another
// mode of the processor, and how the process ended.

#include "sframe/process/process_state.h"

#include "sframe/cfi/vector_granule.h"
#include "sframe/process/walk_registers.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sframe::process {

unwind::Registers registers_of(const core::RegisterValues& from, const AbiTraits& abi,
                               const unwind::UnwindAbi& unwind) {
  unwind::Registers to;
  for (std::uint16_t reg = 0; reg < unwind::Registers::count; ++reg)
    if (const auto value = from.get(reg)) to.set(reg, *value);
  if (!unwind.ra_is_register) to.forget(abi.ra);
  if (const auto column = cfi::vector_granule(abi))
    if (const auto granule = from.get(*column)) to.set(unwind::Registers::vector_granule, *granule);
  to.pc = from.pc;
  return to;
}

bool is_other_mode(const core::RegisterValues& registers, const unwind::UnwindAbi& unwind) {
  const auto value = unwind.mode ? registers.get(unwind.mode->reg) : std::nullopt;
  return value && unwind.mode->is_other(*value);
}

namespace {

/// The addresses that have given lower halves and are the only such ones in memory of a kind. The work grows
/// with the halves and the ranges of memory, not with their product: a half with two addresses is not looked
/// at again.
class UpperHalves {
public:
  void add(std::uint64_t half) { halves_.push_back({half, {}, 0, 0}); }

  /// Looks all of them up in the memory with `flags`.
  void find(std::span<const core::MemoryRange> memory, std::uint32_t flags) {
    std::ranges::sort(halves_, {}, &Half::value);
    const auto again = std::ranges::unique(halves_, {}, &Half::value);
    halves_.erase(again.begin(), again.end());
    for (std::size_t i = 0; i < halves_.size(); ++i) halves_[i].next = i;
    for (const core::MemoryRange& range : memory)
      if (range.flags & flags) look_in(range);
  }

  /// The address; nothing if there is none, or are several.
  std::optional<std::uint64_t> whole(std::uint64_t half) const {
    const auto at = std::ranges::lower_bound(halves_, half, {}, &Half::value);
    if (at == halves_.end() || at->value != half || at->addresses != 1) return std::nullopt;
    return at->address;
  }

private:
  static constexpr std::uint64_t step = std::uint64_t{1} << 32;
  struct Half {
    std::uint64_t value, address;
    std::uint8_t addresses; ///< 2: several
    std::size_t next;       ///< from here on, the first to be looked at is not before this one
  };

  /// The first half from number `i` on that does not have two addresses yet.
  std::size_t open_from(std::size_t i) {
    std::size_t at = i;
    while (at < halves_.size() && halves_[at].next != at) at = halves_[at].next;
    while (i < at) i = std::exchange(halves_[i].next, at);
    return at;
  }

  void look_in(const core::MemoryRange& range) {
    std::uint64_t upper = range.start / step * step, first = range.start % step, left = range.size;
    // In each 4 GiB; after two whole ones, every half has two addresses.
    for (int part = 0; left != 0 && part < 4; ++part) {
      const std::uint64_t size = std::min(left, step - first);
      const auto from = std::ranges::lower_bound(halves_, first, {}, &Half::value);
      for (auto i = open_from(static_cast<std::size_t>(from - halves_.begin()));
           i < halves_.size() && halves_[i].value - first < size; i = open_from(i + 1)) {
        halves_[i].address = upper + halves_[i].value;
        if (++halves_[i].addresses == 2) halves_[i].next = i + 1;
      }
      left -= size;
      upper += step;
      first = 0;
    }
  }

  std::vector<Half> halves_;
};

/// The registers of a process of whose threads only lower halves are known: the pc and SP are where there is
/// code and a stack; the rest is lost.
class CompletedRegisters {
public:
  CompletedRegisters(const core::Core& core, std::uint16_t sp) : sp_(sp) {
    for (const core::CoreThread& thread : core.threads()) {
      if (!thread.registers.lower_halves) continue;
      code_.add(thread.registers.pc);
      if (const auto half = thread.registers.get(sp)) stacks_.add(*half);
    }
    code_.find(core.memory(), elf::pf_x);
    stacks_.find(core.memory(), elf::pf_w);
  }

  core::RegisterValues of(const core::RegisterValues& halves) const {
    core::RegisterValues registers;
    registers.pc = code_.whole(halves.pc).value_or(0);
    if (const auto half = halves.get(sp_))
      if (const auto value = stacks_.whole(*half)) registers.set(sp_, *value);
    return registers;
  }

private:
  std::uint16_t sp_;
  UpperHalves code_, stacks_;
};

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
  const CompletedRegisters completed(core, abi.sp);
  threads_.reserve(core.threads().size());
  for (const core::CoreThread& thread : core.threads()) {
    const bool other_mode = is_other_mode(thread.registers, unwind);
    const core::RegisterValues registers =
        thread.registers.lower_halves && !other_mode ? completed.of(thread.registers) : thread.registers;
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
