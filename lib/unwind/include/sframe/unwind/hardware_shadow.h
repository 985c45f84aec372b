// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's hardware shadow stack: the second stack, of return addresses only, that the processor keeps and
// programs cannot write to (AMD64: Intel SDM volume 1, chapter 17; AArch64: Guarded Control Stack). A call
// pushes its return address, a return removes it, so there is one entry per called frame. When the kernel
// delivers a signal, it pushes a mark and the address of the trampoline.
// (Linux Documentation/arch/x86/shstk.rst, Documentation/arch/arm64/gcs.rst)

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// The part of a thread's hardware shadow stack that belongs to a frame and its callers.
struct HardwareShadow {
  static constexpr std::uint64_t entry_size = 8;

  std::uint64_t next = 0; ///< the address of the entry with the frame's return address; 0: not known
  std::uint64_t end = 0;  ///< of the memory that the shadow stack is in; entries are below it
  /// The frame's SP was found by a search: a return address that differs from the shadow stack's may only
  /// have been read at the wrong place.
  bool sp_is_guess = false;

  /// True if there is a whole entry at `next`.
  bool has_entry() const {
    return next != 0 && next % entry_size == 0 && next < end && end - next >= entry_size;
  }
  /// Without the newest entry.
  HardwareShadow rest() const { return {next + entry_size, end, sp_is_guess}; }
};

} // namespace sframe::unwind

#pragma GCC visibility pop
