/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The user-space side of libsframe-bpf: loads the tables that BPF programs with stack.bpf.h walk by, when a
 * stack needs them. A file's table is loaded once, for all processes that map it.
 *
 *   if (sframe_bpf_missing(NULL, text, sizeof text)) ... text ...
 *   struct bpf_object* object = bpf_object__open_file("mine.bpf.o", NULL);
 *   bpf_object__load(object);
 *   const sframe_bpf_options options = {.size = sizeof options, .generator = "sframe-gen"};
 *   sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
 *   sframe_bpf_tables_add(tables, 0);                             // what is mapped now
 *   while (...) sframe_bpf_tables_serve(tables, 100);             // what is mapped later
 *
 * Needs the rights to load BPF programs, and to open /proc/PID/map_files (CAP_CHECKPOINT_RESTORE). Not for
 * several threads at once.
 */
#ifndef SFRAME_BPF_TABLES_H
#define SFRAME_BPF_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <sframe/bpf/stack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_object;

typedef struct sframe_bpf_tables sframe_bpf_tables;

typedef struct {
  size_t size;           /* sizeof(sframe_bpf_options) */
  const char* directory; /* tables by build ID, made by sframe-gen -o DIRECTORY/ --emit=bpf-table; or NULL */
  const char* generator; /* sframe-gen, which makes others: a path, or a name in PATH; or NULL */
  uint64_t max_bytes;    /* of all tables in the kernel: what is unused goes; 0 is 256 MiB */
  const char* from;      /* what the generator makes them of (--from); NULL is all: of a large file first what
                            its tables have, which is replaced when code is analysed, too */
  int wait; /* milliseconds that sframe_bpf_tables_add() waits at most: other tables come while it serves; 0:
               until all are loaded */
  int keep; /* 1: tables that are made are written into the directory, for later programs */
  uint64_t keep_bytes; /* of all tables by build ID in the directory: before one more is written there, those
                          that were not used for the longest time are removed; the times of their files are
                          those of their use. 0: no limit */
} sframe_bpf_options;

/* What became of the files that stacks needed, each counted once. */
typedef struct {
  size_t size;     /* sizeof(sframe_bpf_counts) */
  uint64_t tables; /* loaded */
  uint64_t shared; /* files with the build ID of a table that was there */
  uint64_t bytes;  /* of the loaded tables */
  uint64_t rows;
  uint64_t not_elf;      /* no 64-bit ELF file of this machine, or with too many segments */
  uint64_t no_table;     /* none in the directory, and none could be made */
  uint64_t damaged;      /* the table is not valid, or in the directory that of another file */
  uint64_t no_room;      /* max_bytes, or the number of files or tables */
  uint64_t gone;         /* could not be opened: the process has ended; the next stack asks again */
  uint64_t too_many;     /* wait for their tables; the next stack asks again */
  uint64_t regions;      /* of generated code that has rows now */
  uint64_t refused;      /* in each reading of a list: impossible, or more than there is room for */
  uint64_t not_deferred; /* stacks that the BPF program could not hand over: its ring buffer was full */
  uint64_t evicted;      /* tables that were removed for others: no stack had needed them for two seconds */
  uint64_t not_finished; /* stacks that were handed over, but their files were gone, or the memory for copies
                            full */
  uint64_t waiting;      /* files whose tables, or the rest of them, are being made now */
  uint64_t untrusted;    /* in the directory: that another user than this one and root may have written */
  uint64_t kept;         /* tables that were written into the directory */
  uint64_t not_kept;     /* that could not be */
  uint64_t keep_error;   /* errno of the last one of these; EPERM: another user may change the directory */
  uint64_t making_time;  /* nanoseconds of processor time of the generators that have ended */
  uint64_t removed;      /* tables that keep_bytes has removed from the directory */
  uint64_t partial;      /* tables without the rest, which could not be made or loaded: that is counted as
                            no_table, damaged or no_room, too */
} sframe_bpf_counts;

/* How many of the things that stack.bpf.h needs the kernel lacks; `text` has them, in words: "the tree of
   mappings (Linux 6.1)". To be asked before an object is loaded: later there are only the verifier's
   messages. `btf` is a file with the types of another kernel, or NULL. */
int sframe_bpf_missing(const char* btf, char* text, size_t size);

/* Of an object with stack.bpf.h that is loaded, and that must outlive it. NULL with errno: ENOENT if the maps
   are not there. */
sframe_bpf_tables* sframe_bpf_tables_new(struct bpf_object* object, const sframe_bpf_options* options);

/* Loads the tables of all files that are mapped with code by the process, or with 0 by any, and those of
   generated code. Returns the number of files that were new, or -1 with errno. */
int sframe_bpf_tables_add(sframe_bpf_tables* tables, int pid);

/* Loads the tables that stacks asked for; waits up to `timeout` milliseconds for the first one. Returns the
   number of requests, or -1 with errno. */
int sframe_bpf_tables_serve(sframe_bpf_tables* tables, int timeout);

/* For poll(2) with other files: readable when sframe_bpf_tables_serve() has something to do. It is to be
   called once a second in any case. */
int sframe_bpf_tables_fd(const sframe_bpf_tables* tables);

/*
 * Generated code has no file. Its tables are those of the process:
 *
 * - made of the list that libsframe-jit has in the memory of the process (docs/generated-code.md), when a
 * stack is in code that is not known; by sframe_bpf_tables_update_code() at once. A process that walks its
 * own stacks may call that with its own number after it has added code;
 * - or of rows that the caller has: sframe_bpf_tables_set_code().
 *
 * A process may write anything into its memory. Its list is read in bounded time and memory, and wrong rows
 * lead to wrong stacks of this process only.
 */

/* Code of a process: its rows are an SFrame section whose address is that of the code. */
typedef struct {
  uint64_t start, code_size; /* code_size: at most 64 MiB */
  const void* section;
  size_t section_size;
} sframe_bpf_region;

/* Reads the list of the process, and loads, replaces and removes tables. Returns the number of regions that
   have rows now, or -1 with errno: ESRCH if it has ended, ENOSPC if 1,024 others have generated code. */
int sframe_bpf_tables_update_code(sframe_bpf_tables* tables, int pid);

/* These are all regions of the process from now on, and its list is not read. They are copied. Returns the
   same; also EINVAL: two regions overlap, or one is too large. */
int sframe_bpf_tables_set_code(sframe_bpf_tables* tables, int pid, const sframe_bpf_region* regions,
                               size_t count);

/* Removes the tables of the generated code of the process. Its list is read again when a stack needs it. */
void sframe_bpf_tables_remove_code(sframe_bpf_tables* tables, int pid);

/* Walks on where a stack has ended in code whose table was not loaded yet, with SFRAME_BPF_DEFER: returns 1
   if it is not there yet; call it again after sframe_bpf_tables_serve(), for a second, or as long as a table
   takes, with the same stack, which has the frames that are known until then. 0: the stack is finished, its
   ticket is 0, and its end final. -1 with errno. At most 128 MiB of stacks wait, for 30 s. */
int sframe_bpf_tables_finish(sframe_bpf_tables* tables, struct sframe_bpf_stack* stack);

/* Sets the numbers up to counts->size. */
void sframe_bpf_tables_count(const sframe_bpf_tables* tables, sframe_bpf_counts* counts);

/* How many stacks had each end; that of finished ones is the final one. 0, or -1 with errno. */
int sframe_bpf_tables_ends(const sframe_bpf_tables* tables, uint64_t ends[SFRAME_BPF_NUM_ENDS]);

/* "outermost frame"; static. */
const char* sframe_bpf_end_text(unsigned end);

/* The tables stay in the kernel as long as the object. */
void sframe_bpf_tables_free(sframe_bpf_tables* tables);

#ifdef __cplusplus
}
#endif

#endif
