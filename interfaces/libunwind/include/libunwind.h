/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The interface of libunwind 1.6 for other programs' stacks, on sframe::walk. Programs that were written for
 * libunwind compile with these headers unchanged; they are not compatible in binary form.
 * docs/remote.md tells function by function what differs.
 *
 * The target is the host, unless the header of another one is included instead: libunwind-x86_64.h,
 * libunwind-aarch64.h, libunwind-s390x.h. Each target has functions of its own (unw_step() is _Us390x_step()
 * there), and all are in the one library.
 *
 * Walking one's own stack (UNW_LOCAL_ONLY, unw_getcontext(), unw_init_local(), unw_backtrace()) is not in
 * here.
 */
#if defined(__x86_64__)
#include "libunwind-x86_64.h"
#elif defined(__aarch64__)
#include "libunwind-aarch64.h"
#elif defined(__s390x__)
#include "libunwind-s390x.h"
#else
#error "no ABI that SFrame knows: include the header of the target"
#endif
