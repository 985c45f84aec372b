// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code to which signal handlers return: it does nothing but call rt_sigreturn, by which the kernel
// restores the registers of what the signal interrupted.
//
//   AMD64     mov $15,%rax; syscall       the C library's restorer
//   AArch64   mov x8,#139; svc #0         the vDSO's __kernel_rt_sigreturn, musl's __restore_rt
//   s390x     svc 173                     the vDSO's __kernel_rt_sigreturn
//
// Nothing calls it: SP is where the kernel has put the registers.

#pragma once

#include "sframe/code/instruction.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code {

/// Recognises such code. Not for several threads at once.
class SignalReturns {
public:
  explicit SignalReturns(const AbiTraits& abi);

  /// Bytes of the code that `bytes`, which are at `address`, start with, including no-operations before it.
  /// 0: other code. Constant cost.
  std::uint32_t size(std::span<const std::byte> bytes, std::uint64_t address);

private:
  bool is_call_of_it(const Instruction& instruction, std::uint8_t number_in) const;

  const Machine& machine_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<Effect> effects_;
};

/// The row of such code; its RA is an instruction that called nothing. Nothing if no row can represent it.
std::optional<FrameRow> signal_return_row(const AbiTraits& abi);

} // namespace sframe::code
