/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The stack of the calling thread: return addresses, found by the tables of the running image, without
 * heuristics. Linux on AMD64, AArch64 and s390x; elsewhere all walks end with SFRAME_REASON_NO_RULE.
 *
 *   uint64_t frames[64];
 *   size_t count = sframe_here(frames, 64, 0, NULL);
 *
 * In a signal handler (SA_SIGINFO), after sframe_here_refresh() earlier in the program:
 *
 *   void handler(int signal, siginfo_t* info, void* context) {
 *     size_t count = sframe_here_in_context(context, frames, 64, NULL);
 *
 * Any number of threads may call all functions at once. Walks keep errno.
 */
#ifndef SFRAME_C_HERE_H
#define SFRAME_C_HERE_H

#include "sframe/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The callers of the calling function, innermost first: frames[0] is the address to which this call returns,
   frames[1] that to which its function returns, and so on; `skip` leaves out that many. Returns their number,
   at most `capacity`. Without pointer authentication codes. After a signal frame comes the address of the
   interrupted instruction. `reason` is optional. SFRAME_REASON_BOTTOM and SFRAME_REASON_ZERO_PC: all frames;
   SFRAME_REASON_FRAME_LIMIT: there may be more; else the walk is incomplete.

   May be called anywhere, with any lock held, in signal handlers too. If tables for a module are missing, it
   makes them: memory from the kernel (not malloc()), no lock, up to 12 KiB of stack; the sections of a module
   that can be unloaded are copied. */
size_t sframe_here(uint64_t* frames, size_t capacity, size_t skip, sframe_reason* reason);

/* The same with only the tables of the last sframe_here_refresh(). Async-signal-safe: no allocation, no lock,
   about 4 KiB of stack. Reads only memory known to be readable, so a damaged stack just ends the walk. */
size_t sframe_here_in_handler(uint64_t* frames, size_t capacity, size_t skip, sframe_reason* reason);

/* The stack that a signal interrupted. `context` is the third argument of the handler, a ucontext_t.
   frames[0] is the pc of the interrupted instruction. Async-signal-safe as sframe_here_in_handler(). */
size_t sframe_here_in_context(const void* context, uint64_t* frames, size_t capacity, sframe_reason* reason);

/* Makes tables for all loaded modules, and frees those of unloaded ones. Call it at the start, and after
   dlopen() and dlclose() if handlers must see the library's frames. Not in signal handlers, and not with a
   lock held that callbacks of dl_iterate_phdr() need. SFRAME_NO_MEMORY: the tables are unchanged;
   SFRAME_INVALID: no support for this processor. */
sframe_status sframe_here_refresh(void);

/* The number of walks of all threads that ended with SFRAME_REASON_NO_RULE in a module without tables.
   Async-signal-safe. */
uint64_t sframe_here_left_out(void);

#ifdef __cplusplus
}
#endif

#endif
