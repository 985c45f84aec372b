// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/here.h"

#include "on_demand.h"
#include "walk.h"

namespace sframe::walk {

namespace own {

namespace {

/// A walk by the current tables. `missing` is the address where it ended because there are none, or 0.
HereResult walk(const Registers& start, std::span<std::uint64_t> frames, std::size_t skip, bool with_start,
                std::uint64_t& missing) {
  const Reading reading;
  missing = start.pc;
  if (!reading.snapshot()) {
    const bool has_start = with_start && !frames.empty();
    if (has_start) frames[0] = start.pc;
    return {has_start, StopReason::no_rule};
  }
  Walk walk(*reading.snapshot(), frames, skip);
  const HereResult result = walk.run(start, with_start);
  missing = walk.missing_tables();
  return result;
}

/// The same with the tables that there are.
HereResult walk_as_is(const Registers& start, std::span<std::uint64_t> frames, std::size_t skip,
                      bool with_start) {
  std::uint64_t missing = 0;
  const HereResult result = walk(start, frames, skip, with_start, missing);
  if (missing) count_left_out(missing);
  return result;
}

} // namespace

} // namespace own

// The two below must not be inlined, nor end with a jump: their own frames are where the walk starts.

[[gnu::noinline]] HereResult here(std::span<std::uint64_t> frames, std::size_t skip) {
  Registers start;
  own::host::capture(start);
  std::uint64_t missing = 0;
  HereResult result = own::walk(start, frames, skip, false, missing);
  // Each round adds a module; one that is unloaded and loaded again and again is no reason to go on.
  constexpr int most_modules = 100;
  for (int i = 0; missing && i < most_modules && own::add_tables_for(missing); ++i)
    result = own::walk(start, frames, skip, false, missing);
  if (missing) own::count_left_out(missing);
  return result;
}

[[gnu::noinline]] HereResult here_in_handler(std::span<std::uint64_t> frames, std::size_t skip) {
  Registers start;
  own::host::capture(start);
  return own::walk_as_is(start, frames, skip, false);
}

HereResult from_context(const ucontext_t& context, std::span<std::uint64_t> frames) {
  Registers start;
  // The context is the kernel's: its registers are where the signal frame has them.
  own::StackMemory memory(reinterpret_cast<std::uint64_t>(&context));
  const std::uint64_t sp = reinterpret_cast<std::uint64_t>(&context) - own::host::ucontext_from_sp;
  if (!own::read_signal_registers(sp, memory, start)) return {0, StopReason::unreadable_memory};
  return own::walk_as_is(start, frames, 0, true);
}

} // namespace sframe::walk
