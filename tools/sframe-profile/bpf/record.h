/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * What the BPF programs of sframe-profile (record.bpf.c) and its user space share: settings, which are
 * constant when the programs are loaded, and what they write into the ring buffer `records`.
 */
#ifndef SFRAME_PROFILE_RECORD_H
#define SFRAME_PROFILE_RECORD_H

#include <sframe/bpf/stack.h>

enum { RECORD_SEARCHES = 8 }; /* for threads that wait, one of which goes on, and others wait for memory */

struct record_settings {
  __u32 all;          /* all processes but the recorder and its own; else those of the map `targets` */
  __u32 recorder;     /* its process: each record of it could cause the next one */
  __u32 blocked_only; /* of threads off a CPU, those that wait for something */
  __u32 program;      /* that the recorder has started to record it; 0: none */
  __u64 wake_bytes;   /* in the ring buffer, for which the reader is woken at once */
};

/* Values of the map `targets`, by process. */
enum { RECORD_FROM_EXEC = 1, RECORD_NOW };

enum { RECORD_KERNEL_FRAMES = 127 };

enum record_kind {
  RECORD_SAMPLE = 1,
  RECORD_LEFT, /* a thread left its CPU; its RECORD_CAME follows when it is there again */
  RECORD_CAME,
  RECORD_WAITED /* as RECORD_LEFT, of a thread that was off its CPU when the recording began; `time` is that
                   of the record */
};

/* A thread is on a CPU again. */
struct record_came {
  __u32 kind;
  __u32 tid;
  __u64 time; /* CLOCK_MONOTONIC, nanoseconds */
};

/* In the ring buffer, the frames in the kernel follow those of the stack at once: its unused ones are left
   out. After them there may be anything. */
struct record_sample {
  __u32 kind;
  __u32 tid;
  __u64 time;
  __u32 pid, cpu;
  char name[16]; /* of the thread */
  __u64 used;    /* the thread's processor time, in nanoseconds */
  __u32 is_kernel_thread;
  __u32 kernel_frames;
  struct sframe_bpf_stack stack;
  __u64 kernel[RECORD_KERNEL_FRAMES];
};

/* Elements of the map `lost`. */
enum { RECORD_LOST_FULL, RECORD_LOST_BLOCKED, RECORD_LOST_UNREAD, RECORD_NUM_LOST };

#endif
