/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libunwind's interface for AMD64 targets, on any host: see libunwind.h. */
#ifndef LIBUNWIND_H
#define LIBUNWIND_H

#include <inttypes.h>
#include <stddef.h>
#include <sys/types.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNW_TARGET x86_64
#define UNW_TARGET_X86_64 1

/* The type of floating-point registers. */
typedef long double unw_tdep_fpreg_t;

/* Register numbers for unw_get_reg() and access_reg(). */
typedef enum {
  UNW_X86_64_RAX, UNW_X86_64_RDX, UNW_X86_64_RCX, UNW_X86_64_RBX, UNW_X86_64_RSI,
  UNW_X86_64_RDI, UNW_X86_64_RBP, UNW_X86_64_RSP, UNW_X86_64_R8, UNW_X86_64_R9,
  UNW_X86_64_R10, UNW_X86_64_R11, UNW_X86_64_R12, UNW_X86_64_R13, UNW_X86_64_R14,
  UNW_X86_64_R15, UNW_X86_64_RIP,
  UNW_TDEP_LAST_REG = UNW_X86_64_RIP,
  UNW_X86_64_CFA, /* read-only: the same as RSP */

  UNW_TDEP_IP = UNW_X86_64_RIP,
  UNW_TDEP_SP = UNW_X86_64_RSP,
  UNW_TDEP_BP = UNW_X86_64_RBP,
  UNW_TDEP_EH = UNW_X86_64_RAX
} x86_64_regnum_t;

#define UNW_TDEP_NUM_EH_REGS 2

#include "libunwind-common.h"

#ifdef __cplusplus
}
#endif

#endif
