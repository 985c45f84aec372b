/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libunwind 1.6's interface for stacks of other programs, over sframe::remote. Programs written for libunwind
 * compile unchanged with these headers; there is no binary compatibility. docs/remote.md lists the
 * differences by function.
 *
 * The target is the host, unless the header of another target is included instead: libunwind-x86_64.h,
 * libunwind-aarch64.h, libunwind-s390x.h. Each target has its own functions (on s390x, unw_step() is
 * _Us390x_step()); one library has them all.
 *
 * Walking the program's own stack (UNW_LOCAL_ONLY, unw_getcontext(), unw_init_local(), unw_backtrace()) is
 * not supported.
 */
#if defined(__x86_64__)
#include "libunwind-x86_64.h"
#elif defined(__aarch64__)
#include "libunwind-aarch64.h"
#elif defined(__s390x__)
#include "libunwind-s390x.h"
#else
#error "SFrame does not support this host: include the header of the target's ABI"
#endif
