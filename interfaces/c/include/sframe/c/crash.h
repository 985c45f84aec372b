/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Why the process of a core died: what its signal means, which address was accessed and how, the instruction
 * with the values that it used, what the C library said, the command line, and a signature by which equal
 * crashes can be grouped. docs/sframe-unwind.md describes each.
 *
 *   sframe_process* process = sframe_open_core("core", NULL, &error);
 *   sframe_crash* crash = process ? sframe_crash_explain(process, &error) : NULL;
 *   sframe_fault fault = {.size = sizeof fault};
 *   if (crash && sframe_crash_get_fault(crash, SFRAME_FAULT_LAST, &fault) == SFRAME_OK && fault.meaning)
 *     printf("%s: %s\n", fault.signal_name, fault.meaning);
 *   sframe_crash_close(crash);
 *
 * Text is that of the process where it comes from there (arguments, message, names): any bytes but zero.
 */
#ifndef SFRAME_C_CRASH_H
#define SFRAME_C_CRASH_H

#include "sframe/c/walk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sframe_crash sframe_crash;

/* Explains the crash of a core, by a short walk; opens the files of the modules in which the process died.
   NULL with SFRAME_INVALID for live processes and callbacks. A core that no signal has ended is explained,
   too: it has a command line. Names count in the budget of the process. */
sframe_crash* sframe_crash_explain(sframe_process* process, sframe_error* error);

/* Frees everything, and all text that the functions below have returned. NULL is allowed. The process may be
   closed before. */
void sframe_crash_close(sframe_crash* crash);

typedef struct sframe_crash_info {
  size_t size;
  uint32_t tid; /* of the thread that died; 0: no signal has ended the process */
  int has_sender;
  uint32_t sender, sender_user;        /* the process that sent the signal, and its user ID */
  const char* message;                 /* of the C library when it aborted: a failed assertion; else NULL */
  const char* signature;               /* "3:" and 16 hexadecimal digits; NULL without threads */
  const char* const* signature_frames; /* names of functions, innermost first */
  size_t num_signature_frames;
  const char* const* arguments; /* of the command line, the program's name first */
  size_t num_arguments;
  const char* command_line; /* the same, quoted for a shell */
  int arguments_cut;        /* there may be more arguments */
  int reserved;             /* 0 */
} sframe_crash_info;

/* Constant cost. */
sframe_status sframe_crash_get_info(const sframe_crash* crash, sframe_crash_info* info);

typedef enum sframe_access {
  SFRAME_ACCESS_UNKNOWN = 0,
  SFRAME_ACCESS_READ,
  SFRAME_ACCESS_WRITE,
  SFRAME_ACCESS_READ_WRITE,
  SFRAME_ACCESS_EXECUTE
} sframe_access;

/* Which of the faults of a crash. */
typedef enum sframe_fault_kind {
  SFRAME_FAULT_LAST = 0, /* the signal that ended the process */
  SFRAME_FAULT_FIRST     /* the fault before it, whose handler has ended the process */
} sframe_fault_kind;

typedef struct sframe_fault {
  size_t size;
  int32_t signal;          /* Linux's number */
  uint32_t frame;          /* the number of the frame with the fault, as walks count them */
  const char* signal_name; /* "SIGSEGV" */
  int has_code;
  int32_t code;          /* si_code */
  const char* code_name; /* "SEGV_MAPERR"; NULL if unknown */
  const char* meaning;   /* "write to 0x8, not mapped"; NULL if unknown */
  const char* guess;     /* "a null pointer + 0x8"; NULL if there is none */
  sframe_access access;
  int has_address;
  uint64_t address;        /* that was accessed */
  uint64_t pc;             /* of the instruction, if that is known */
  const char* instruction; /* as text, in the ABI's assembler syntax; NULL if unknown */
  size_t num_registers;    /* that the instruction reads */
} sframe_fault;

/* SFRAME_NO_INFO if there is no such fault. Constant cost. */
sframe_status sframe_crash_get_fault(const sframe_crash* crash, sframe_fault_kind kind, sframe_fault* fault);

/* A register that the instruction of a fault reads, before it is executed. `name` is static. SFRAME_INVALID
   if `number` is not below num_registers. */
sframe_status sframe_crash_get_register(const sframe_crash* crash, sframe_fault_kind kind, size_t number,
                                        const char** name, uint64_t* value);

#ifdef __cplusplus
}
#endif

#endif
