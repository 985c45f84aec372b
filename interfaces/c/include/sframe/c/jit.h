/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows for code that the program generates: for walks by sframe/c/here.h, sframe-unwind, libgcc's unwinder
 * (C++ exceptions), gdb and perf. Linux on AMD64, AArch64 and s390x.
 *
 *   sframe_jit* jit = sframe_jit_make(SFRAME_JIT_FRAMES, &error);
 *   sframe_jit_rows* rows = sframe_jit_rows_make(&function, rows, num_rows, NULL, 0, &error);
 *   assert(sframe_jit_check(code, rows, NULL, NULL, NULL, NULL) == SFRAME_OK);
 *   sframe_jit_add(jit, code, "fibonacci", rows, &region, &error);
 *   sframe_jit_rows_free(rows);
 *   ...
 *   sframe_jit_remove(jit, &region, &error);  from now on nobody calls it
 *   sframe_jit_collect(jit);                  nobody is in it any more
 *
 * Any number of threads may call the functions at once; not signal handlers. If a function fails, it has
 * changed nothing.
 */
#ifndef SFRAME_C_JIT_H
#define SFRAME_C_JIT_H

#include "sframe/c/section.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The generated code of a program. */
typedef struct sframe_jit sframe_jit;
/* The rows of a piece of code, or of all pieces that have the same code. */
typedef struct sframe_jit_rows sframe_jit_rows;

/* Readers of other projects. sframe_here() and sframe-unwind need none of these. */
enum {
  SFRAME_JIT_FRAMES = 1, /* libgcc's unwinder, by __register_frame() */
  SFRAME_JIT_GDB = 2     /* gdb, by its interface for JIT compilers */
};

/* Code that was added; 0 is none. */
typedef struct sframe_jit_region {
  uint64_t number;
  uint64_t start;
} sframe_jit_region;

/* A register that the code saves, other than FP and RA: for exceptions and debuggers. */
typedef struct sframe_jit_saved {
  size_t size;
  uint32_t from, to;  /* offsets in the code: it is saved at the addresses from `from`, before `to` */
  uint32_t reg;       /* DWARF number */
  int32_t cfa_offset; /* it is at CFA + this */
} sframe_jit_saved;

/* `readers`: a sum of SFRAME_JIT_*. NULL, with `error`, for unknown ones, on other processors, or if memory
   runs out. To be freed by sframe_jit_free(). */
sframe_jit* sframe_jit_make(uint32_t readers, sframe_error* error);

/* Removes all code. NULL is allowed. */
void sframe_jit_free(sframe_jit* jit);

/* Writes a map for perf from now on: perf looks for /tmp/perf-PID.map. At most one for each `jit`. */
sframe_status sframe_jit_write_perf_map(sframe_jit* jit, const char* path, sframe_error* error);

/* Writes a dump for `perf inject --jit` from now on, with the code and its unwinding data: jit-PID.dump. At
   most one for each `jit`. `room`: bytes after the code of each region, from the next multiple of 8 on, that
   never have other code. A perf that uses libunwind finds frames only if it can take these addresses for the
   unwinding data: about 100 bytes, and 4 for each row. */
sframe_status sframe_jit_write_dump(sframe_jit* jit, const char* path, size_t room, sframe_error* error);

/* Registers SFrame sections with the kernel from now on, by system calls that are proposed for Linux
   (sframe_register, sframe_unregister: version 2, May 2026), whose arguments may change. The numbers are
   those of the system calls; 0: those of the system's headers with which this library was built. At most once
   for each `jit`. SFRAME_NO_INFO, and nothing is changed, if there are no numbers or the kernel does not know
   them. */
sframe_status sframe_jit_register_with_kernel(sframe_jit* jit, long register_number, long unregister_number,
                                              sframe_error* error);

/* Encodes rows, in any order of offsets. Of `function`, `length`, `block_size`, `signal_frame` and
   `pauth_key_b` are used. rows[0].size and saved[0].size are the sizes of elements. NULL, with `error`, if
   they do not fit the code. To be freed by sframe_jit_rows_free(), also while code that was added has them.
   Linear in the rows. */
sframe_jit_rows* sframe_jit_rows_make(const sframe_function* function, const sframe_row* rows,
                                      size_t num_rows, const sframe_jit_saved* saved, size_t num_saved,
                                      sframe_error* error);

/* NULL is allowed. */
void sframe_jit_rows_free(sframe_jit_rows* rows);

/* A function that call frame information (DWARF) describes. */
typedef struct sframe_jit_function {
  size_t size;
  uint64_t start;              /* address of the code */
  uint64_t length;             /* bytes of the code */
  const sframe_jit_rows* rows; /* NULL if there are none; `problem` says why */
  const char* problem;         /* NULL if there are rows */
  /* DWARF that is made from the rows (SFRAME_JIT_FRAMES) does for exceptions what the original does. 0 if the
     function has handlers (an LSDA), or saves a register in another way than sframe_jit_saved can represent:
     for such code register the original. */
  int is_fit_for_exceptions;
  uint32_t reserved; /* 0 */
} sframe_jit_function;

/* Receives a function, which is valid until it returns; it may add the rows by sframe_jit_add(). Any result
   but 0 ends the iteration, whose status then is SFRAME_STOP. */
typedef int (*sframe_jit_function_callback)(const sframe_jit_function* function, void* data);

/* Makes rows of the functions of an .eh_frame section: CIEs and FDEs, up to a length of 0 or to `size` bytes,
   in their order. `address` is that of the section's first byte in the process, the base of relative
   addresses. The bytes may be anything: SFRAME_BAD_TABLE, with the offset, if some of them are malformed;
   then nothing is passed to `callback`. Linear in `size`. */
sframe_status sframe_jit_read_eh_frame(const void* eh_frame, size_t size, uint64_t address,
                                       sframe_jit_function_callback callback, void* data,
                                       sframe_error* error);

/* A row that the code contradicts: with the registers and the stack that the code has made, the row gives
   another caller. */
typedef struct sframe_jit_contradiction {
  size_t size;
  uint64_t offset;         /* of the instruction in the code, the first that contradicts this row */
  const sframe_row* row;   /* the row for it */
  const sframe_row* right; /* what the code says instead; NULL if no row can represent it */
} sframe_jit_contradiction;

/* Receives a contradiction, which is valid until it returns. Any result but 0 ends the iteration, whose
   status then is SFRAME_STOP. */
typedef int (*sframe_jit_contradiction_callback)(const sframe_jit_contradiction* contradiction, void* data);

/* Compares the rows with the instructions from `code` on, which are read in this process: before code is
   added, in debug builds. The code is entered by a call at its first byte; with a frame that is already
   there, by the row `entry`, which may be NULL. `callback` may be NULL. SFRAME_BAD_TABLE if the code
   contradicts rows; the error's `offset` then is that of the first contradiction. SFRAME_NO_INFO if no row
   can be confirmed: as SP is loaded from memory, or all rows are outermost. SFRAME_OK: no contradiction, but
   some rows may be undecided. About 1 us for a short function; linear in the code. */
sframe_status sframe_jit_check(const void* code, const sframe_jit_rows* rows, const sframe_row* entry,
                               sframe_jit_contradiction_callback callback, void* data, sframe_error* error);

/* Adds code at `start`; `name` may be NULL. Sets `region`. SFRAME_INVALID if there is other code at some of
   the addresses that has not been removed. Amortised logarithmic in the number of regions. */
sframe_status sframe_jit_add(sframe_jit* jit, const void* start, const char* name,
                             const sframe_jit_rows* rows, sframe_jit_region* region, sframe_error* error);

/* Nobody calls the code any more. Threads may still be in it, or return to it: its rows stay until
   sframe_jit_collect(), or until other code is added at its place. SFRAME_INVALID if it has been removed or
   moved. */
sframe_status sframe_jit_remove(sframe_jit* jit, const sframe_jit_region* region, sframe_error* error);

/* The same for code, removed or not, that no thread is in or will return to: its rows are dropped at once. */
sframe_status sframe_jit_drop(sframe_jit* jit, const sframe_jit_region* region, sframe_error* error);

/* The same code is at `start`, too, where it is called from now on, as which `region` is changed; at the old
   place it is removed. */
sframe_status sframe_jit_move(sframe_jit* jit, sframe_jit_region* region, const void* start,
                              sframe_error* error);

/* The code, of the same size, has other rows. sframe_here() and sframe-unwind find either the old rows or the
   new ones; libgcc's unwinder for a moment none, so no exception may pass the code meanwhile. */
sframe_status sframe_jit_patch(sframe_jit* jit, const sframe_jit_region* region, const sframe_jit_rows* rows,
                               sframe_error* error);

/* No thread is in code that has been removed, or will return to it: its rows are dropped. Returns the number
   of regions. */
size_t sframe_jit_collect(sframe_jit* jit);

#ifdef __cplusplus
}
#endif

#endif
