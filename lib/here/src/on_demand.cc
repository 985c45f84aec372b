// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "on_demand.h"

#include "snapshot.h"
#include "stack_memory.h"

#include "sframe/address.h"
#include "sframe/here/here.h"

#include <csignal>

#include <sys/auxv.h>

namespace sframe::here {

namespace {

/// Bytes of stack: twice what making tables takes (measured: 5 KiB).
constexpr std::uint64_t stack_needed = 12 << 10;

/// True if that much is left. The kernel reports the bounds of a signal stack; other stacks are probed.
bool has_stack() {
  const auto sp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  stack_t stack;
  if (sigaltstack(nullptr, &stack) == 0 && !(stack.ss_flags & SS_DISABLE)) {
    const std::uint64_t above = sp - reinterpret_cast<std::uint64_t>(stack.ss_sp);
    if (above < stack.ss_size) return above >= stack_needed;
  }
  StackMemory memory(0);
  std::byte byte;
  for (std::uint64_t below = smallest_page; below <= stack_needed; below += smallest_page)
    if (!memory.read(sp - below, std::span(&byte, 1))) return false;
  return true;
}

bool add_vdso(Snapshot& to) {
  const std::uint64_t start = getauxval(AT_SYSINFO_EHDR);
  if (!start || to.module_at(start)) return true;
  const dl_phdr_info info = describe_image(reinterpret_cast<const void*>(start));
  ModuleBytes bytes(info);
  bytes.find_sections(info);
  const ModuleTables* const tables = ModuleTables::make(bytes);
  if (!tables) return false;
  to.add(*tables);
  tables->release();
  return true;
}

/// A copy of the old snapshot with another module, without those that it replaces; nullptr if memory ran
/// out.
MappedPointer<Snapshot> extended(const Snapshot* old, const ModuleTables& module) {
  MappedPointer<Snapshot> made(make_mapped<Snapshot>());
  if (!made) return nullptr;
  for (const ModuleTables* other : old ? old->modules() : std::span<const ModuleTables* const>())
    if (other->high() <= module.low() || other->low() >= module.high()) made->add(*other);
  made->add(module);
  if (old) made->unloads = old->unloads;
  if (!old && !(made->finish() && add_vdso(*made))) return nullptr;
  return made->finish() ? std::move(made) : nullptr;
}

enum class Added { done, outdated, failed };

Added try_add(std::uint64_t pc, const ModuleTables& module) {
  const SnapshotGuard guard;
  const Snapshot* const old = guard.snapshot();
  const ModuleTables* const there = old ? old->module_at(pc) : nullptr;
  if (there && there->is_loaded(pc)) return Added::done;
  MappedPointer<Snapshot> made = extended(old, module);
  if (!made) return Added::failed;
  if (!publish(old, made.get())) return Added::outdated;
  made.release();
  return Added::done;
}

constinit std::atomic<std::uint64_t> walks_left_out = 0;

} // namespace

bool add_tables_for(std::uint64_t pc) {
  if (!has_stack()) return false;
  const auto bytes = ModuleBytes::at(pc);
  const ModuleTables* const module = bytes ? ModuleTables::make(*bytes) : nullptr;
  if (!module) return false;
  Added outcome = Added::outdated;
  while (outcome == Added::outdated) outcome = try_add(pc, *module);
  module->release();
  free_retired();
  return outcome == Added::done;
}

void count_left_out(std::uint64_t pc) {
  if (!Identity::available() || Identity::at(pc) != Identity{})
    walks_left_out.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t left_out() {
  return walks_left_out.load(std::memory_order_relaxed);
}

} // namespace sframe::here
