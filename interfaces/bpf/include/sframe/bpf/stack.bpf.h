/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * User stacks in BPF programs, by the rows of SFrame or of call frame information: include this file in a BPF
 * program's source, and let tables.h load the tables.
 *
 *   #include <sframe/bpf/stack.bpf.h>
 *
 *   SEC("perf_event") int sample(struct bpf_perf_event_data* event) {
 *     struct sframe_bpf_stack* stack = bpf_ringbuf_reserve(&stacks, sizeof *stack, 0);
 *     if (!stack) return 0;
 *     sframe_stack(event, stack, 0);
 *     bpf_ringbuf_submit(stack, 0);
 *     return 0;
 *   }
 *
 *   clang -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -c mine.bpf.c -o mine.bpf.o
 *
 * Needs Linux 6.1 with its own type information (BTF), and a licence of the program that is compatible with
 * the GPL: the kernel offers bpf_probe_read_user() to no others. Needs no vmlinux.h, and gets along with one
 * if it is included before.
 *
 * Nothing that the walked process does can make it read elsewhere than in the process's own memory, or walk
 * more than SFRAME_BPF_MAX_FRAMES frames: numbers that come from tables or memory are bounded where they are
 * used.
 */
#ifndef SFRAME_BPF_STACK_BPF_H
#define SFRAME_BPF_STACK_BPF_H

#ifndef __VMLINUX_H__
#  include <linux/bpf.h>
#  include <linux/bpf_perf_event.h>
#  include <linux/ptrace.h>
#endif

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include <sframe/bpf/stack.h>

/* What sframe/bpf/cursor.h asks for. */
#define SFRAME_BPF_READ(memory, to, address) bpf_probe_read_user((to), sizeof *(to), (const void*)(address))
/* Makes the compiler forget what it knows of a number. */
#define SFRAME_BPF_KEEP(number) __asm__ volatile("" : "+r"(number))
#include <sframe/bpf/cursor.h>

/* The key of a window in struct sframe_bpf_code: no file has this generation. */
#define SFRAME_BPF_WINDOW_KEY(key, window)                                                                   \
  ((key)->file_system = (window)->process.start, (key)->inode = (window)->number,                            \
   (key)->size = (window)->process.programs, (key)->generation = 1ull << 63 | (window)->process.pid)

enum {
  SFRAME_BPF_NUM_WALKS = 4,
  SFRAME_BPF_NUM_FOUND = 1024, /* a power of 2 */
  SFRAME_BPF_NODE_WORDS = 16,  /* the parent and the pivots */
};

#if defined(__TARGET_ARCH_x86)
enum { SFRAME_BPF_PAGE_BITS = 12 };
#else
/* Kernels for AArch64 have pages of 4, 16 or 64 KiB, which no type tells: tables.h sets it. */
volatile __u32 sframe_bpf_page_bits SEC(".data.sframe") = 12;
#  define SFRAME_BPF_PAGE_BITS (sframe_bpf_page_bits & 31)
#endif

/* The body of a function that takes an element of an array, whose first word is `busy`, or returns 0: one
   program may interrupt another one, or wait. */
#define SFRAME_BPF_TAKE_UNUSED(type, map, count)                                                             \
  for (__u32 i = 0; i < (count); ++i) {                                                                      \
    const __u32 number = i;                                                                                  \
    type* const one = bpf_map_lookup_elem(&(map), &number);                                                  \
    if (one && __sync_val_compare_and_swap(&one->busy, 0, 1) == 0) return one;                               \
  }                                                                                                          \
  return 0

/* --- Maps --- */

struct sframe_bpf_words_map {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u64));
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, SFRAME_BPF_MAX_TABLES);
  __uint(key_size, sizeof(__u32));
  __uint(value_size, sizeof(__u32));
  __array(values, struct sframe_bpf_words_map);
} sframe_tables SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SFRAME_BPF_MAX_FILES);
  __type(key, struct sframe_bpf_key);
  __type(value, __u64);
} sframe_files SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SFRAME_BPF_MAX_WINDOWS);
  __type(key, struct sframe_bpf_window);
  __type(value, __u64);
} sframe_windows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE); /* for its alignment: an element is four lines of the cache */
  __uint(max_entries, SFRAME_BPF_MAX_TABLES);
  __type(key, __u32);
  __type(value, struct sframe_bpf_code);
} sframe_codes SEC(".maps");

/* When each of sframe_codes was last found, in units of SFRAME_BPF_USE_BITS of the monotonic time. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SFRAME_BPF_MAX_TABLES);
  __type(key, __u32);
  __type(value, __u64);
} sframe_uses SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 16);
} sframe_requests SEC(".maps");

/* How many stacks had each end. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SFRAME_BPF_NUM_ENDS);
  __type(key, __u32);
  __type(value, __u64);
} sframe_counts SEC(".maps");

/* Code that was found. */
struct sframe_bpf_place {
  __u64 start, end; /* addresses, */
  __u64 link;       /* what to add to them for link addresses, */
  __u32 number;     /* of the struct sframe_bpf_code, */
  __u32 code_end;   /* enum sframe_bpf_end: why there is none */
  __u32 generated;
  __u32 reserved;
};

#if defined(__TARGET_ARCH_x86)
typedef struct pt_regs sframe_bpf_pt_regs;
#else
typedef struct user_pt_regs sframe_bpf_pt_regs;
#endif

/* A walk's state, too large for a program's own 512 bytes. A program may be interrupted by another one on its
   CPU, so there are several, each of which is taken by its flag. */
struct sframe_bpf_walk {
  __u64 busy;
  struct sframe_bpf_place place, before; /* of the code that was found last, and of that before it */
  __u64 hash;                            /* of the stack */
  __u64 first;                           /* of the walks on this CPU: the others interrupt it */
  struct sframe_bpf_cursor at;
  struct sframe_bpf_mapping mapping; /* to ask for what is not known, */
  struct sframe_bpf_window window;   /* and where generated code is */
  __u64 node[SFRAME_BPF_NODE_WORDS]; /* of the kernel's tree of mappings */
  __u64 upper;                       /* the last address for which it has the same answer */
  __u64 next; /* where a list of mappings goes on. Not on the stack: verifiers before Linux 6.7 take the value
                 there in the first call of a loop's function for that of all calls */
  sframe_bpf_pt_regs saved; /* by the kernel's entry: too large for the stack */
  struct sframe_bpf_search search;
  struct sframe_bpf_rule rule; /* of the current frame */
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SFRAME_BPF_NUM_WALKS);
  __type(key, __u32);
  __type(value, struct sframe_bpf_walk);
} sframe_walks SEC(".maps");

/* Rules that were found before, by code and address: most stacks are much like the ones before, and all other
   memory that a lookup needs is not in the processor's caches. */
struct sframe_bpf_found {
  __u64 tag; /* serial number of the code, and offset from the table's base; 0: none */
  __u64 word;
};
#define SFRAME_BPF_PLACE(tag) (((tag)*0x9e3779b97f4a7c15ull >> 40) & (SFRAME_BPF_NUM_FOUND - 1))
struct sframe_bpf_found_rules {
  struct sframe_bpf_found rules[SFRAME_BPF_NUM_FOUND];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct sframe_bpf_found_rules);
} sframe_found SEC(".maps");

#ifdef SFRAME_BPF_DEFERRED_BYTES
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, SFRAME_BPF_DEFERRED_BYTES);
} sframe_deferred SEC(".maps");

/* Stacks that were not handed over: no room. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} sframe_not_deferred SEC(".maps");
#endif

#ifdef SFRAME_BPF_TASKS
/* What is handed over of other threads' stacks, and the state of that. Not for each CPU: a program that reads
   the memory of another process may have to wait for it; so it also holds nothing of a ring buffer. */
struct sframe_bpf_task_walk {
  __u64 busy;
  struct sframe_bpf_walk walk;
  struct sframe_bpf_deferred deferred;
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, SFRAME_BPF_TASKS);
  __type(key, __u32);
  __type(value, struct sframe_bpf_task_walk);
} sframe_task_walks SEC(".maps");
#endif

#ifdef SFRAME_BPF_STACK_IDS
/* Stacks by their ids. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, SFRAME_BPF_STACK_IDS);
  __type(key, __u64);
  __type(value, struct sframe_bpf_stack);
} sframe_stacks SEC(".maps");

/* Where they are walked: as sframe_walks. */
struct sframe_bpf_new_stack {
  __u64 busy;
  struct sframe_bpf_stack stack;
};
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SFRAME_BPF_NUM_WALKS);
  __type(key, __u32);
  __type(value, struct sframe_bpf_new_stack);
} sframe_new_stacks SEC(".maps");
#endif

/* --- The kernel's own structures --- */

#define SFRAME_BPF_KERNEL __attribute__((preserve_access_index))
/* As they are named in this file: the part after ___ is not compared. */
struct inode___sframe {
  unsigned long i_ino;
  __s64 i_size;
  __u32 i_generation;
  void* i_sb;
} SFRAME_BPF_KERNEL;
struct file___sframe {
  struct inode___sframe* f_inode;
} SFRAME_BPF_KERNEL;
struct vm_area_struct___sframe {
  unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
  struct file___sframe* vm_file;
} SFRAME_BPF_KERNEL;
struct maple_tree___sframe {
  void* ma_root;
} SFRAME_BPF_KERNEL;
struct mm_struct___sframe {
  struct maple_tree___sframe mm_mt;
  struct {
    void* vdso;
  } context;
  unsigned long start_code;
} SFRAME_BPF_KERNEL;
struct task_struct___sframe {
  struct mm_struct___sframe* mm;
  struct task_struct___sframe* group_leader;
  __u64 start_boottime, self_exec_id;
  unsigned long nvcsw, nivcsw;
  int tgid;
  int on_cpu;
  unsigned flags;
} SFRAME_BPF_KERNEL;

/* The key of what is mapped; 0 if it has none. */
SFRAME_BPF_INLINE int sframe_bpf_read_key(struct task_struct___sframe* task,
                                          struct vm_area_struct___sframe* vma, struct sframe_bpf_key* key) {
  struct file___sframe* const file = BPF_CORE_READ(vma, vm_file);
  if (!file && (__u64)BPF_CORE_READ(task, mm, context.vdso) == BPF_CORE_READ(vma, vm_start)) {
    key->file_system = SFRAME_BPF_VDSO;
    key->inode = key->size = key->generation = 0;
    return 1;
  }
  if (!file) return 0;
  struct inode___sframe* const inode = BPF_CORE_READ(file, f_inode);
  if (!inode) return 0;
  key->inode = BPF_CORE_READ(inode, i_ino);
  key->size = (__u64)BPF_CORE_READ(inode, i_size);
  key->generation = BPF_CORE_READ(inode, i_generation);
  key->file_system = (__u64)BPF_CORE_READ(inode, i_sb);
  return 1;
}

/* In its file, where the mapping starts. */
SFRAME_BPF_INLINE __u64 sframe_bpf_read_offset(struct vm_area_struct___sframe* vma) {
  return (__u64)BPF_CORE_READ(vma, vm_pgoff) << SFRAME_BPF_PAGE_BITS;
}

SFRAME_BPF_INLINE void sframe_bpf_read_process(struct task_struct___sframe* task,
                                               struct sframe_bpf_process* process) {
  process->start = BPF_CORE_READ(task, group_leader, start_boottime);
  process->programs = BPF_CORE_READ(task, group_leader, self_exec_id);
  process->pid = (__u32)BPF_CORE_READ(task, tgid);
  process->reserved = 0;
}

/*
 * The mapping with the address, from the maple tree of the process (Linux 6.1), without a lock:
 * bpf_find_vma() works only once in a handler of interrupts. The tree is changed by replacing nodes, which
 * are freed when no BPF program can have them; what a race can do is a mapping that was there a moment ago.
 *
 * A node has 256 bytes; its address, the tree's root or a slot of another node, has its type in bits 3 to 6.
 * After the parent come 15 pivots and 16 slots, or 9 and 10 in nodes that know the gaps below them. Slot i is
 * for addresses up to pivot i.
 */
SFRAME_BPF_INLINE struct vm_area_struct___sframe* sframe_bpf_find_vma(struct sframe_bpf_walk* walk,
                                                                      __u64 address) {
  struct task_struct___sframe* const task = (void*)bpf_get_current_task_btf();
  struct mm_struct___sframe* const mm = task->mm;
  walk->upper = ~0ull;
  if (!mm) return 0;
  __u64 entry = (__u64)mm->mm_mt.ma_root;
  if ((entry & 3) != 2) return 0; /* no node: a process without mappings, or with one */
  for (int level = 0; level < 10; ++level) {
    const __u32 type = entry >> 3 & 15;
    if (entry < 4096 || type < 1 || type > 3) return 0;
    const __u32 pivots = type == 3 ? 9 : 15;
    const __u64 node = entry & ~255ull;
    if (bpf_probe_read_kernel(walk->node, sizeof walk->node, (const void*)node) != 0) return 0;
    __u32 slot = 0;
    for (; slot < 15; ++slot) {
      const __u64 pivot = walk->node[1 + slot];
      if (slot == pivots || (pivot == 0 && slot != 0)) break; /* up to what the node is for */
      if (pivot < address) continue;
      walk->upper = pivot;
      break;
    }
    if (bpf_probe_read_kernel(&entry, sizeof entry, (const void*)(node + 8 * (1 + pivots + slot))) != 0)
      return 0;
    if (type == 1) return (void*)entry;
  }
  return 0;
}

struct bpf_iter_meta___sframe {
  struct seq_file* seq;
} SFRAME_BPF_KERNEL;
struct bpf_iter__task_vma___sframe {
  struct bpf_iter_meta___sframe* meta;
  struct task_struct___sframe* task;
  struct vm_area_struct___sframe* vma;
} SFRAME_BPF_KERNEL;

/* Lists mappings with code, for tables.h: struct sframe_bpf_mapping. */
SEC("iter/task_vma")
int sframe_list_mappings(struct bpf_iter__task_vma___sframe* context) {
  enum { VM_EXECUTABLE = 4 };
  struct vm_area_struct___sframe* const vma = context->vma;
  struct task_struct___sframe* const task = context->task;
  struct sframe_bpf_mapping mapping = {0};
  if (!task || !vma || !(BPF_CORE_READ(vma, vm_flags) & VM_EXECUTABLE)) return 0;
  sframe_bpf_read_key(task, vma, &mapping.key);
  mapping.start = BPF_CORE_READ(vma, vm_start);
  mapping.end = BPF_CORE_READ(vma, vm_end);
  mapping.offset = sframe_bpf_read_offset(vma);
  sframe_bpf_read_process(task, &mapping.process);
  bpf_seq_write(context->meta->seq, &mapping, sizeof mapping);
  return 0;
}

/* --- The walk --- */

#if defined(__TARGET_ARCH_x86)
#  define SFRAME_BPF_IS_USER(from) ((from).cs == 0x33) /* 64-bit: 32-bit programs have other registers */
#  ifdef __VMLINUX_H__
#    define SFRAME_BPF_REGISTER(from, short, long) (from).short
#  else
#    define SFRAME_BPF_REGISTER(from, short, long) (from).long
#  endif
#  define SFRAME_BPF_COPY(to, from)                                                                          \
    do {                                                                                                     \
      __u64* const r = (to)->at.registers;                                                                   \
      r[0] = SFRAME_BPF_REGISTER(from, ax, rax);                                                             \
      r[1] = SFRAME_BPF_REGISTER(from, dx, rdx);                                                             \
      r[2] = SFRAME_BPF_REGISTER(from, cx, rcx);                                                             \
      r[3] = SFRAME_BPF_REGISTER(from, bx, rbx);                                                             \
      r[4] = SFRAME_BPF_REGISTER(from, si, rsi);                                                             \
      r[5] = SFRAME_BPF_REGISTER(from, di, rdi);                                                             \
      r[6] = SFRAME_BPF_REGISTER(from, bp, rbp);                                                             \
      r[7] = SFRAME_BPF_REGISTER(from, sp, rsp);                                                             \
      r[8] = (from).r8;                                                                                      \
      r[9] = (from).r9;                                                                                      \
      r[10] = (from).r10;                                                                                    \
      r[11] = (from).r11;                                                                                    \
      r[12] = (from).r12;                                                                                    \
      r[13] = (from).r13;                                                                                    \
      r[14] = (from).r14;                                                                                    \
      r[15] = (from).r15;                                                                                    \
      (to)->at.pc = SFRAME_BPF_REGISTER(from, ip, rip);                                                      \
    } while (0)
#else
#  define SFRAME_BPF_IS_USER(from) (((from).pstate & 0x1f) == 0) /* EL0, 64-bit */
#  define SFRAME_BPF_COPY(to, from)                                                                          \
    do {                                                                                                     \
      _Pragma("unroll") for (int i = 0; i < 31; ++i)(to)->at.registers[i] = (from).regs[i];                  \
      (to)->at.registers[SFRAME_BPF_SP] = (from).sp;                                                         \
      (to)->at.pc = (from).pc;                                                                               \
    } while (0)
#endif

/* What the kernel's entry saved of a thread: the registers when it was last in user mode. 0 or an end: a
   kernel thread has none; those of a thread that ends, or that has new memory and no program in it yet, are
   of memory that is gone. Not inline: compilers would copy from here and from a program's context by one
   pointer, which verifiers refuse. */
static __attribute__((noinline)) int sframe_bpf_take_saved(struct sframe_bpf_walk* walk,
                                                           struct task_struct___sframe* task) {
  enum { KERNEL_THREAD = 0x200000 }; /* PF_KTHREAD */
  if (!walk || !task) return 0;
  sframe_bpf_pt_regs* const user = &walk->saved;
  if (BPF_CORE_READ(task, flags) & KERNEL_THREAD) return SFRAME_BPF_END_NO_REGISTERS;
  if (!BPF_CORE_READ(task, mm) || BPF_CORE_READ(task, mm, start_code) == 0) return SFRAME_BPF_END_NO_PROGRAM;
  const long saved = bpf_task_pt_regs((void*)task);
  if (bpf_probe_read_kernel(user, sizeof *user, (const void*)saved) != 0 || !SFRAME_BPF_IS_USER(*user))
    return SFRAME_BPF_END_NO_REGISTERS;
  SFRAME_BPF_COPY(walk, *user);
  return 0;
}

/* Asks user space for the table of a file, once. */
static __attribute__((noinline)) int sframe_bpf_request(struct sframe_bpf_walk* walk) {
  const __u64 pending = SFRAME_BPF_STATE_PENDING;
  if (!walk) return 0;
  struct sframe_bpf_mapping* const mapping = &walk->mapping;
  sframe_bpf_read_process((void*)bpf_get_current_task(), &mapping->process);
  mapping->start = walk->place.start;
  mapping->end = walk->place.end;
  mapping->flags = 0;
  if (bpf_map_update_elem(&sframe_files, &mapping->key, &pending, BPF_NOEXIST) != 0) return 0;
  if (bpf_ringbuf_output(&sframe_requests, mapping, sizeof *mapping, 0) != 0)
    bpf_map_delete_elem(&sframe_files, &mapping->key); /* the next one asks again */
  return 1;
}

/* The same for the generated code of the process. */
SFRAME_BPF_INLINE long sframe_bpf_request_list(struct sframe_bpf_walk* walk) {
  walk->mapping.process = walk->window.process;
  walk->mapping.flags = SFRAME_BPF_IS_GENERATED;
  return bpf_ringbuf_output(&sframe_requests, &walk->mapping, sizeof walk->mapping, 0);
}

/* The generated code of the process is not what was read: asks user space to read it again, if that has
   answered the last time. Returns the end: pending only if it is asked now, not for code that never has
   rows. */
static __attribute__((noinline)) int sframe_bpf_ask_again(struct sframe_bpf_walk* walk) {
  if (!walk) return SFRAME_BPF_END_NO_ROW;
  walk->window.number = SFRAME_BPF_ALL_WINDOWS;
  __u64* const word = bpf_map_lookup_elem(&sframe_windows, &walk->window);
  if (!word || *(volatile __u64*)word & SFRAME_BPF_ASKED) return SFRAME_BPF_END_NO_ROW;
  if (__sync_fetch_and_or(word, SFRAME_BPF_ASKED) & SFRAME_BPF_ASKED) return SFRAME_BPF_END_NO_ROW;
  if (sframe_bpf_request_list(walk) == 0) return SFRAME_BPF_END_PENDING;
  __sync_fetch_and_and(word, ~(__u64)SFRAME_BPF_ASKED);
  return SFRAME_BPF_END_PENDING;
}

/* The code with the number in the word; 0 if it is another file's or window's: an entry of a hash may be that
   of another key by now. */
SFRAME_BPF_INLINE const struct sframe_bpf_code* sframe_bpf_code_of(__u64 word,
                                                                   const struct sframe_bpf_key* key) {
  const __u32 number = (__u32)(word >> 32);
  const struct sframe_bpf_code* const code = bpf_map_lookup_elem(&sframe_codes, &number);
  if (!code || code->key.inode != key->inode || code->key.generation != key->generation ||
      code->key.size != key->size || code->key.file_system != key->file_system)
    return 0;
  return code;
}

/* The table of generated code at the address, which is in the mapping [walk->place.start, walk->place.end). 0
 * or an end.
 */
static __attribute__((noinline)) int sframe_bpf_use_generated(struct sframe_bpf_walk* walk, __u64 address) {
  struct sframe_bpf_key key = {0};
  const __u64 pending = SFRAME_BPF_STATE_PENDING;
  if (!walk) return SFRAME_BPF_END_NO_FILE;
  sframe_bpf_read_process((void*)bpf_get_current_task(), &walk->window.process);
  walk->window.number = SFRAME_BPF_ALL_WINDOWS;
  const __u64* word = bpf_map_lookup_elem(&sframe_windows, &walk->window);
  if (!word) {
    if (bpf_map_update_elem(&sframe_windows, &walk->window, &pending, BPF_NOEXIST) != 0)
      return SFRAME_BPF_END_NO_FILE;
    if (sframe_bpf_request_list(walk) != 0) bpf_map_delete_elem(&sframe_windows, &walk->window);
    return SFRAME_BPF_END_PENDING;
  }
  __u32 state = SFRAME_BPF_STATE(*(const volatile __u64*)word);
  if (state == SFRAME_BPF_STATE_PENDING) return SFRAME_BPF_END_PENDING;
  if (state != SFRAME_BPF_STATE_READY) {
    sframe_bpf_ask_again(walk); /* it may have a list by now */
    return SFRAME_BPF_END_NO_FILE;
  }
  walk->place.generated = 1;
  walk->window.number = address >> SFRAME_BPF_WINDOW_BITS;
  word = bpf_map_lookup_elem(&sframe_windows, &walk->window);
  if (!word) return sframe_bpf_ask_again(walk);
  SFRAME_BPF_WINDOW_KEY(&key, &walk->window);
  const __u64 known = *(const volatile __u64*)word;
  const struct sframe_bpf_code* const code = sframe_bpf_code_of(known, &key);
  if (!code) return sframe_bpf_ask_again(walk);
  if (code->counter) {
    __u64 now = 0;
    if (bpf_probe_read_user(&now, sizeof now, (const void*)code->counter) != 0 || now != code->replacements)
      return sframe_bpf_ask_again(walk);
  }
  const __u64 start = walk->window.number << SFRAME_BPF_WINDOW_BITS;
  if (start > walk->place.start) walk->place.start = start;
  if (start + (1ull << SFRAME_BPF_WINDOW_BITS) - 1 < walk->place.end - 1)
    walk->place.end = start + (1ull << SFRAME_BPF_WINDOW_BITS);
  walk->place.link = 0;
  walk->place.number = (__u32)(known >> 32);
  return 0;
}

/* One write in a second, so that CPUs share the line. */
SFRAME_BPF_INLINE void sframe_bpf_note_use(__u32 number) {
  __u64* const use = bpf_map_lookup_elem(&sframe_uses, &number);
  const __u64 now = bpf_ktime_get_ns() >> SFRAME_BPF_USE_BITS;
  if (use && *use != now) *use = now;
}

/* The table of the file with the key walk->mapping.key, for an address at an offset in it. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_use_file(struct sframe_bpf_walk* walk, __u64 address, __u64 offset) {
  const __u64* const word = bpf_map_lookup_elem(&sframe_files, &walk->mapping.key);
  if (!word) {
    walk->mapping.offset = offset - (address - walk->place.start);
    sframe_bpf_request(walk);
    return SFRAME_BPF_END_PENDING;
  }
  const __u64 known = *(const volatile __u64*)word;
  if (SFRAME_BPF_STATE(known) == SFRAME_BPF_STATE_PENDING) return SFRAME_BPF_END_PENDING;
  if (SFRAME_BPF_STATE(known) == SFRAME_BPF_STATE_NOT_ELF) return SFRAME_BPF_END_NO_FILE;
  if (SFRAME_BPF_STATE(known) != SFRAME_BPF_STATE_READY) return SFRAME_BPF_END_NO_TABLE;
  const struct sframe_bpf_code* const code = sframe_bpf_code_of(known, &walk->mapping.key);
  if (!code) return SFRAME_BPF_END_PENDING;
  sframe_bpf_note_use((__u32)(known >> 32));
#pragma unroll
  for (int i = 0; i < SFRAME_BPF_MAX_SEGMENTS; ++i) {
    const struct sframe_bpf_segment* const segment = &code->segments[i];
    if (offset - segment->offset >= segment->size) continue;
    /* Of the mapping, the part that is in the segment. */
    const __u64 start = address - (offset - segment->offset);
    if (start > walk->place.start && start <= address) walk->place.start = start;
    if (start + segment->size < walk->place.end && start + segment->size > address)
      walk->place.end = start + segment->size;
    walk->place.link = segment->address - start;
    walk->place.number = (__u32)(known >> 32);
    return 0;
  }
  return SFRAME_BPF_END_NO_ROW;
}

SFRAME_BPF_INLINE void sframe_bpf_swap(struct sframe_bpf_walk* walk) {
  __u64* const a = (__u64*)&walk->place;
  __u64* const b = (__u64*)&walk->before;
#pragma unroll
  for (unsigned i = 0; i < sizeof walk->place / sizeof *a; ++i) {
    const __u64 word = a[i];
    a[i] = b[i];
    b[i] = word;
  }
}

/* Finds the code at the address, if it is not where the last one was. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_find_code(struct sframe_bpf_walk* walk, __u64 address) {
  struct {
    __u64 start, end;
  } range; /* vm_start and vm_end are neighbours */
  if (address >= walk->place.start && address < walk->place.end) return (int)walk->place.code_end;
  sframe_bpf_swap(walk);
  if (address >= walk->place.start && address < walk->place.end) return (int)walk->place.code_end;
  walk->place.start = walk->place.end = 0;
  walk->place.generated = 0;
  struct vm_area_struct___sframe* const vma = sframe_bpf_find_vma(walk, address);
  if (!vma || bpf_probe_read_kernel(&range, sizeof range, &vma->vm_start) != 0)
    return SFRAME_BPF_END_NO_MAPPING;
  if (address < range.start || address >= range.end) return SFRAME_BPF_END_NO_MAPPING;
  walk->place.start = range.start;
  walk->place.end = range.end;
  walk->place.code_end = SFRAME_BPF_END_NO_FILE;
  if (sframe_bpf_read_key((void*)bpf_get_current_task(), vma, &walk->mapping.key)) {
    const __u64 offset = sframe_bpf_read_offset(vma);
    walk->place.code_end = (__u32)sframe_bpf_use_file(walk, address, address - range.start + offset);
    if (walk->place.code_end == SFRAME_BPF_END_NO_ROW) walk->place.end = 0; /* true of this segment only */
  }
  if (walk->place.code_end == SFRAME_BPF_END_NO_FILE) {
    walk->place.code_end = (__u32)sframe_bpf_use_generated(walk, address);
    if (walk->place.code_end != 0) walk->place.end = 0;
  }
  return (int)walk->place.code_end;
}

/* The rule that the table has at the offset, to walk->rule; keeps it for the next time. 0 or an end. Not
   static: the verifier follows it once, and not in each state of its callers. Its keys are not in `walk`, of
   which it does not know there that it is a map's. */
__attribute__((noinline, weak)) int sframe_bpf_look_up(struct sframe_bpf_walk* walk, __u64 offset) {
  if (!walk) return SFRAME_BPF_END_NO_TABLE;
  const __u32 number = walk->place.number;
  const struct sframe_bpf_code* const code = bpf_map_lookup_elem(&sframe_codes, &number);
  void* const words = code ? bpf_map_lookup_elem(&sframe_tables, &code->slot) : 0;
  if (!words) return SFRAME_BPF_END_PENDING; /* it is on its way into the slot, or out of it */
  const __u64 word = sframe_bpf_rule_word(words, &code->table, offset, &walk->search);
  sframe_bpf_decode_any(words, &code->table, word, &walk->rule);
  if (!walk->first || offset >> 32 || (word & 3) == SFRAME_BPF_WIDE) return 0;
  const __u32 zero = 0;
  struct sframe_bpf_found_rules* const all = bpf_map_lookup_elem(&sframe_found, &zero);
  if (!all) return 0;
  /* A program that interrupts this one sees a whole element, or none. */
  const __u64 tag = offset | (__u64)code->serial << 32;
  struct sframe_bpf_found* const found = &all->rules[SFRAME_BPF_PLACE(tag)];
  *(volatile __u64*)&found->tag = 0;
  *(volatile __u64*)&found->word = word;
  *(volatile __u64*)&found->tag = tag;
  return 0;
}

/* The rule for an address in the code that was found last, to walk->rule. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_find_rule(struct sframe_bpf_walk* walk, __u64 address) {
  const __u32 zero = 0;
  const __u64 link = address + walk->place.link;
  const struct sframe_bpf_code* const code = bpf_map_lookup_elem(&sframe_codes, &walk->place.number);
  const struct sframe_bpf_found_rules* const all = bpf_map_lookup_elem(&sframe_found, &zero);
  if (!code || !all) return SFRAME_BPF_END_NO_TABLE;
  const __u64 offset = link - code->table.base, tag = offset | (__u64)code->serial << 32;
  const struct sframe_bpf_found* const found = &all->rules[SFRAME_BPF_PLACE(tag)];
  if (*(volatile const __u64*)&found->tag == tag && offset >> 32 == 0) {
    sframe_bpf_decode(found->word, &walk->rule);
  } else {
    const int end = sframe_bpf_look_up(walk, offset);
    if (end) return end;
  }
  if (walk->rule.kind != SFRAME_BPF_NONE) return 0;
  if (walk->place.generated) return sframe_bpf_ask_again(walk);
  if (code->partial) return SFRAME_BPF_END_PENDING;
  return link - code->entry < SFRAME_BPF_ENTRY_BYTES ? SFRAME_BPF_END_OUTERMOST : SFRAME_BPF_END_NO_ROW;
}

#define SFRAME_BPF_HASH(hash, word) ((((hash) ^ (word)) * 0x9e3779b97f4a7c15ull) ^ (hash) >> 29)

/* Where there is no row: the caller by the frame pointer, if that is allowed. Returns the end that there is
   otherwise, or 0. */
static __attribute__((noinline)) int sframe_bpf_guess_caller(struct sframe_bpf_walk* walk,
                                                             struct sframe_bpf_stack* stack, int end) {
  if (!walk || !stack || !walk->at.guesses) return end;
  if (end != SFRAME_BPF_END_NO_FILE && end != SFRAME_BPF_END_NO_ROW) return end;
  const __u32 depth = stack->depth;
  if (depth >= SFRAME_BPF_MAX_FRAMES || sframe_bpf_guess(0, &walk->at, end == SFRAME_BPF_END_NO_FILE) != 0)
    return end;
  if (depth < 64)
    stack->guessed[0] |= 1ull << depth;
  else
    stack->guessed[1] |= 1ull << (depth & 63);
  return 0;
}

/* One frame: appends it to the stack, and makes its caller the current one. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_step(struct sframe_bpf_walk* walk, struct sframe_bpf_stack* stack) {
  const __u64 pc = walk->at.pc - !walk->at.exact;
  const __u32 depth = stack->depth;
  if (depth >= SFRAME_BPF_MAX_FRAMES) return SFRAME_BPF_END_CUT;
  int end = sframe_bpf_find_code(walk, pc);
  if (end == SFRAME_BPF_END_NO_MAPPING && depth != 0) return end; /* no code: not a frame */
  stack->pcs[depth] = pc;
  stack->depth = depth + 1;
  walk->hash = SFRAME_BPF_HASH(walk->hash, pc);
  if (!end) end = sframe_bpf_find_rule(walk, pc);
  if (end) return sframe_bpf_guess_caller(walk, stack, end);
  const struct sframe_bpf_rule* const rule = &walk->rule;
  if (rule->signal_frame)
    stack->pcs[depth] = walk->at.pc; /* no call: the kernel put its address on the stack */
  if (rule->kind == SFRAME_BPF_OUTERMOST) return SFRAME_BPF_END_OUTERMOST;

  return sframe_bpf_go_up(0, &walk->at, rule);
}

struct sframe_bpf_both {
  struct sframe_bpf_walk* walk;
  struct sframe_bpf_stack* stack;
};

static long sframe_bpf_next_frame(__u32 index, void* context) {
  const struct sframe_bpf_both* const both = context;
  (void)index;
  const int end = sframe_bpf_step(both->walk, both->stack);
  if (end == 0) return 0;
  both->stack->end = (__u32)end;
  return 1;
}

#ifdef SFRAME_BPF_DEFERRED_BYTES
struct sframe_bpf_listing {
  struct sframe_bpf_walk* walk;
  struct sframe_bpf_deferred* to;
};

/* Appends the mapping with the next address that has one, if it has code, and asks for its file. */
static long sframe_bpf_next_mapping(__u32 index, void* context) {
  enum { VM_EXECUTABLE = 4 };
  struct sframe_bpf_listing* const listing = context;
  struct sframe_bpf_walk* const walk = listing->walk;
  (void)index;
  struct vm_area_struct___sframe* const vma = sframe_bpf_find_vma(walk, walk->next);
  walk->next = walk->upper + 1;
  if (vma && BPF_CORE_READ(vma, vm_flags) & VM_EXECUTABLE) {
    const __u64 pending = SFRAME_BPF_STATE_PENDING;
    struct task_struct___sframe* const task = (void*)bpf_get_current_task();
    __u32 number = listing->to->num_mappings;
    if (number >= SFRAME_BPF_COPY_MAPPINGS) return 1;
    SFRAME_BPF_KEEP(number);
    struct sframe_bpf_mapping* const mapping = &listing->to->mappings[number];
    mapping->flags = 0;
    /* Before Linux 6.2 no key may be in the memory of a ring buffer. */
    struct sframe_bpf_key* const key = &walk->mapping.key;
    key->file_system = 0;
    if (sframe_bpf_read_key(task, vma, key) &&
        bpf_map_update_elem(&sframe_files, key, &pending, BPF_NOEXIST) == 0)
      mapping->flags = SFRAME_BPF_IS_NEW;
    mapping->key = *key;
    mapping->start = BPF_CORE_READ(vma, vm_start);
    mapping->end = BPF_CORE_READ(vma, vm_end);
    mapping->offset = sframe_bpf_read_offset(vma);
    sframe_bpf_read_process(task, &mapping->process);
    listing->to->num_mappings = number + 1;
  }
  return walk->upper == ~0ull;
}

/* The registers and the memory of a stack, for user space. `other`: a task that is not the current one. */
SFRAME_BPF_INLINE void sframe_bpf_copy_stack(const struct sframe_bpf_walk* walk,
                                             struct task_struct___sframe* other,
                                             struct sframe_bpf_deferred* to) {
  to->ticket = bpf_ktime_get_ns() << 10 | (bpf_get_smp_processor_id() & 1023);
  to->at = walk->at;
  to->process.pid = 0;
  to->num_mappings = to->pages = 0;
  to->first = walk->at.sp & ~(__u64)(SFRAME_BPF_COPY_PAGE - 1);
#  pragma unroll
  for (int i = 0; i < SFRAME_BPF_COPY_PAGES; ++i) {
    unsigned char* const copy = to->copy + (__u64)i * SFRAME_BPF_COPY_PAGE;
    const void* const page = (const void*)(to->first + (__u64)i * SFRAME_BPF_COPY_PAGE);
    const long error = other ? bpf_copy_from_user_task(copy, SFRAME_BPF_COPY_PAGE, page, (void*)other, 0)
                             : bpf_probe_read_user(copy, SFRAME_BPF_COPY_PAGE, page);
    if (error) break;
    to->pages = i + 1;
  }
}

static __attribute__((noinline)) int sframe_bpf_count_not_deferred(void) {
  const __u32 zero = 0;
  __u64* const count = bpf_map_lookup_elem(&sframe_not_deferred, &zero);
  if (count) ++*count;
  return 0;
}

/* Hands the rest of the stack over. */
static __attribute__((noinline)) int sframe_bpf_defer(struct sframe_bpf_walk* walk,
                                                      struct sframe_bpf_stack* stack) {
  enum { MAX_MAPPINGS = 4096 };
  if (!walk || !stack) return 0;
  struct sframe_bpf_deferred* const to = bpf_ringbuf_reserve(&sframe_deferred, sizeof *to, 0);
  if (!to) return sframe_bpf_count_not_deferred();
  sframe_bpf_copy_stack(walk, 0, to);
  stack->ticket = to->ticket;
  struct sframe_bpf_listing listing = {walk, to};
  walk->next = 0;
  bpf_loop(MAX_MAPPINGS, sframe_bpf_next_mapping, &listing, 0);
  bpf_ringbuf_submit(to, 0);
  return 1;
}
#endif

SFRAME_BPF_INLINE struct sframe_bpf_walk* sframe_bpf_begin(struct sframe_bpf_stack* stack) {
  stack->depth = 0;
  stack->ticket = stack->guessed[0] = stack->guessed[1] = 0;
  stack->end = SFRAME_BPF_END_BUSY;
  for (__u32 i = 0; i < SFRAME_BPF_NUM_WALKS; ++i) {
    const __u32 number = i;
    struct sframe_bpf_walk* const walk = bpf_map_lookup_elem(&sframe_walks, &number);
    if (!walk || __sync_val_compare_and_swap(&walk->busy, 0, 1) != 0) continue;
    walk->first = i == 0;
    return walk;
  }
  return 0;
}

SFRAME_BPF_INLINE void sframe_bpf_count_end(const struct sframe_bpf_stack* stack) {
  const __u32 counted = stack->end;
  __u64* const count = bpf_map_lookup_elem(&sframe_counts, &counted);
  if (count) ++*count;
}

/* `end`: why there are no registers; 0 if there are. */
SFRAME_BPF_INLINE long sframe_bpf_finish(struct sframe_bpf_walk* walk, struct sframe_bpf_stack* stack,
                                         int end, __u64 flags) {
  if (walk && end == 0) {
    struct sframe_bpf_both both = {walk, stack};
    sframe_bpf_start(&walk->at);
    walk->at.guesses = (flags & SFRAME_BPF_FRAME_POINTERS) != 0;
    walk->hash = bpf_get_current_pid_tgid() >> 32;
    walk->place.start = walk->place.end = walk->before.start = walk->before.end = 0;
    stack->end = SFRAME_BPF_END_CUT;
    bpf_loop(SFRAME_BPF_MAX_FRAMES + 1, sframe_bpf_next_frame, &both, 0);
#ifdef SFRAME_BPF_DEFERRED_BYTES
    if (flags & SFRAME_BPF_DEFER && stack->end == SFRAME_BPF_END_PENDING) sframe_bpf_defer(walk, stack);
#endif
  } else if (walk) {
    stack->end = (__u32)end;
  }
  (void)flags;
  stack->id = 1;
  if (walk && end == 0)
    stack->id = SFRAME_BPF_HASH(walk->hash, stack->end) >> 1 | 1; /* also a positive long */
  if (walk) walk->busy = 0;
  sframe_bpf_count_end(stack);
  return stack->depth;
}

/* Of the current thread, wherever in the kernel it is: for tracepoints and all that has no registers. */
static __attribute__((noinline, unused)) long sframe_stack_of_thread(struct sframe_bpf_stack* stack,
                                                                     __u64 flags) {
  struct sframe_bpf_walk* const walk = sframe_bpf_begin(stack);
  return sframe_bpf_finish(walk, stack, sframe_bpf_take_saved(walk, (void*)bpf_get_current_task_btf()),
                           flags);
}

/* Of a perf event, whose registers are those of user mode if it was there. */
static __attribute__((noinline, unused)) long
sframe_stack_of_event(struct bpf_perf_event_data* event, struct sframe_bpf_stack* stack, __u64 flags) {
  struct sframe_bpf_walk* const walk = sframe_bpf_begin(stack);
  int end = 0;
  if (walk && SFRAME_BPF_IS_USER(event->regs)) {
    SFRAME_BPF_COPY(walk, event->regs);
  } else {
    end = sframe_bpf_take_saved(walk, (void*)bpf_get_current_task_btf());
  }
  return sframe_bpf_finish(walk, stack, end, flags);
}

/* Of a uprobe or kprobe. */
static __attribute__((noinline, unused)) long
sframe_stack_of_probe(struct pt_regs* context, struct sframe_bpf_stack* stack, __u64 flags) {
  struct sframe_bpf_walk* const walk = sframe_bpf_begin(stack);
  const sframe_bpf_pt_regs* const regs = (const sframe_bpf_pt_regs*)context;
  int end = 0;
  if (walk && SFRAME_BPF_IS_USER(*regs)) {
    SFRAME_BPF_COPY(walk, *regs);
  } else {
    end = sframe_bpf_take_saved(walk, (void*)bpf_get_current_task_btf());
  }
  return sframe_bpf_finish(walk, stack, end, flags);
}

/*
 * The user stack of the current thread. `context` is that of the program: its type tells which registers
 * there are. Returns the number of frames; stack->end has why there are no more. `flags` is 0, or
 * SFRAME_BPF_FRAME_POINTERS and SFRAME_BPF_DEFER, for which SFRAME_BPF_DEFERRED_BYTES has to be defined
 * before this file is included: a power of 2, 46 KB for each stack that waits.
 */
#define sframe_stack(context, stack, flags)                                                                  \
  _Generic((context), struct bpf_perf_event_data *                                                           \
           : sframe_stack_of_event((void*)(context), (stack), (flags)), struct pt_regs *                     \
           : sframe_stack_of_probe((void*)(context), (stack), (flags)), default                              \
           : sframe_stack_of_thread((stack), (flags)))

#ifdef SFRAME_BPF_TASKS
SFRAME_BPF_INLINE struct sframe_bpf_task_walk* sframe_bpf_begin_task(struct sframe_bpf_stack* stack) {
  stack->depth = 0;
  stack->ticket = stack->id = stack->guessed[0] = stack->guessed[1] = 0;
  stack->end = SFRAME_BPF_END_BUSY;
  SFRAME_BPF_TAKE_UNUSED(struct sframe_bpf_task_walk, sframe_task_walks, SFRAME_BPF_TASKS);
}

/* How often the thread has left a CPU. If that does not change, and the thread is on no CPU at the end, it
   has not run. */
SFRAME_BPF_INLINE __u64 sframe_bpf_switches(struct task_struct___sframe* task) {
  return (__u64)BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* A kernel for one CPU does not know: there it is this program that runs. */
SFRAME_BPF_INLINE int sframe_bpf_runs(struct task_struct___sframe* task) {
  return bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ(task, on_cpu) != 0;
}

/* The innermost frame, and the rest for user space. An end, or -1 if the thread runs or has run. */
static __attribute__((noinline)) int sframe_bpf_take_task(struct sframe_bpf_task_walk* made,
                                                          struct task_struct___sframe* task,
                                                          struct sframe_bpf_stack* stack, __u64 flags) {
  if (!made || !task || !stack) return -1;
  struct sframe_bpf_walk* const walk = &made->walk;
  struct sframe_bpf_deferred* const to = &made->deferred;
  const __u64 switches = sframe_bpf_switches(task);
  if (sframe_bpf_runs(task)) return -1;
  const int end = sframe_bpf_take_saved(walk, task);
  if (!end) {
    sframe_bpf_start(&walk->at);
    walk->at.guesses = (flags & SFRAME_BPF_FRAME_POINTERS) != 0;
    sframe_bpf_copy_stack(walk, task, to);
    sframe_bpf_read_process(task, &to->process);
  }
  if (sframe_bpf_runs(task) || sframe_bpf_switches(task) != switches) return -1;
  if (end) return end;
  stack->pcs[0] = walk->at.pc;
  stack->depth = 1;
  if (bpf_ringbuf_output(&sframe_deferred, to, __builtin_offsetof(struct sframe_bpf_deferred, mappings), 0))
    sframe_bpf_count_not_deferred();
  else
    stack->ticket = to->ticket;
  return SFRAME_BPF_END_PENDING;
}

/*
 * The user stack of another thread, which is on no CPU: for sleepable iterators over tasks
 * (SEC("iter.s/task")), whose task it is. Needs SFRAME_BPF_DEFERRED_BYTES, and SFRAME_BPF_TASKS: how many
 * such programs there may be at once, 48 KB for each. The stack has the innermost frame, and a ticket for the
 * others: user space walks on from there, as with SFRAME_BPF_DEFER. Memory of the process that has to be read
 * from a file is waited for, as long as that takes. `flags` is 0 or SFRAME_BPF_FRAME_POINTERS.
 *
 * Returns the number of frames; -EAGAIN if the thread runs, or has run meanwhile: then there is no stack; or
 * -EBUSY: there are more such programs.
 */
static __attribute__((noinline, unused)) long
sframe_stack_of_task(void* thread, struct sframe_bpf_stack* stack, __u64 flags) {
  struct sframe_bpf_task_walk* const made = sframe_bpf_begin_task(stack);
  if (!made) return -16; /* EBUSY */
  const int end = sframe_bpf_take_task(made, thread, stack, flags);
  made->busy = 0;
  if (end < 0) return -11; /* EAGAIN */
  stack->end = (__u32)end;
  sframe_bpf_count_end(stack);
  return stack->depth;
}
#endif

#ifdef SFRAME_BPF_STACK_IDS
SFRAME_BPF_INLINE struct sframe_bpf_new_stack* sframe_bpf_new_stack(void) {
  SFRAME_BPF_TAKE_UNUSED(struct sframe_bpf_new_stack, sframe_new_stacks, SFRAME_BPF_NUM_WALKS);
}

/* Keeps the stack by its id. */
static __attribute__((noinline)) long sframe_bpf_keep(struct sframe_bpf_new_stack* made) {
  if (!made) return -16; /* EBUSY */
  const __u64 id = made->stack.id;
  long result = (long)id;
  if (!bpf_map_lookup_elem(&sframe_stacks, &id)) {
    /* Before Linux 6.4 its upper half is not that of the sign. */
    const int error = (int)bpf_map_update_elem(&sframe_stacks, &id, &made->stack, BPF_NOEXIST);
    if (error && error != -17 /* EEXIST: another CPU was first */) result = error;
  }
  made->busy = 0;
  return result;
}

/*
 * The id of the user stack, which is in the map sframe_stacks from then on: as bpf_get_stackid() with 64
 * bits, so that ids are not shared. Positive; negative, as -E2BIG, if there is no room. SFRAME_BPF_STACK_IDS
 * has to be defined before this file is included: how many stacks there may be. The map's memory is taken
 * when it is made: 1,100 bytes for each. `flags` must be 0.
 */
#  define sframe_stackid(context, flags)                                                                     \
    ({                                                                                                       \
      struct sframe_bpf_new_stack* const sframe_made = sframe_bpf_new_stack();                               \
      if (sframe_made) sframe_stack(context, &sframe_made->stack, flags);                                    \
      sframe_bpf_keep(sframe_made);                                                                          \
    })
#endif

#endif
