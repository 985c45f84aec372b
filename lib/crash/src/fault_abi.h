// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what a processor and its Linux kernel leave of a fault, as data: the constants defined by the
// files of abi/. abis.def lists them. An ABI about which nothing is known has the defaults.

#pragma once

#include "sframe/abi.h"
#include "sframe/code/disassembly.h"
#include "sframe/core/signals.h"
#include "sframe/unwind/registers.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::crash {

/// What the processor refuses as a whole, so that the kernel has no address: an access to an address that is
/// not canonical (SIGSEGV with SI_KERNEL), and one that is misaligned (the same, or SIGBUS with BUS_ADRALN).
struct RefusedAccess {
  std::uint8_t address_bits;   ///< of a canonical address: those above repeat the highest of them
  std::uint16_t aligned_bytes; ///< the smallest access that must always be aligned
};

struct FaultAbi {
  std::optional<RefusedAccess> refused; ///< nothing: the kernel always has the address
  /// The bits of a fault's address that the kernel does not have.
  std::uint64_t unknown_address_bits = 0;
  /// The instruction for which the kernel sends SIGTRAP with SI_KERNEL; the pc is after it. Empty: there is
  /// none.
  std::span<const std::uint8_t> breakpoint;
  /// The instruction of a system call. Empty: a thread that dies in its own signal cannot be told from one
  /// that dies by the instruction again.
  std::span<const std::uint8_t> system_call;
  /// What the kernel would have told a handler with SA_SIGINFO about an exception (SignalRecord in
  /// sframe/unwind/abi.h); nothing if it is not a fault. nullptr: signal frames have no exceptions.
  std::optional<core::SignalInfo> (*signal_of)(std::uint64_t exception, std::uint64_t error,
                                               std::uint64_t address) = nullptr;
  /// True if a division by `divisor` faults: it is zero, or the quotient has more bits than it. Nothing if
  /// the dividend is not known. nullptr: divisions do not fault, or have no operands
  /// (code::InstructionOperands::divisor).
  std::optional<bool> (*division_faults)(const code::InstructionOperands& operands, std::uint64_t divisor,
                                         const unwind::Registers& registers) = nullptr;

  /// True if the address is one of the usual address space, whose faults have their address.
  bool is_canonical(std::uint64_t address) const {
    if (!refused) return true;
    const auto high = static_cast<std::int64_t>(address) >> (refused->address_bits - 1);
    return high == 0 || high == -1;
  }
};

/// The ABI's data. Constant cost.
const FaultAbi& fault_abi(Abi id);

namespace abi {
#define SFRAME_DEFINE_ABI(name, identifier) extern const FaultAbi name;
#include "sframe/abis.def"
} // namespace abi

} // namespace sframe::crash
