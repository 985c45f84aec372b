/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * What the BPF side of libsframe-bpf (stack.bpf.h) and user space (tables.h) share: stacks, and the maps. See
 * docs/bpf.md.
 */
#ifndef SFRAME_BPF_STACK_H
#define SFRAME_BPF_STACK_H

#include <sframe/bpf/table.h>

enum {
  SFRAME_BPF_MAX_FRAMES = 127, /* as PERF_MAX_STACK_DEPTH */
  SFRAME_BPF_NUM_REGISTERS = 32,
  SFRAME_BPF_MAX_FILES = 4096,
  SFRAME_BPF_MAX_WINDOWS = 4096,
  SFRAME_BPF_MAX_TABLES = 4096, /* of files and windows */
  SFRAME_BPF_USE_BITS = 30,     /* of nanoseconds: about a second */
  SFRAME_BPF_MAX_SEGMENTS = 4,
  SFRAME_BPF_ENTRY_BYTES = 64, /* code at the entry that has no rows is outermost: ld.so's _start */
};

/* Why a stack ends. The bottom of a stack is OUTERMOST, or ZERO_PC. */
#define SFRAME_BPF_FOR_EACH_END(X)                                                                           \
  X(OUTERMOST, "outermost frame")                                                                            \
  X(CUT, "too many frames")                                                                                  \
  X(PENDING, "table not loaded yet")                                                                         \
  X(NO_TABLE, "no table for the file")                                                                       \
  X(NO_FILE, "code of no file")                                                                              \
  X(NO_MAPPING, "no mapping")                                                                                \
  X(NO_ROW, "no row")                                                                                        \
  X(REGISTER, "register not known")                                                                          \
  X(UNREADABLE, "stack not readable")                                                                        \
  X(NOT_GROWING, "CFA not growing")                                                                          \
  X(ZERO_PC, "return address 0")                                                                             \
  X(NO_REGISTERS, "no user registers")                                                                       \
  X(BUSY, "too many programs on this CPU")                                                                   \
  X(NO_PROGRAM, "the thread ends, or starts a program")
#define SFRAME_BPF_END_AS_ENUM(name, text) SFRAME_BPF_END_##name,
enum sframe_bpf_end {
  SFRAME_BPF_GOES_ON,
  SFRAME_BPF_FOR_EACH_END(SFRAME_BPF_END_AS_ENUM) SFRAME_BPF_NUM_ENDS
};
#undef SFRAME_BPF_END_AS_ENUM

/* A stack, innermost frame first; only the first `depth` addresses are set. */
struct sframe_bpf_stack {
  __u32 depth;
  __u32 end;        /* enum sframe_bpf_end */
  __u64 ticket;     /* of the rest, for sframe_bpf_tables_finish(); 0: there is no more */
  __u64 id;         /* a hash of the process's number, the end and the addresses; 0: finished in user space */
  __u64 guessed[2]; /* a bit for each frame that was found by a frame pointer: SFRAME_BPF_FRAME_POINTERS */
  __u64 pcs[SFRAME_BPF_MAX_FRAMES]; /* each in its instruction: a return address minus 1 */
};

/* A file as the kernel knows it. The inode number alone may have been that of a deleted file. */
struct sframe_bpf_key {
  __u64 file_system; /* where the kernel has it: unique as long as it is mounted */
  __u64 inode;
  __u64 size;
  __u64 generation;
};

/* The `file_system` of the vDSO, which is no file and in all processes; the rest of its key is 0. */
enum { SFRAME_BPF_VDSO = 1 };

/* A process as long as it executes one program. Its number alone may have been that of another one. */
struct sframe_bpf_process {
  __u64 start;    /* when it was started, in nanoseconds of CLOCK_BOOTTIME */
  __u64 programs; /* how many it has executed */
  __u32 pid;
  __u32 reserved;
};

/* Generated code of a process: the addresses with this number in their upper bits, for which there is a
   table; or all of them. */
#define SFRAME_BPF_ALL_WINDOWS (~0ull)
struct sframe_bpf_window {
  struct sframe_bpf_process process;
  __u64 number;
};

/* Executable bytes of a file: at this offset in it, and at this link address. */
struct sframe_bpf_segment {
  __u64 offset, size, address;
};

/*
 * The values of the maps sframe_files (by sframe_bpf_key) and sframe_windows (by sframe_bpf_window) are
 * words: a state in bits 0-7, SFRAME_BPF_ASKED, and from bit 32 on the number of a struct sframe_bpf_code in
 * sframe_codes, which does not change as long as a walk may use it. That for SFRAME_BPF_ALL_WINDOWS has no
 * number.
 */
enum {
  SFRAME_BPF_STATE_PENDING, /* nobody has looked yet */
  SFRAME_BPF_STATE_NONE,    /* there is no table */
  SFRAME_BPF_STATE_NOT_ELF, /* nor can there be one: code in it may be generated code */
  SFRAME_BPF_STATE_READY,
  SFRAME_BPF_ASKED = 0x100 /* for the list of generated code to be read again */
};
#define SFRAME_BPF_STATE(word) ((__u32)(word)&0xff)

/* Code with a table. Those of several files with one build ID are equal but for key and segments. What most
   walks need is in two of its four lines of the cache: the first one and the table. */
struct sframe_bpf_code {
  struct sframe_bpf_key key; /* of a file; of generated code the window's number is `inode` */
  __u32 slot;                /* in the map sframe_tables */
  __u32 serial;              /* not 0, and of no other one before */
  struct sframe_bpf_segment segments[SFRAME_BPF_MAX_SEGMENTS]; /* unused ones have size 0 */
  __u64 entry;
  /* Where the process counts replacements of rows (sframe/jit/list.h), and the number that the table is for;
     0: it does not count them. */
  __u64 counter, replacements;
  __u64 partial; /* another table with more rows will replace this one: a walk that finds none waits */
  __u64 padding[3];
  struct sframe_bpf_table table;
};

enum { SFRAME_BPF_IS_GENERATED = 1, SFRAME_BPF_IS_NEW = 2 };

/* A mapping with code. In the ring buffer sframe_requests: one whose file has no entry yet, or of generated
   code that is not known; and what the iterator sframe_list_mappings writes. */
struct sframe_bpf_mapping {
  struct sframe_bpf_key key; /* of the file; 0 if there is none */
  struct sframe_bpf_process process;
  __u64 start, end; /* of the mapping */
  __u64 offset;     /* of its first byte in the file */
  __u32 flags; /* SFRAME_BPF_IS_GENERATED: a request for all windows of the process; SFRAME_BPF_IS_NEW: nobody
                  else has asked for the file */
  __u32 reserved;
};

/* A frame of a walk: what rules are applied to. */
struct sframe_bpf_cursor {
  __u64 registers[SFRAME_BPF_NUM_REGISTERS]; /* of the innermost frame, by DWARF number */
  __u64 pc, sp, fp;
  __u32 exact; /* the pc is the next instruction, not a return address */
  __u32 innermost;
  __u32 fp_unknown;
  __u32 guesses;  /* SFRAME_BPF_FRAME_POINTERS */
  __u32 ra_known; /* AArch64: a signal interrupted this frame, and x30 is the one that it had */
  __u32 reserved;
};

/* Flags of sframe_stack(). */
enum {
  /* The rest of a stack that ends in code whose table is not loaded yet is left to user space, with a copy of
     the stack: its ticket is set. */
  SFRAME_BPF_DEFER = 1,
  /* Where there is no row, in generated code and in files, the frame pointer may lead to the caller: these
     frames are guessed, and marked. */
  SFRAME_BPF_FRAME_POINTERS = 2
};

enum {
  SFRAME_BPF_COPY_PAGE = 4096,
  SFRAME_BPF_COPY_PAGES = 9, /* 32 KiB and more from SP on */
  SFRAME_BPF_COPY_MAPPINGS = 96
};

/* What user space walks on with: in the ring buffer sframe_deferred. */
struct sframe_bpf_deferred {
  __u64 ticket;
  struct sframe_bpf_cursor at;
  struct sframe_bpf_process
      process; /* of another thread, whose mappings user space lists; else its pid is 0 */
  __u64 first; /* address of the copy */
  __u32 pages; /* of the copy */
  __u32 num_mappings;
  unsigned char copy[SFRAME_BPF_COPY_PAGES * SFRAME_BPF_COPY_PAGE];
  struct sframe_bpf_mapping mappings[SFRAME_BPF_COPY_MAPPINGS]; /* of the process, with code; left out if user
                                                                   space lists them */
};

#endif
