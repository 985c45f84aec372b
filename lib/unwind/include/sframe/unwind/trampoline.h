// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises signal trampolines, the code to which signal handlers return, by their bytes, and reads the
// registers that the kernel saved. The templates read memory through functions, so that walks in signal
// handlers (lib/here) use them, too: they allocate nothing and call only those functions.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// True if the bytes at `address` are `code`. bool read(std::uint64_t address, std::span<std::byte> out)
/// copies memory, at most 32 bytes at once; false if not all can be read.
template <class Read>
bool has_code_at(std::uint64_t address, std::span<const std::uint8_t> code, const Read& read) {
  std::array<std::byte, 32> buffer;
  for (auto expected = std::as_bytes(code); !expected.empty();) {
    const auto found = std::span(buffer).first(std::min(expected.size(), buffer.size()));
    if (!read(address, found) || !std::ranges::equal(expected.first(found.size()), found)) return false;
    address += found.size();
    expected = expected.subspan(found.size());
  }
  return true;
}

/// The trampoline that `pc` is in, or nullptr; `read` as in has_code_at().
template <class Read>
const SignalTrampoline* find_trampoline(const UnwindAbi& abi, const Read& read, std::uint64_t pc) {
  for (const SignalTrampoline& trampoline : abi.trampolines)
    for (const std::uint8_t stop : trampoline.stops)
      if (has_code_at(pc - stop, trampoline.code, read)) return &trampoline;
  return nullptr;
}

/// The same, in the memory of a walk.
const SignalTrampoline* find_trampoline(const UnwindAbi& abi, Memory& memory, std::uint64_t pc);

/// Reads the interrupted frame's registers from the signal frame; `sp` is SP in the trampoline. bool
/// load(std::uint64_t address, std::uint64_t& value) reads a word. A register that cannot be read is unknown;
/// false if it is the pc.
template <class Load>
bool read_saved_registers(const SignalTrampoline& trampoline, std::uint64_t sp, const Load& load,
                          Registers& registers) {
  registers.known = 0;
  std::uint64_t value = 0;
  for (const SavedRegister& saved : trampoline.registers)
    if (load(sp + saved.offset, value)) registers.set(saved.reg, value);
  if (!load(sp + trampoline.pc_offset, value)) return false;
  registers.pc = value;
  return true;
}

/// Steps to the interrupted frame: all registers come from the signal frame.
StepResult step_by_trampoline(const SignalTrampoline& trampoline, const AbiTraits& abi,
                              const FrameState& frame, Memory& memory, FrameState& caller);

/// True if `frame` is at a signal trampoline, and the signal has interrupted code of another mode
/// (UnwindAbi::mode).
bool interrupts_other_mode(const UnwindAbi& abi, std::uint16_t sp, const FrameState& frame, Memory& memory);

/// True if a rule found by lookup_pc(), an SframeMatch or CfiMatch, applies to the frame. A return address
/// just after a function normally means that it ends with a call that does not return. It may also be a
/// trampoline, which no instruction calls: then the rule is that of the function before the trampoline,
/// unless it is marked as a signal frame's, as tables that start a byte before the trampoline are.
template <class Match>
bool applies(const Match& match, const FrameState& frame, const UnwindAbi& abi, Memory& memory) {
  return frame.pc_exact || !match.ends_here || match.signal_frame ||
         !find_trampoline(abi, memory, frame.registers.pc);
}

} // namespace sframe::unwind

#pragma GCC visibility pop
