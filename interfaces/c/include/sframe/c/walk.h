/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stack walks: cores, live processes, and the user's own targets through callbacks.
 *
 *   sframe_error error = {.size = sizeof error};
 *   sframe_process* process = sframe_open_core("core", NULL, &error);
 *   if (!process) { fprintf(stderr, "%s\n", error.message); return 1; }
 *   for (size_t i = 0; i < sframe_num_threads(process); ++i)
 *     sframe_walk(process, i, print_frame, NULL, NULL, NULL);
 *   sframe_close(process);
 *
 * A process is for one thread at a time; different ones are independent, and may be made on any thread. The
 * C++ interface (sframe/unwind/walker.h) offers more.
 */
#ifndef SFRAME_C_WALK_H
#define SFRAME_C_WALK_H

#include "sframe/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Processes --- */

/* Where files are looked for. Members may be NULL or 0; strings are needed during the call only. */
typedef struct sframe_options {
  size_t size;
  const char* executable; /* the program's file, instead of the one named by the process */
  const char* sysroot;    /* prefix of every path */
  const char* sframe_dir; /* sidecars: DIR/.build-id/xx/yyyy.sframe */
  const char* debug_dir;  /* separate debug files: searched before /usr/lib/debug */
  int no_files;           /* open no files: use only the process's memory */
  int trust_all;          /* use files named by a core without verification if it has no build ID */
  int no_limits;          /* no budget for walks; by default it depends on the size of the core or process */
  int reserved;           /* 0 */
} sframe_options;

typedef struct sframe_process sframe_process;

/* A core file, plain or compressed. NULL if it cannot be opened or walked: SFRAME_INVALID, with a message.
   `options` may be NULL. */
sframe_process* sframe_open_core(const char* path, const sframe_options* options, sframe_error* error);

/* A live process. Does not stop it: call sframe_stop() before walks. `options` may be NULL. */
sframe_process* sframe_attach(int pid, const sframe_options* options, sframe_error* error);

/* The process that this code runs in, to name its addresses, such as those of sframe_here(): it has modules
   and memory, and no threads to walk. sframe_stop() reads its list of mappings again, after dlopen() and
   dlclose(), and stops nothing. `options` may be NULL. Not for signal handlers. */
sframe_process* sframe_open_own(const sframe_options* options, sframe_error* error);

/* Stops all threads of a live process and reads its mappings; sframe_resume() resumes them. No effect for
   cores and callbacks (SFRAME_OK). */
sframe_status sframe_stop(sframe_process* process, sframe_error* error);
void sframe_resume(sframe_process* process);

/* Resumes the process and frees everything. NULL is allowed. */
void sframe_close(sframe_process* process);

/* The ABI of the process. Static. */
const char* sframe_abi(const sframe_process* process);

typedef struct sframe_process_info {
  size_t size;
  uint32_t pid;
  int32_t signal;   /* that ended the process; 0 if none did, or unknown */
  const char* name; /* of the program, at most 15 bytes; valid until sframe_close() */
} sframe_process_info;

/* For callbacks, 0 and "". Constant cost. */
sframe_status sframe_get_process_info(const sframe_process* process, sframe_process_info* info);

typedef struct sframe_thread {
  size_t size;
  uint32_t tid;
  int32_t signal;   /* being delivered, or 0 */
  const char* name; /* valid until the next sframe_stop() or sframe_close() */
} sframe_thread;

/* For a core, the first thread is the one that died. Callbacks have one thread, number 0. */
size_t sframe_num_threads(const sframe_process* process);
/* SFRAME_INVALID if there is no such thread. */
sframe_status sframe_get_thread(const sframe_process* process, size_t number, sframe_thread* thread);

/* --- Walks --- */

/* The number of registers that a frame has room for: AMD64 uses 17, AArch64 and s390x 32. The last one is
   AArch64's VG (DWARF number 46, the length of scalable vectors in units of 64 bits), of cores and live
   processes that have it. */
#define SFRAME_NUM_REGISTERS 34

/* `registers` are the last members: a program that does not need them may set a size without them. */
typedef struct sframe_frame {
  size_t size;
  uint32_t number; /* 0: the innermost one */
  int pc_exact; /* the pc is the next instruction to run; else it is a return address, and the call is before
                   it */
  int signal_frame; /* a signal trampoline */
  int has_cfa;      /* whether `cfa` is known */
  int heuristic;    /* found by a heuristic */
  int reserved;     /* 0 */
  uint64_t pc;
  uint64_t lookup_pc; /* an address in the instruction at which the frame is: for lookups */
  uint64_t cfa;
  const char* found_by;     /* "context", "sframe", "cfi", "procedure", ...; static */
  uint64_t known_registers; /* bit N: registers[N] is known */
  uint64_t registers[SFRAME_NUM_REGISTERS];
} sframe_frame;

typedef struct sframe_end {
  size_t size;
  int complete; /* the last frame is the outermost one, and this is certain */
  sframe_reason why;
  char reason[128]; /* the same as text, with details */
} sframe_end;

/* Receives a frame, which is valid during the call; any result but 0 ends the walk. */
typedef int (*sframe_frame_callback)(const sframe_frame* frame, void* data);

/* Walks from the innermost frame. `end` may be NULL. Fails if there is no such thread or its registers cannot
   be read; an incomplete walk is not a failure. Linear in the number of frames, at most 100,000. */
sframe_status sframe_walk(sframe_process* process, size_t thread, sframe_frame_callback callback, void* data,
                          sframe_end* end, sframe_error* error);

/* The same into an array: the innermost frames, as many as fit. `count` is set to their number.
   frames[0].size is the size of an element. */
sframe_status sframe_walk_into(sframe_process* process, size_t thread, sframe_frame* frames, size_t capacity,
                               size_t* count, sframe_end* end, sframe_error* error);

/* The name of a frame's function, demangled, and the offset of the pc (optional). SFRAME_NO_MEMORY if the
   name was truncated (it is still zero-terminated), SFRAME_NO_INFO if there is none. */
sframe_status sframe_function_name(sframe_process* process, const sframe_frame* frame, char* buffer,
                                   size_t size, uint64_t* offset);

/* Makes a frame of an address, for the functions that name one: sframe_function_name(),
   sframe_source_lines(), and sframe_find_module() with its lookup_pc. A return address is after the call that
   the names are of; not so the pc of an interrupted instruction. SFRAME_INVALID if frame->size is invalid. */
sframe_status sframe_frame_at(uint64_t address, int is_return_address, sframe_frame* frame);

typedef struct sframe_source_line {
  size_t size;
  const char* function; /* of an inlined call: the function called, demangled, "" if unknown; else NULL */
  const char* file;     /* with its directory, as given to the compiler */
  uint32_t line;
  uint32_t reserved; /* 0 */
} sframe_source_line;

/* Receives a source line, whose text is valid during the call; any result but 0 ends the iteration, whose
   status then is SFRAME_STOP. */
typedef int (*sframe_source_callback)(const sframe_source_line* line, void* data);

/* The source of a frame: inlined calls, innermost first, then the line in the frame's function. From DWARF of
   the module or its separate debug file, which is read at the first call for a module and kept.
   SFRAME_NO_INFO if unknown; always for callbacks. */
sframe_status sframe_source_lines(sframe_process* process, const sframe_frame* frame,
                                  sframe_source_callback callback, void* data);

/* --- Registers --- */

/* The number of the pc, which has no DWARF number. */
#define SFRAME_PC 0xffff

/* A register of a frame, by its DWARF number or SFRAME_PC. SFRAME_BAD_REGISTER if it is unknown. */
sframe_status sframe_frame_register(const sframe_frame* frame, uint16_t reg, uint64_t* value);

/* The number of a register by its name: "rsp", "x29", "r15", "pc". SFRAME_BAD_REGISTER if the ABI has none of
   that name. */
sframe_status sframe_register_number(const char* abi, const char* name, uint16_t* reg);

/* The name of a register; NULL if there is none. Static. */
const char* sframe_register_name(const char* abi, uint16_t reg);

/* --- Modules and memory --- */

/* An ELF image mapped into the process, or code that the process generated and registered. */
typedef struct sframe_module {
  size_t size;
  uint64_t start, end;     /* of its mappings */
  uint64_t bias;           /* to subtract to get addresses of the file */
  const char* path;        /* "[vdso]"; "" if unknown */
  const uint8_t* build_id; /* NULL if there is none */
  size_t build_id_size;    /* bytes */
  const char* problem;     /* why the file cannot be used, one line; else NULL */
  int is_main;             /* the executable */
  int is_generated;
} sframe_module;

/* The modules of a core, by address, or those that a live process had mapped at the last sframe_stop(). Opens
   their files if the process's memory does not have a build ID or bias. SFRAME_INVALID if there is no such
   module. Text and build IDs are valid until sframe_close(). */
size_t sframe_num_modules(sframe_process* process);
sframe_status sframe_get_module(sframe_process* process, size_t number, sframe_module* module);

/* The module at an address, such as a frame's lookup_pc. SFRAME_NO_INFO if there is none; always for
   callbacks. */
sframe_status sframe_find_module(sframe_process* process, uint64_t address, sframe_module* module);

/* Copies memory of the process, from files that are mapped too. `count` is set to the number of bytes that
   could be read: SFRAME_UNREADABLE if it is less than `size`. Words are in the byte order of the ABI.
   SFRAME_INVALID for a live process that is not stopped. */
sframe_status sframe_read_memory(sframe_process* process, uint64_t address, void* buffer, size_t size,
                                 size_t* count);

/* --- Targets through callbacks --- */

/* A search table as in .eh_frame_hdr, in the target's memory: pairs of 4-byte integers. */
typedef struct sframe_table {
  size_t size;      /* set by the library */
  uint64_t address; /* of the first pair */
  uint64_t length;  /* bytes */
  uint64_t base;    /* the address of .eh_frame_hdr: the integers are relative to it */
} sframe_table;

/* The user's access to a target. Words are in the host's byte order. The number of the pc is SFRAME_PC.
   `data` is that of sframe_open_callbacks(). For a NULL callback the result is SFRAME_NO_INFO, or
   SFRAME_INVALID if it is required. */
typedef struct sframe_callbacks {
  size_t size;
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

/* The callbacks are copied. */
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
