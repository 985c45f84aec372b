// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/here/here.h"

#include "on_demand.h"
#include "walk.h"

namespace sframe::here {

namespace {

/// A walk with the current tables. `missing` is the address at which it ended for lack of tables, or 0.
Callers walk(const unwind::Registers& start, std::span<std::uint64_t> frames, std::size_t skip,
             bool with_start, std::uint64_t& missing) {
  const SnapshotGuard guard;
  missing = start.pc;
  if (!guard.snapshot()) {
    const bool has_start = with_start && !frames.empty();
    if (has_start) frames[0] = start.pc;
    return {has_start, unwind::StopReason::no_rule};
  }
  Walk walk(*guard.snapshot(), frames, skip);
  const Callers result = walk.run(start, with_start);
  missing = walk.missing_tables();
  return result;
}

/// The same with existing tables only.
Callers walk_as_is(const unwind::Registers& start, std::span<std::uint64_t> frames, std::size_t skip,
                   bool with_start) {
  std::uint64_t missing = 0;
  const Callers result = walk(start, frames, skip, with_start, missing);
  if (missing) count_left_out(missing);
  return result;
}

} // namespace

// The next two functions must not be inlined or end with a tail call: the walk starts in their frames.

[[gnu::noinline]] Callers callers(std::span<std::uint64_t> frames, std::size_t skip) {
  unwind::Registers start;
  host::capture(start);
  std::uint64_t missing = 0;
  Callers result = walk(start, frames, skip, false, missing);
  // Each round adds a module; the limit is for one that is loaded and unloaded repeatedly.
  constexpr int most_modules = 100;
  for (int i = 0; missing && i < most_modules && add_tables_for(missing); ++i)
    result = walk(start, frames, skip, false, missing);
  if (missing) count_left_out(missing);
  return result;
}

[[gnu::noinline]] Callers callers_in_handler(std::span<std::uint64_t> frames, std::size_t skip) {
  unwind::Registers start;
  host::capture(start);
  return walk_as_is(start, frames, skip, false);
}

Callers callers_in_context(const ucontext_t& context, std::span<std::uint64_t> frames) {
  unwind::Registers start;
  // The kernel's context has the registers in the layout of the signal frame.
  StackMemory memory(reinterpret_cast<std::uint64_t>(&context));
  const std::uint64_t sp = reinterpret_cast<std::uint64_t>(&context) - host::ucontext_from_sp;
  if (!read_signal_registers(sp, memory, start)) return {0, unwind::StopReason::unreadable_memory};
  return walk_as_is(start, frames, 0, true);
}

} // namespace sframe::here
