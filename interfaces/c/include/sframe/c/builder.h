/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writing SFrame sections, and converting them to another version or byte order.
 *
 *   sframe_builder* builder = sframe_builder_make(&options, &error);
 *   sframe_builder_add(builder, &function, rows, num_rows, &error);
 *   sframe_builder_finish(builder, address, &bytes, &size, &error);
 *   ... sframe_free(bytes);
 *   sframe_builder_free(builder);
 *
 * A function that the version cannot represent gives SFRAME_REFUSED with the reason: nothing is dropped or
 * altered silently.
 * Each row gets the smallest encoding; the bytes do not depend on the order of additions.
 */
#ifndef SFRAME_C_BUILDER_H
#define SFRAME_C_BUILDER_H

#include "sframe/c/section.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All members but `size` and `abi` may be 0. */
typedef struct sframe_build_options {
  size_t size;
  const char* abi;          /* for sframe_convert() it may be NULL */
  const void* aux_header;   /* copied unchanged */
  uint32_t aux_header_size; /* at most 255 bytes */
  uint32_t version;         /* 1, 2 or 3; 0: 3 */
  sframe_byte_order byte_order;
  int keep_equal_rows;  /* keep a row that is equal to the previous one */
  int merge_functions;  /* merge adjacent functions that have one identical row: a smaller index, but readers
                           see fewer functions */
  int share_rows;       /* functions with identical rows share their bytes. Not for readers that swap the byte
                           order in place: they would swap shared bytes twice */
  int section_relative; /* function starts relative to the section, not to their own field; always so in
                           version 1 */
  int frame_pointer;    /* the flag SFRAME_F_FRAME_POINTER (versions 1 and 2) */
} sframe_build_options;

typedef struct sframe_builder sframe_builder;

/* NULL, with `error`, for an unknown ABI or version, or if memory runs out. To be freed by
   sframe_builder_free(). */
sframe_builder* sframe_builder_make(const sframe_build_options* options, sframe_error* error);

/* NULL is allowed. */
void sframe_builder_free(sframe_builder* builder);

/* Adds a function with its rows, in any order of offsets; without rows, it has no caller throughout (version
   3 only). rows[0].size is the size of an element. If it fails, the builder is unchanged. Linear in the
   number of rows. */
sframe_status sframe_builder_add(sframe_builder* builder, const sframe_function* function,
                                 const sframe_row* rows, size_t num_rows, sframe_error* error);

/* The section for `address`, with its functions sorted. Sets `bytes`, to be freed by sframe_free(), and
   `length`, their number. SFRAME_REFUSED if a function is more than 2 GiB from the section (versions 1 and
   2). More can be added afterwards. N log N in the number of functions. */
sframe_status sframe_builder_finish(sframe_builder* builder, uint64_t address, void** bytes, size_t* length,
                                    sframe_error* error);

/* --- Conversion --- */

/* A function, or a part of one, that the target version cannot represent. */
typedef struct sframe_refusal {
  size_t size;
  uint32_t section;        /* number of the section in the input */
  uint32_t function;       /* number of the function in it */
  uint64_t start;          /* the function's start */
  uint32_t row;            /* number of the row that is the cause; else SFRAME_UNKNOWN */
  uint32_t reserved;       /* 0 */
  const char* reason;      /* a short name: "cfa-rule"; static */
  const char* text;        /* a line; static */
  uint64_t left_out_start; /* the addresses that are left out: all of the function's, or some */
  uint64_t left_out_size;
} sframe_refusal;

/* Receives what is left out of a function; any result but 0 ends the conversion with SFRAME_STOP. */
typedef int (*sframe_refusal_callback)(const sframe_refusal* refusal, void* data);

/* Encodes the functions of one or several sections of one ABI again, as one sorted section at `address`:
   another version, another byte order, sections merged. `callback` receives what the version cannot
   represent, which is left out: rows, or whole functions; if it is NULL, the first of them makes the
   conversion fail with SFRAME_REFUSED. An auxiliary header that all sections share is kept; fixed offsets
   that differ from the ABI's become rules. `bytes` is to be freed by sframe_free(). Linear in the rows, N log
   N in the functions.
 */
sframe_status sframe_convert(const sframe_section* const* sections, size_t count,
                             const sframe_build_options* options, uint64_t address,
                             sframe_refusal_callback callback, void* data, void** bytes, size_t* length,
                             sframe_error* error);

/* Returns 1 if the functions before and after [begin, end) may have one FDE, else 0. The range is between two
   functions; begin == end if they are adjacent. It gets the rules of the code before it, so no code may be
   executed there. */
typedef int (*sframe_join_callback)(uint64_t begin, uint64_t end, void* data);

/* How sframe_optimize() forms FDEs. */
typedef enum sframe_optimize_goal {
  SFRAME_OPTIMIZE_SIZE = 0,    /* a small section: joins neighbours, splits large functions */
  SFRAME_OPTIMIZE_LOOKUP = 1,  /* splits functions with more than max_rows rows, instead of saving space */
  SFRAME_OPTIMIZE_SMALLEST = 2 /* smaller than with SIZE, in twenty times the time: splits at any row */
} sframe_optimize_goal;

/* All members but `size` may be 0. */
typedef struct sframe_optimize_options {
  size_t size;
  sframe_join_callback may_join; /* NULL: only adjacent functions are joined */
  void* data;                    /* for may_join */
  uint32_t max_rows;             /* rows of an FDE that is made from several functions; 0: 40 */
  int goal;                      /* an sframe_optimize_goal */
} sframe_optimize_options;

/* The section with other FDEs, and the same rules at every address: neighbouring functions are joined and
   large ones split where that is smaller. Readers see other functions than there are. The same version, byte
   order and address. Never larger than the section, except for LOOKUP; another call changes nothing. Fails
   for a malformed section. `options` may be NULL. `bytes` is to be freed by sframe_free(). N log N in the
   functions, linear in the rows. */
sframe_status sframe_optimize(const sframe_section* section, const sframe_optimize_options* options,
                              void** bytes, size_t* length, sframe_error* error);

/* The section in the other byte order: same layout, same flags, reversible byte for byte. Fails for a
   malformed section, and if functions' rows overlap without being identical. `bytes` is to be freed by
   sframe_free(). Linear in the section. */
sframe_status sframe_flip(const sframe_section* section, void** bytes, size_t* length, sframe_error* error);

#ifdef __cplusplus
}
#endif

#endif
