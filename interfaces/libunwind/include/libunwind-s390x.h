/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libunwind's interface for s390x targets, on any host: see libunwind.h. */
#ifndef LIBUNWIND_H
#define LIBUNWIND_H

#include <inttypes.h>
#include <stddef.h>
#include <sys/types.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNW_TARGET s390x
#define UNW_TARGET_S390X 1

/* The type of floating-point registers. */
typedef double unw_tdep_fpreg_t;

/* Register numbers for unw_get_reg() and access_reg(). */
typedef enum {
  UNW_S390X_R0, UNW_S390X_R1, UNW_S390X_R2, UNW_S390X_R3, UNW_S390X_R4, UNW_S390X_R5,
  UNW_S390X_R6, UNW_S390X_R7, UNW_S390X_R8, UNW_S390X_R9, UNW_S390X_R10, UNW_S390X_R11,
  UNW_S390X_R12, UNW_S390X_R13, UNW_S390X_R14, UNW_S390X_R15,

  UNW_S390X_F0, UNW_S390X_F1, UNW_S390X_F2, UNW_S390X_F3, UNW_S390X_F4, UNW_S390X_F5,
  UNW_S390X_F6, UNW_S390X_F7, UNW_S390X_F8, UNW_S390X_F9, UNW_S390X_F10, UNW_S390X_F11,
  UNW_S390X_F12, UNW_S390X_F13, UNW_S390X_F14, UNW_S390X_F15,

  UNW_S390X_IP,
  UNW_TDEP_LAST_REG = UNW_S390X_IP,
  UNW_S390X_CFA, /* read-only: the same as R15 */

  UNW_TDEP_IP = UNW_S390X_IP,
  UNW_TDEP_SP = UNW_S390X_R15,
  UNW_TDEP_BP = UNW_S390X_R11,
  UNW_TDEP_EH = UNW_S390X_R0
} s390x_regnum_t;

#define UNW_TDEP_NUM_EH_REGS 2

#include "libunwind-common.h"

#ifdef __cplusplus
}
#endif

#endif
