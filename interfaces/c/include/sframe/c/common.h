/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Statuses, errors and the rules for arguments of the C interface. The other headers include this one.
 *
 * Structs: each struct starts with its size, which the caller sets, so that programs and libraries of
 * different releases work together:
 *
 *   sframe_error error = {.size = sizeof error};
 *
 * The library fills at most that many bytes, and takes members after them as 0. A struct that is smaller than
 * in the first release, or has members that this library does not know and that are not 0, is SFRAME_INVALID.
 * Two structs may be smaller: sframe_error may end before `function`, sframe_frame before `known_registers`.
 * In an array, the size of the first element is that of all. sframe_rule, a value of 8 bytes, never changes.
 *
 * NULL: pointers that are not described as optional are required. For a NULL one the status is
 * SFRAME_INVALID; functions without a status do nothing, or return NULL or 0.
 *
 * Errors: each call reports its own; there is no state of the program or thread. A function that returns a
 * pointer returns NULL and fills in the error. If memory runs out, the status is SFRAME_NO_MEMORY, and what
 * was opened remains usable. No C++ exception leaves the library, and none may leave a callback.
 *
 * Threads: sections, files and indexes are read-only, so any number of threads may use one. A builder or
 * process is for one thread at a time; different ones are independent.
 *
 * Numbers: addresses are those of the target, sizes and offsets are bytes, integers are in the host's byte
 * order, and registers have the DWARF numbers of the ABI. An ABI is a name: "amd64", "aarch64",
 * "aarch64_be", "s390x". Text is zero-terminated UTF-8, as far as it comes from the library itself; paths and
 * symbols are bytes.
 */
#ifndef SFRAME_C_COMMON_H
#define SFRAME_C_COMMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a function. Callbacks may return SFRAME_STOP to SFRAME_NO_INFO, too. */
typedef enum sframe_status {
  SFRAME_OK = 0,
  SFRAME_UNSPECIFIED,  /* any other error */
  SFRAME_NO_MEMORY,    /* out of memory, or a buffer is too small */
  SFRAME_BAD_REGISTER, /* no such register, or its value is unknown */
  SFRAME_READ_ONLY,    /* the register cannot be written */
  SFRAME_STOP,         /* the callback requested the end */
  SFRAME_BAD_ADDRESS,  /* the pc is not in code */
  SFRAME_BAD_FRAME,    /* the caller is the frame itself, or below it on the stack */
  SFRAME_INVALID,      /* unsupported operation, or a bad value */
  SFRAME_BAD_TABLE,    /* invalid unwind information, or a malformed section */
  SFRAME_NO_INFO,      /* no unwind information, no row, or no name */
  SFRAME_REFUSED,      /* the version of the format cannot represent it */
  SFRAME_UNREADABLE    /* memory, or the file given to sframe_file_open(), cannot be read */
} sframe_status;

/* The status as text. Static. */
const char* sframe_status_text(sframe_status status);

/* The value of a number in sframe_error that is not known. */
#define SFRAME_UNKNOWN UINT32_MAX

/* Filled in by functions that fail, and unchanged by those that succeed. Optional everywhere. */
typedef struct sframe_error {
  size_t size;
  sframe_status status;
  char message[256]; /* one line, truncated if too long */
  uint32_t function; /* number of the function in the section, if one is wrong; else SFRAME_UNKNOWN */
  uint32_t row;      /* number of the row in the function, likewise */
  uint64_t offset;   /* bytes from the start of the section; for SFRAME_BAD_TABLE only */
} sframe_error;

/* Why a walk ended. */
typedef enum sframe_reason {
  SFRAME_REASON_NONE = 0,
  SFRAME_REASON_BOTTOM,            /* the outermost frame: there is no caller */
  SFRAME_REASON_ZERO_PC,           /* the return address is 0 */
  SFRAME_REASON_FRAME_LIMIT,       /* the requested number of frames is reached */
  SFRAME_REASON_INTERRUPTED,       /* the callback requested the end */
  SFRAME_REASON_NO_RULE,           /* nothing covers the pc */
  SFRAME_REASON_NOT_CODE,          /* the pc is not in an executable mapping */
  SFRAME_REASON_UNREADABLE_MEMORY, /* a required word cannot be read */
  SFRAME_REASON_UNKNOWN_REGISTER,  /* a required register is unknown */
  SFRAME_REASON_BAD_TABLE,         /* the table is invalid */
  SFRAME_REASON_LOOP,              /* the caller is the frame itself */
  SFRAME_REASON_FRAMES_MISSING,    /* the outermost frame, but some frames may be missing */
  SFRAME_REASON_CFA_NOT_GROWING,   /* the caller's frame is below this one */
  SFRAME_REASON_BUDGET,            /* the limit on the cost of the input is reached */
  SFRAME_REASON_OTHER_MODE         /* 32-bit code of a 64-bit process */
} sframe_reason;

/* The reason as text. Static. */
const char* sframe_reason_text(sframe_reason reason);

/* Frees what the library allocated for the caller: the bytes made by sframe_builder_finish(),
   sframe_convert(), sframe_optimize() and sframe_flip(). NULL is allowed. */
void sframe_free(void* bytes);

#ifdef __cplusplus
}
#endif

#endif
