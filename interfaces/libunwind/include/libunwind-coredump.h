/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accessors for core files, plain or compressed, of all ABIs that SFrame supports. They are implemented by
 * sframe::remote::CoreTarget (sframe/remote/targets.h). Mapped files are found by the core's own list.
 */
#ifndef LIBUNWIND_COREDUMP_H
#define LIBUNWIND_COREDUMP_H

#include <libunwind.h>

#ifdef __cplusplus
extern "C" {
#endif

struct UCD_info;

/* The `arg` for unw_init_remote(); NULL if the file is not a core that can be walked. */
extern struct UCD_info* _UCD_create(const char* file);
extern void _UCD_destroy(struct UCD_info*);

extern int _UCD_get_num_threads(struct UCD_info*);
/* Threads are numbered from 0; the first one is the one that died. */
extern void _UCD_select_thread(struct UCD_info*, int number);
/* Of the selected thread: its number, and the signal being delivered. */
extern pid_t _UCD_get_pid(struct UCD_info*);
extern int _UCD_get_cursig(struct UCD_info*);
/* Sets the file mapped, from its first byte on, by a program header of the core or at an address. Returns 0
   on success, else -1. */
extern int _UCD_add_backing_file_at_segment(struct UCD_info*, int header, const char* file);
extern int _UCD_add_backing_file_at_vaddr(struct UCD_info*, unsigned long address, const char* file);

extern int _UCD_find_proc_info(unw_addr_space_t, unw_word_t, unw_proc_info_t*, int, void*);
extern void _UCD_put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*);
extern int _UCD_get_dyn_info_list_addr(unw_addr_space_t, unw_word_t*, void*);
extern int _UCD_access_mem(unw_addr_space_t, unw_word_t, unw_word_t*, int, void*);
extern int _UCD_access_reg(unw_addr_space_t, unw_regnum_t, unw_word_t*, int, void*);
extern int _UCD_access_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*);
extern int _UCD_get_proc_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*);
extern int _UCD_resume(unw_addr_space_t, unw_cursor_t*, void*);
extern unw_accessors_t _UCD_accessors;

#ifdef __cplusplus
}
#endif

#endif
