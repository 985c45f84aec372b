// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals of Linux: their numbers, names and codes, and siginfo_t. They are the same on all machines that
// SFrame supports (include/uapi/asm-generic/{signal,siginfo}.h); those of <signal.h> would be the host's.

#pragma once

#include "sframe/abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::core {

inline constexpr std::int32_t sigill = 4, sigtrap = 5, sigabrt = 6, sigbus = 7, sigfpe = 8, sigsegv = 11,
                              sigxcpu = 24, sigsys = 31;

/// Codes that all signals have: who sent it.
inline constexpr std::int32_t si_user = 0, si_kernel = 0x80, si_queue = -1, si_timer = -2, si_mesgq = -3,
                              si_asyncio = -4, si_tkill = -6;
/// Codes of one signal each.
inline constexpr std::int32_t ill_illopn = 2, bus_adraln = 1, bus_adrerr = 2, fpe_intdiv = 1, segv_maperr = 1,
                              segv_accerr = 2, sys_seccomp = 1;

/// NT_SIGINFO, or a minidump's exception record.
struct SignalInfo {
  std::int32_t signal = 0;
  std::int32_t code = 0;
  std::uint64_t address = 0;     ///< si_addr, for signals that have one
  std::uint32_t sender = 0;      ///< si_pid: the process that sent it, if `code` is 0 or less
  std::uint32_t sender_user = 0; ///< si_uid
  std::uint32_t system_call = 0; ///< si_syscall, for SIGSYS
  bool has_sender = true;        ///< false: `sender` and `sender_user` are unknown
};

/// Decodes a siginfo_t of a 64-bit Linux (include/uapi/asm-generic/siginfo.h). Nothing for fewer than 24
/// bytes.
std::optional<SignalInfo> decode_signal_info(std::span<const std::byte> bytes, ByteOrder order);

/// The name of a signal: "SIGSEGV"; "signal 77" for a number without a name.
std::string signal_name(std::int32_t signal);

/// What the code of a signal means on Linux (include/uapi/asm-generic/siginfo.h).
struct SignalCode {
  std::string_view name;    ///< "SEGV_MAPERR"; empty for an unknown code
  std::string_view meaning; ///< "address not mapped"
};
SignalCode signal_code(std::int32_t signal, std::int32_t code);

} // namespace sframe::core

#pragma GCC visibility pop
