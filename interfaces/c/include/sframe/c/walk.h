/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stack walks for C programs: cores, live processes, and the user's own targets through callbacks.
 *
 *   sframe_error error;
 *   sframe_process* process = sframe_open_core("core", NULL, &error);
 *   if (!process) { fprintf(stderr, "%s\n", error.message); return 1; }
 *   for (size_t i = 0; i < sframe_num_threads(process); ++i)
 *     sframe_walk(process, i, print_frame, NULL, NULL, NULL);
 *   sframe_close(process);
 *
 * All addresses are those of the target. A process is for one thread at a time; different ones are
 * independent, and may be made on any thread. For an invalid NULL argument the status is SFRAME_INVALID, if
 * memory runs out SFRAME_NO_MEMORY; functions without a status then do nothing or return NULL or 0. The C++
 * interface (sframe/unwind/walker.h) offers more. docs/remote.md is the manual.
 */
#ifndef SFRAME_C_WALK_H
#define SFRAME_C_WALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results. Callbacks may return SFRAME_STOP to SFRAME_NO_INFO, too. */
typedef enum sframe_status {
  SFRAME_OK = 0,
  SFRAME_UNSPECIFIED,  /* any other error */
  SFRAME_NO_MEMORY,    /* out of memory, or a buffer is too small */
  SFRAME_BAD_REGISTER, /* no such register, or its value is unknown */
  SFRAME_READ_ONLY,    /* the register cannot be written */
  SFRAME_STOP,         /* the callback requested the end of the walk */
  SFRAME_BAD_ADDRESS,  /* the pc is not in code */
  SFRAME_BAD_FRAME,    /* the caller is the frame itself, or below it on the stack */
  SFRAME_INVALID,      /* unsupported operation, or a bad value */
  SFRAME_BAD_TABLE,    /* invalid unwind information */
  SFRAME_NO_INFO       /* no unwind information, or no name */
} sframe_status;

/* The status as text; static. */
const char* sframe_status_text(sframe_status status);

/* Filled in by functions that fail; may be NULL. */
typedef struct sframe_error {
  sframe_status status;
  char message[256]; /* one line, truncated if too long */
} sframe_error;

/* Where files are looked for. All may be NULL or 0; strings are needed during the call only. */
typedef struct sframe_options {
  const char* executable; /* the program's file, instead of the one named by the process */
  const char* sysroot;    /* prefix of every path */
  const char* sframe_dir; /* sidecars: DIR/.build-id/xx/yyyy.sframe */
  const char* debug_dir;  /* separate debug files: searched before /usr/lib/debug */
  int no_files;           /* open no files: use only the process's memory */
  int trust_all;          /* use files named by a core without verification if it has no build ID */
  int no_limits;          /* no budget for walks; by default it depends on the size of the core or process */
} sframe_options;

/* --- Processes --- */

typedef struct sframe_process sframe_process;

/* A core file, plain or compressed. NULL if it cannot be walked. */
sframe_process* sframe_open_core(const char* path, const sframe_options* options, sframe_error* error);

/* A live process. Does not stop it: call sframe_stop() before walks. */
sframe_process* sframe_attach(int pid, const sframe_options* options, sframe_error* error);

/* Stops all threads of a live process and reads its mappings; sframe_resume() resumes them. No effect for
   cores and callbacks (SFRAME_OK). */
sframe_status sframe_stop(sframe_process* process, sframe_error* error);
void sframe_resume(sframe_process* process);

/* Resumes the process and frees everything. NULL is allowed. */
void sframe_close(sframe_process* process);

/* "amd64", "aarch64", "aarch64_be", "s390x"; static. */
const char* sframe_abi(const sframe_process* process);

typedef struct sframe_thread {
  uint32_t tid;
  int32_t signal;   /* being delivered, or 0 */
  const char* name; /* valid until the next sframe_stop() or sframe_close() */
} sframe_thread;

/* For a core, the first thread is the one that died. Callbacks have one thread, number 0. */
size_t sframe_num_threads(const sframe_process* process);
/* SFRAME_INVALID if there is no such thread. */
sframe_status sframe_get_thread(const sframe_process* process, size_t number, sframe_thread* thread);

/* --- Walks --- */

typedef struct sframe_frame {
  uint32_t number;
  int pc_exact; /* the pc is the next instruction to run; else it is a return address, and pc - 1 is in the
                   call */
  int signal_frame; /* a signal trampoline */
  int has_cfa;      /* whether `cfa` is known */
  int heuristic;    /* found by a heuristic */
  uint64_t pc, cfa;
  const char* found_by; /* "context", "sframe", "cfi", "procedure", ...; static */
} sframe_frame;

typedef struct sframe_end {
  int complete;     /* the last frame is the outermost one, and this is certain */
  char reason[128]; /* why the walk ended */
} sframe_end;

/* Receives a frame; any result but 0 ends the walk. */
typedef int (*sframe_frame_callback)(const sframe_frame* frame, void* data);

/* Walks from the innermost frame. `end` may be NULL. Fails if there is no such thread or its registers cannot
   be read; an incomplete walk is not a failure. Linear in the number of frames, at most 100,000. */
sframe_status sframe_walk(sframe_process* process, size_t thread, sframe_frame_callback callback, void* data,
                          sframe_end* end, sframe_error* error);

/* The same into an array: the innermost frames, as many as fit. `count` is set to their number. */
sframe_status sframe_walk_into(sframe_process* process, size_t thread, sframe_frame* frames, size_t capacity,
                               size_t* count, sframe_end* end, sframe_error* error);

/* The name of a frame's function, demangled, and the offset of the pc. SFRAME_NO_MEMORY if the name was
   truncated (it is still zero-terminated), SFRAME_NO_INFO if there is none. */
sframe_status sframe_function_name(sframe_process* process, const sframe_frame* frame, char* buffer,
                                   size_t size, uint64_t* offset);

/* The path of the file that contains the pc, or NULL if unknown. Valid until the next sframe_stop() or
   sframe_close(). */
const char* sframe_module_path(sframe_process* process, const sframe_frame* frame);

/* --- Targets through callbacks --- */

/* The user's access to a target. Words are in the host's byte order. Registers have DWARF numbers, the pc
   SFRAME_PC. `data` is that of sframe_open_callbacks(). For a NULL callback the result is SFRAME_NO_INFO, or
   SFRAME_INVALID if it is required. */
#define SFRAME_PC 0xffff

/* A search table as in .eh_frame_hdr, in the target's memory: pairs of 4-byte integers. */
typedef struct sframe_table {
  uint64_t address; /* of the first pair */
  uint64_t size;    /* bytes */
  uint64_t base;    /* the address of .eh_frame_hdr: the integers are relative to it */
} sframe_table;

typedef struct sframe_callbacks {
  /* The table for an address. */
  sframe_status (*find_table)(uint64_t address, sframe_table* table, void* data);
  /* Reads the 8-byte word at an address. Required. */
  sframe_status (*read_word)(uint64_t address, uint64_t* value, void* data);
  /* Reads a register of the thread. Required; pc and SP must be known. */
  sframe_status (*read_register)(uint16_t reg, uint64_t* value, void* data);
  /* The raw name of the function that contains an address, zero-terminated, and the offset in it. */
  sframe_status (*find_name)(uint64_t address, char* buffer, size_t size, uint64_t* offset, void* data);
} sframe_callbacks;

typedef enum sframe_caching {
  SFRAME_CACHE_NONE,
  SFRAME_CACHE_GLOBAL,
  SFRAME_CACHE_PER_THREAD
} sframe_caching;

/* `abi` is a name as returned by sframe_abi(). The callbacks are copied. */
sframe_process* sframe_open_callbacks(const char* abi, const sframe_callbacks* callbacks, void* data,
                                      sframe_error* error);

/* How rules found through find_table() are cached; initially not at all. SFRAME_INVALID for cores and live
   processes, which have their own caches. */
sframe_status sframe_set_caching(sframe_process* process, sframe_caching policy);
/* Drops cached rules for addresses in [first, last), or all if both are 0. */
sframe_status sframe_flush(sframe_process* process, uint64_t first, uint64_t last);

#ifdef __cplusplus
}
#endif

#endif
