/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * What sframe_stacks.c writes into BPF maps and sframe_stacks.bpf.c reads there, and the stacks that come
 * back. docs/bpf.md explains the layout.
 */
#ifndef SFRAME_STACKS_LAYOUT_H
#define SFRAME_STACKS_LAYOUT_H

#include <linux/types.h>

enum {
  MAX_FRAMES = 127,    /* as PERF_MAX_STACK_DEPTH */
  MAX_MAPPINGS = 4096, /* a power of 2 */
  MAX_RULES = 1 << 16,
  NUM_REGISTERS = 32,
};

/* Map `mappings`: the executable images of the process, by address. The map has room for two lists, of which
   `control` names the current one. */
struct mapping {
  __u64 start, end;  /* addresses in the process */
  __u64 base;        /* the address from which its rows' starts count */
  __u32 first;       /* its first bucket */
  __u32 num_buckets; /* 0 if the image has no section */
  __u32 shift;       /* a bucket is for 1 << shift bytes */
  __u32 reserved;
};

/* Map `control`, one entry: the current list of mappings, in one word so that it changes as a whole. The
   number of its first entry is in the upper half, that of its entries in the lower one. */
struct control {
  __u64 list;
};

/* Map `rows`: for each image one after the other, sorted by start. */
struct row {
  __u32 start; /* first address, from the image's base; the last one is that of the next row */
  __u32 rule;  /* its number in the map `rules` */
};

/* Map `buckets`: for each image one after the other. Where the search for an address begins: fewer cache
   misses than a search in all rows. */
struct bucket {
  __u32 first, count; /* the row for the bucket's first address, and those up to its last one */
};

/* How one value of the caller is found; see sframe_rule of sframe/c/section.h. */
enum {
  VALUE_UNKNOWN,
  VALUE_SAME,
  VALUE_SUM /* base + offset */,
  VALUE_STORED /* the word at base + offset */
};
enum { BASE_CFA = 0xff }; /* any other is a DWARF register number */
struct value {
  __u8 kind, base;
  __u16 reserved;
  __s32 offset;
};

/* Map `rules`: distinct rules of all images. Number 0 is RULE_NONE: no information. */
enum { RULE_NONE, RULE_ROW, RULE_OUTERMOST };
struct rule {
  __u8 kind;
  __u8 signal_frame; /* the caller was interrupted: its pc is exact */
  __u8 ra_signed;    /* AArch64: the return address has an authentication code */
  __u8 reserved[5];
  struct value cfa, ra, fp;
};

/* Why a walk ended. */
#define FOR_EACH_END(X)                                                                                      \
  X(END_OUTERMOST, "outermost frame")                                                                        \
  X(END_ZERO_PC, "return address 0")                                                                         \
  X(END_NO_MAPPING, "no known mapping")                                                                      \
  X(END_NO_TABLE, "no section")                                                                              \
  X(END_NO_ROW, "no row")                                                                                    \
  X(END_UNREADABLE, "stack not readable")                                                                    \
  X(END_REGISTER, "register not known")                                                                      \
  X(END_NOT_GROWING, "CFA not growing")                                                                      \
  X(END_LIMIT, "too many frames")
#define AS_ENUM(name, text) name,
enum end { FOR_EACH_END(AS_ENUM) NUM_ENDS };
#undef AS_ENUM

/* A sample in the ring buffer `stacks`; only the first `depth` addresses. */
struct stack {
  __u32 tid, depth;
  __u32 end; /* enum end */
  __u32 reserved;
  __u64 pcs[MAX_FRAMES]; /* innermost first; each in its instruction: a return address minus 1 */
};

/* Map `counters`, one 64-bit word each. */
enum { COUNT_SAMPLES, COUNT_NO_REGISTERS, COUNT_DROPPED, NUM_COUNTERS };

#endif
