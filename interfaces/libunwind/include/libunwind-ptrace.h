/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accessors for a stopped thread that the calling thread traces: _UPT(3). They are implemented by
 * sframe::remote::PtraceTarget (sframe/remote/targets.h). Only for targets of the host's ABI.
 */
#ifndef LIBUNWIND_PTRACE_H
#define LIBUNWIND_PTRACE_H

#include <libunwind.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The `arg` for unw_init_remote(). Does not access the thread yet. NULL if memory runs out. */
extern void* _UPT_create(pid_t thread);
extern void _UPT_destroy(void*);

extern int _UPT_find_proc_info(unw_addr_space_t, unw_word_t, unw_proc_info_t*, int, void*);
extern void _UPT_put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*);
extern int _UPT_get_dyn_info_list_addr(unw_addr_space_t, unw_word_t*, void*);
extern int _UPT_access_mem(unw_addr_space_t, unw_word_t, unw_word_t*, int, void*);
extern int _UPT_access_reg(unw_addr_space_t, unw_regnum_t, unw_word_t*, int, void*);
extern int _UPT_access_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*);
extern int _UPT_get_proc_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*);
extern int _UPT_resume(unw_addr_space_t, unw_cursor_t*, void*);
extern unw_accessors_t _UPT_accessors;

#ifdef __cplusplus
}
#endif

#endif
