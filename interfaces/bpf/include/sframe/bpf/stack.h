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
  SFRAME_BPF_MAX_FILES = 4096,
  SFRAME_BPF_MAX_SEGMENTS = 4,
  SFRAME_BPF_ENTRY_BYTES = 64, /* code at the entry that has no rows is outermost: ld.so's _start */
};

/* Why a stack ends. Only the first one is the bottom of a stack. */
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
  X(BUSY, "too many programs on this CPU")
#define SFRAME_BPF_END_AS_ENUM(name, text) SFRAME_BPF_END_##name,
enum sframe_bpf_end {
  SFRAME_BPF_GOES_ON,
  SFRAME_BPF_FOR_EACH_END(SFRAME_BPF_END_AS_ENUM) SFRAME_BPF_NUM_ENDS
};
#undef SFRAME_BPF_END_AS_ENUM

/* A stack, innermost frame first; only the first `depth` addresses are set. */
struct sframe_bpf_stack {
  __u32 depth;
  __u32 end;                        /* enum sframe_bpf_end */
  __u64 pcs[SFRAME_BPF_MAX_FRAMES]; /* each in its instruction: a return address minus 1 */
};

/* A file as the kernel knows it. The inode number alone may have been that of a deleted file. */
struct sframe_bpf_key {
  __u64 file_system; /* where the kernel has it: unique as long as it is mounted */
  __u64 inode;
  __u64 size;
  __u64 generation;
};

/* Executable bytes of a file: at this offset in it, and at this link address. */
struct sframe_bpf_segment {
  __u64 offset, size, address;
};

enum { SFRAME_BPF_FILE_PENDING, SFRAME_BPF_FILE_NONE, SFRAME_BPF_FILE_READY };

/* Map sframe_files: by key. Those that several files with one build ID have are equal but for the segments.
 */
struct sframe_bpf_file {
  __u32 state;
  __u32 slot; /* in the map sframe_tables */
  __u64 entry;
  struct sframe_bpf_table table;
  struct sframe_bpf_segment segments[SFRAME_BPF_MAX_SEGMENTS]; /* unused ones have size 0 */
};

/* A mapping with code of a file. In the ring buffer sframe_requests: one whose file has no entry yet; and
   what the iterator sframe_list_mappings writes. */
struct sframe_bpf_mapping {
  struct sframe_bpf_key key;
  __u64 start, end; /* of the mapping */
  __u32 pid;
  __u32 reserved;
};

#endif
