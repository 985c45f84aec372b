// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux's numbers of signals and of their codes, the same on all machines that SFrame supports
// (include/uapi/asm-generic/{signal,siginfo}.h); those of <signal.h> would be the host's.

#pragma once

#include <cstdint>

namespace sframe::unwind_tool {

inline constexpr std::int32_t sigill = 4, sigtrap = 5, sigabrt = 6, sigbus = 7, sigfpe = 8, sigsegv = 11,
                              sigsys = 31;
inline constexpr std::int32_t ill_illopn = 2, bus_adraln = 1, bus_adrerr = 2, fpe_intdiv = 1, segv_maperr = 1,
                              segv_accerr = 2, si_kernel = 0x80;

} // namespace sframe::unwind_tool
