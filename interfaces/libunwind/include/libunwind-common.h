/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Common to all targets. Included by libunwind-TARGET.h only, inside extern "C". The functions are documented
 * in libunwind's manual pages: unw_step(3) etc.
 */
#ifndef LIBUNWIND_COMMON_H
#define LIBUNWIND_COMMON_H

#define UNW_VERSION_MAJOR 1
#define UNW_VERSION_MINOR 6
#define UNW_VERSION_EXTRA 2
#define UNW_VERSION_CODE(major, minor) (((major) << 16) | (minor))
#define UNW_VERSION UNW_VERSION_CODE(UNW_VERSION_MAJOR, UNW_VERSION_MINOR)

/* Each target's functions have a prefix: _Ux86_64_step. */
#define UNW_PASTE2(a, b) a##b
#define UNW_PASTE(a, b) UNW_PASTE2(a, b)
#define UNW_PREFIX UNW_PASTE(UNW_PASTE(_U, UNW_TARGET), _)
#define UNW_OBJ(name) UNW_PASTE(UNW_PREFIX, name)
#define UNW_ARCH_OBJ(name) UNW_OBJ(name)

typedef uint64_t unw_word_t;
typedef int64_t unw_sword_t;
typedef int unw_regnum_t;
typedef unw_tdep_fpreg_t unw_fpreg_t;

/* Functions return these negated; 0 and above is success. */
typedef enum {
  UNW_ESUCCESS = 0,
  UNW_EUNSPEC,      /* any other error */
  UNW_ENOMEM,       /* out of memory, or a buffer is too small */
  UNW_EBADREG,      /* no such register, or its value is unknown in this frame */
  UNW_EREADONLYREG, /* the register cannot be written */
  UNW_ESTOPUNWIND,  /* find_proc_info() requested the end of the walk */
  UNW_EINVALIDIP,   /* the IP is not in code */
  UNW_EBADFRAME,    /* the caller is the frame itself, or below it on the stack */
  UNW_EINVAL,       /* unsupported operation, or a bad value */
  UNW_EBADVERSION,  /* invalid unwind information */
  UNW_ENOINFO       /* no unwind information */
} unw_error_t;

typedef enum {
  UNW_REG_IP = UNW_TDEP_IP,
  UNW_REG_SP = UNW_TDEP_SP, /* read-only */
  UNW_REG_EH = UNW_TDEP_EH,
  UNW_REG_LAST = UNW_TDEP_LAST_REG
} unw_frame_regnum_t;
#define UNW_NUM_EH_REGS UNW_TDEP_NUM_EH_REGS

typedef enum {
  UNW_CACHE_NONE, /* initially */
  UNW_CACHE_GLOBAL,
  UNW_CACHE_PER_THREAD
} unw_caching_policy_t;

/* A walk's state. It can be copied, and owns nothing. */
#define UNW_TDEP_CURSOR_LEN 127
typedef struct unw_cursor {
  unw_word_t opaque[UNW_TDEP_CURSOR_LEN];
} unw_cursor_t;

typedef ucontext_t unw_tdep_context_t;
typedef unw_tdep_context_t unw_context_t;

typedef struct unw_addr_space* unw_addr_space_t;

#include "libunwind-dynamic.h"

/* Results of find_proc_info() for the library's own use. Filled in by dwarf_search_unwind_table(),
   _UPT_find_proc_info() and _UCD_find_proc_info(). */
typedef struct {
  unw_word_t opaque[12];
} unw_tdep_proc_info_t;

#define UNW_PI_FLAG_FIRST_TDEP_BIT 16
#define UNW_PI_FLAG_DEBUG_FRAME 32 /* from .debug_frame */

typedef struct unw_proc_info {
  unw_word_t start_ip; /* first address of the procedure */
  unw_word_t end_ip;   /* first address after it */
  unw_word_t lsda;     /* language-specific data area, or 0 */
  unw_word_t handler;  /* personality routine, or 0 */
  unw_word_t gp;
  unw_word_t flags;
  int format; /* unw_dyn_info_format_t */
  int unwind_info_size;
  void* unwind_info;
  unw_tdep_proc_info_t extra;
} unw_proc_info_t;

/* The callbacks: unw_create_addr_space(3). Words are in the host's byte order. A NULL callback has no
   information. */
typedef struct unw_accessors {
  int (*find_proc_info)(unw_addr_space_t, unw_word_t ip, unw_proc_info_t*, int need_unwind_info, void* arg);
  void (*put_unwind_info)(unw_addr_space_t, unw_proc_info_t*, void* arg);
  int (*get_dyn_info_list_addr)(unw_addr_space_t, unw_word_t* address, void* arg);
  int (*access_mem)(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg);
  int (*access_reg)(unw_addr_space_t, unw_regnum_t, unw_word_t* value, int write, void* arg);
  int (*access_fpreg)(unw_addr_space_t, unw_regnum_t, unw_fpreg_t* value, int write, void* arg);
  int (*resume)(unw_addr_space_t, unw_cursor_t*, void* arg);
  int (*get_proc_name)(unw_addr_space_t, unw_word_t ip, char* buffer, size_t size, unw_word_t* offset,
                       void* arg);
} unw_accessors_t;

typedef enum unw_save_loc_type {
  UNW_SLT_NONE,   /* the value is not saved */
  UNW_SLT_MEMORY, /* at u.addr */
  UNW_SLT_REG     /* in register u.regnum of the thread */
} unw_save_loc_type_t;

typedef struct unw_save_loc {
  unw_save_loc_type_t type;
  union {
    unw_word_t addr;
    unw_regnum_t regnum;
  } u;
} unw_save_loc_t;

#define unw_create_addr_space UNW_OBJ(create_addr_space)
#define unw_destroy_addr_space UNW_OBJ(destroy_addr_space)
#define unw_get_accessors UNW_OBJ(get_accessors)
#define unw_get_accessors_int UNW_OBJ(get_accessors)
#define unw_set_caching_policy UNW_OBJ(set_caching_policy)
#define unw_set_cache_size UNW_OBJ(set_cache_size)
#define unw_flush_cache UNW_OBJ(flush_cache)
#define unw_init_remote UNW_OBJ(init_remote)
#define unw_step UNW_OBJ(step)
#define unw_resume UNW_OBJ(resume)
#define unw_get_proc_info UNW_OBJ(get_proc_info)
#define unw_get_proc_info_by_ip UNW_OBJ(get_proc_info_by_ip)
#define unw_get_proc_name UNW_OBJ(get_proc_name)
#define unw_get_reg UNW_OBJ(get_reg)
#define unw_set_reg UNW_OBJ(set_reg)
#define unw_get_fpreg UNW_OBJ(get_fpreg)
#define unw_set_fpreg UNW_OBJ(set_fpreg)
#define unw_get_save_loc UNW_OBJ(get_save_loc)
#define unw_is_signal_frame UNW_OBJ(is_signal_frame)
#define unw_is_fpreg UNW_OBJ(is_fpreg)
#define unw_regname UNW_OBJ(regname)
#define unw_strerror UNW_OBJ(strerror)

/* NULL if the byte order (__LITTLE_ENDIAN, __BIG_ENDIAN of <endian.h>, or 0 for the default) is not one
   of the target's, or if memory runs out. The accessors are copied. Thread-safe. */
extern unw_addr_space_t unw_create_addr_space(unw_accessors_t*, int byte_order);
/* NULL is allowed. No cursor of the space may be used afterwards. */
extern void unw_destroy_addr_space(unw_addr_space_t);
/* The space's copy, valid as long as the space; NULL for NULL. */
extern unw_accessors_t* unw_get_accessors(unw_addr_space_t);

/* Flushes the cache, too. At first the policy is UNW_CACHE_NONE. 0, -UNW_EINVAL or -UNW_ENOMEM. */
extern int unw_set_caching_policy(unw_addr_space_t, unw_caching_policy_t);
/* `flags` must be 0. The size is that of the global cache. 0, -UNW_EINVAL or -UNW_ENOMEM. */
extern int unw_set_cache_size(unw_addr_space_t, size_t entries, int flags);
/* Addresses in [first, last), or all if both are 0. */
extern void unw_flush_cache(unw_addr_space_t, unw_word_t first, unw_word_t last);

/* Reads the registers with access_reg(); `arg` is passed to all callbacks. The space must outlive the cursor.
   0; a negative error of access_reg() for IP or SP; -UNW_EINVAL for NULL. */
extern int unw_init_remote(unw_cursor_t*, unw_addr_space_t, void* arg);
/* Above 0: stepped. 0: there is no caller. */
extern int unw_step(unw_cursor_t*);
extern int unw_resume(unw_cursor_t*);
/* These call find_proc_info() without need_unwind_info. */
extern int unw_get_proc_info(unw_cursor_t*, unw_proc_info_t*);
extern int unw_get_proc_info_by_ip(unw_addr_space_t, unw_word_t ip, unw_proc_info_t*, void* arg);
/* The raw name; -UNW_ENOMEM if it was truncated. */
extern int unw_get_proc_name(unw_cursor_t*, char* buffer, size_t size, unw_word_t* offset);
/* -UNW_EBADREG for a register that is unknown in this frame; libunwind returns its last known value. */
extern int unw_get_reg(unw_cursor_t*, unw_regnum_t, unw_word_t*);
extern int unw_set_reg(unw_cursor_t*, unw_regnum_t, unw_word_t);
/* Floating-point registers are tracked on s390x only. */
extern int unw_get_fpreg(unw_cursor_t*, unw_regnum_t, unw_fpreg_t*);
extern int unw_set_fpreg(unw_cursor_t*, unw_regnum_t, unw_fpreg_t);
extern int unw_get_save_loc(unw_cursor_t*, unw_regnum_t, unw_save_loc_t*);
/* Above 0 for the interrupted frame on AMD64, and for the signal trampoline below it on other targets, as in
   libunwind 1.6. */
extern int unw_is_signal_frame(unw_cursor_t*);

/* Not 0 for a floating-point register. */
extern int unw_is_fpreg(unw_regnum_t);
/* The register's name, static; "???" for an unknown number. */
extern const char* unw_regname(unw_regnum_t);
/* The text for an error, of either sign; static. */
extern const char* unw_strerror(int);

/* For use in a program's own find_proc_info(). libunwind defines these two but does not declare them;
   programs that declare them themselves, with UNW_OBJ, get these. */

/* Finds the procedure that contains `ip` by a table. For UNW_INFO_FORMAT_REMOTE_TABLE and
   UNW_INFO_FORMAT_IP_OFFSET, u.rti is a table as in .eh_frame_hdr in the target's memory.
   UNW_INFO_FORMAT_TABLE must have been filled in by dwarf_find_debug_frame(). */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t ip, unw_dyn_info_t*,
                                              unw_proc_info_t*, int need_unwind_info, void* arg);
/* Fills in `info` for the .debug_frame of the file (or of its separate debug file); `segbase` is the bias at
   which the file is mapped. Returns 1 if there is one, else `found`. Data read from a file is kept until the
   program ends. */
extern int UNW_OBJ(dwarf_find_debug_frame)(int found, unw_dyn_info_t* info, unw_word_t ip, unw_word_t segbase,
                                           const char* file, unw_word_t start, unw_word_t end);

#endif
