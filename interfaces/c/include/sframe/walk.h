/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stack walks for programs in C: cores, running processes, and targets of one's own by call-backs.
 *
 *   sframe_error error;
 *   sframe_process* process = sframe_open_core("core", NULL, &error);
 *   if (!process) { fprintf(stderr, "%s\n", error.message); return 1; }
 *   for (size_t i = 0; i < sframe_num_threads(process); ++i)
 *     sframe_walk(process, i, print_frame, NULL, NULL, NULL);
 *   sframe_close(process);
 *
 * All addresses are those of the target. A process is for one thread at a time; different ones are
 * independent, and may be made on any thread. A NULL where there must be none is SFRAME_INVALID, memory that
 * runs out SFRAME_NO_MEMORY; functions without a status then do nothing or return NULL or 0. C++ programs
 * have more in sframe/walk/walker.h. docs/remote.md is the manual.
 */
#ifndef SFRAME_WALK_H
#define SFRAME_WALK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong. SFRAME_STOP to SFRAME_NO_INFO are for answers of call-backs, too. */
typedef enum sframe_status {
  SFRAME_OK = 0,
  SFRAME_UNSPECIFIED,  /* any other error */
  SFRAME_NO_MEMORY,    /* out of memory, or a buffer is too small */
  SFRAME_BAD_REGISTER, /* no such register, or its value is not known */
  SFRAME_READ_ONLY,    /* the register cannot be written */
  SFRAME_STOP,         /* the owner of the target wants no further frames */
  SFRAME_BAD_ADDRESS,  /* the pc is in no code */
  SFRAME_BAD_FRAME,    /* the caller would be the frame itself, or further down the stack */
  SFRAME_INVALID,      /* unsupported operation, or a bad value */
  SFRAME_BAD_TABLE,    /* unwind information that cannot be understood */
  SFRAME_NO_INFO       /* no unwind information, or no name */
} sframe_status;

/* The status in words; static. */
const char* sframe_status_text(sframe_status status);

/* Filled in by functions that fail, where the caller gives one (NULL: it does not want to know). */
typedef struct sframe_error {
  sframe_status status;
  char message[256]; /* one line, cut if need be */
} sframe_error;

/* Where files are found; all may be NULL or 0, strings need to live during the call only. */
typedef struct sframe_options {
  const char* executable; /* the program's file, instead of what the process says */
  const char* sysroot;    /* put before every path */
  const char* sframe_dir; /* sidecars: DIR/.build-id/xx/yyyy.sframe */
  const char* debug_dir;  /* separate debug files: looked up here before /usr/lib/debug */
  int no_files;           /* open no files: nothing but the process's memory */
  int trust_all;          /* use files that a core names where it has no build ID to check them by */
  int no_limits;          /* no limit to what a walk may cost, which else follows from the size of the core or process */
} sframe_options;

/* --- Processes --- */

typedef struct sframe_process sframe_process;

/* A core file, plain or compressed. NULL where it cannot be walked. */
sframe_process* sframe_open_core(const char* path, const sframe_options* options, sframe_error* error);

/* A running process. It is not stopped yet: sframe_stop() first. */
sframe_process* sframe_attach(int pid, const sframe_options* options, sframe_error* error);

/* Stops all threads of a process that was attached and reads its mappings; sframe_resume() lets them go on.
   Cores and call-backs need neither: SFRAME_OK, nothing happens. */
sframe_status sframe_stop(sframe_process* process, sframe_error* error);
void sframe_resume(sframe_process* process);

/* Resumes, and frees everything. NULL is allowed. */
void sframe_close(sframe_process* process);

/* "amd64", "aarch64", "aarch64_be", "s390x"; static. */
const char* sframe_abi(const sframe_process* process);

typedef struct sframe_thread {
  uint32_t tid;
  int32_t signal;   /* that it was taking, or 0 */
  const char* name; /* valid until the next sframe_stop() or sframe_close() */
} sframe_thread;

/* For a core, the first thread is the one that died. For call-backs: one thread, of number 0. */
size_t sframe_num_threads(const sframe_process* process);
/* SFRAME_INVALID where there is no such thread. */
sframe_status sframe_get_thread(const sframe_process* process, size_t number, sframe_thread* thread);

/* --- Walks --- */

typedef struct sframe_frame {
  uint32_t number;
  int pc_exact; /* the pc is the next instruction to run; else it is a return address, and pc - 1 is in the
                   call */
  int signal_frame; /* the code to which a signal handler returns */
  int has_cfa;      /* whether `cfa` is known */
  int heuristic;    /* found by a guess */
  uint64_t pc, cfa;
  const char* found_by; /* "context", "sframe", "cfi", "procedure", ...; static */
} sframe_frame;

typedef struct sframe_end {
  int complete;     /* the last frame is the outermost one, by exact knowledge */
  char reason[128]; /* why there are no more frames */
} sframe_end;

/* Takes a frame; anything but 0 ends the walk. */
typedef int (*sframe_frame_callback)(const sframe_frame* frame, void* data);

/* Walks from the innermost frame on. `end` may be NULL. Fails where there is no such thread or its registers
   cannot be read; a walk that ends early is no failure. Linear in the frames, of which there are 100,000 at
   most. */
sframe_status sframe_walk(sframe_process* process, size_t thread, sframe_frame_callback callback, void* data,
                          sframe_end* end, sframe_error* error);

/* The same into an array: the innermost frames, as many as fit. `count` is how many there are in it. */
sframe_status sframe_walk_into(sframe_process* process, size_t thread, sframe_frame* frames, size_t capacity,
                               size_t* count, sframe_end* end, sframe_error* error);

/* The function that a frame is in, demangled, and the offset of its pc. SFRAME_NO_MEMORY where the name was
   cut (it ends with a zero byte all the same), SFRAME_NO_INFO where there is none. */
sframe_status sframe_function_name(sframe_process* process, const sframe_frame* frame, char* buffer,
                                   size_t size, uint64_t* offset);

/* The path of the file that the pc is in; valid until the next sframe_stop() or sframe_close(). NULL where it
   is not known. */
const char* sframe_module_path(sframe_process* process, const sframe_frame* frame);

/* --- Targets of one's own --- */

/* Answers about a target. Words are in the host's byte order; registers go by DWARF number, the pc by
   SFRAME_PC. `data` is that of sframe_open_callbacks(). What is NULL answers SFRAME_NO_INFO, or
   SFRAME_INVALID where something has to be there. */
#define SFRAME_PC 0xffff

/* A search table as in .eh_frame_hdr, in the target's memory: pairs of 4-byte numbers. */
typedef struct sframe_table {
  uint64_t address; /* of the first pair */
  uint64_t size;    /* bytes */
  uint64_t base;    /* the address of .eh_frame_hdr, which the numbers count from */
} sframe_table;

typedef struct sframe_callbacks {
  /* The table for an address. */
  sframe_status (*find_table)(uint64_t address, sframe_table* table, void* data);
  /* Reads the 8-byte word at an address. Required. */
  sframe_status (*read_word)(uint64_t address, uint64_t* value, void* data);
  /* Reads a register of the thread. Required; pc and SP must be known. */
  sframe_status (*read_register)(uint16_t reg, uint64_t* value, void* data);
  /* The raw name around an address, with a zero byte; and the offset from its start. */
  sframe_status (*find_name)(uint64_t address, char* buffer, size_t size, uint64_t* offset, void* data);
} sframe_callbacks;

typedef enum sframe_caching {
  SFRAME_CACHE_NONE,
  SFRAME_CACHE_GLOBAL,
  SFRAME_CACHE_PER_THREAD
} sframe_caching;

/* `abi` as sframe_abi() gives it. The call-backs are copied. */
sframe_process* sframe_open_callbacks(const char* abi, const sframe_callbacks* callbacks, void* data,
                                      sframe_error* error);

/* What is kept of find_table()'s answers; nothing at first. SFRAME_INVALID for processes that do not go by
   call-backs, which keep what they may. */
sframe_status sframe_set_caching(sframe_process* process, sframe_caching policy);
/* Forgets what is kept for addresses in [first, last), or all where both are 0. */
sframe_status sframe_flush(sframe_process* process, uint64_t first, uint64_t last);

#ifdef __cplusplus
}
#endif

#endif
