// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/here.h"

#include "walk.h"

namespace sframe::walk {

namespace own {

namespace {

/// A walk by the current tables. `missing` is set where others might lead further.
HereResult walk(const Registers& start, std::span<std::uint64_t> frames, std::size_t skip, bool with_start,
                bool& missing) {
  const Reading reading;
  missing = true;
  if (!reading.snapshot()) {
    const bool has_start = with_start && !frames.empty();
    if (has_start) frames[0] = start.pc;
    return {has_start, StopReason::no_rule};
  }
  Walk walk(*reading.snapshot(), frames, skip);
  const HereResult result = walk.run(start, with_start);
  missing = walk.tables_missing();
  return result;
}

} // namespace

} // namespace own

// The two below must not be inlined, nor end with a jump: their own frames are where the walk starts.

[[gnu::noinline]] HereResult here(std::span<std::uint64_t> frames, std::size_t skip) {
  Registers start;
  own::host::capture(start);
  bool missing = false;
  const HereResult first = own::walk(start, frames, skip, false, missing);
  if (!missing || !refresh()) return first;
  return own::walk(start, frames, skip, false, missing);
}

[[gnu::noinline]] HereResult here_in_handler(std::span<std::uint64_t> frames, std::size_t skip) {
  Registers start;
  own::host::capture(start);
  bool missing = false;
  return own::walk(start, frames, skip, false, missing);
}

HereResult from_context(const ucontext_t& context, std::span<std::uint64_t> frames) {
  Registers start;
  // The context is the kernel's: its registers are where the signal frame has them.
  own::StackMemory memory(reinterpret_cast<std::uint64_t>(&context));
  const std::uint64_t sp = reinterpret_cast<std::uint64_t>(&context) - own::host::ucontext_from_sp;
  if (!own::read_signal_registers(sp, memory, start)) return {0, StopReason::unreadable_memory};
  bool missing = false;
  return own::walk(start, frames, 0, true, missing);
}

} // namespace sframe::walk
