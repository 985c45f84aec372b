// SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only
//
// A perf event's BPF program that walks the user stack by SFrame rows in BPF maps. sframe_stacks.c writes the
// maps and loads it; layout.h describes them, docs/bpf.md the whole.
//
// The kernel offers bpf_probe_read_user() and bpf_task_pt_regs() only to programs that declare a licence
// compatible with the GPL. So this file and layout.h, unlike the rest of the project, may be used under GPL
// version 2 as well, and the program declares "GPL" to the kernel.
//
//   clang -O2 -g -target bpf -D__TARGET_ARCH_x86 -c sframe_stacks.bpf.c -o sframe_stacks.bpf.o
//
// Needs Linux 5.17: bpf_loop() and bpf_task_pt_regs(). It needs no vmlinux.h, since it reads only structs of
// the kernel's user interface.

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include "layout.h"

#if defined(__TARGET_ARCH_x86)
enum { FP = 6, SP = 7, RA = 16 };
#elif defined(__TARGET_ARCH_arm64)
enum { FP = 29, SP = 31, RA = 30 };
#else
#  error "no registers for this architecture"
#endif

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 2 * MAX_MAPPINGS);
  __type(key, __u32);
  __type(value, struct mapping);
} mappings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct control);
} control SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); // set before loading
  __type(key, __u32);
  __type(value, struct row);
} rows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1); // set before loading
  __type(key, __u32);
  __type(value, struct bucket);
} buckets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, MAX_RULES);
  __type(key, __u32);
  __type(value, struct rule);
} rules SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, NUM_COUNTERS);
  __type(key, __u32);
  __type(value, __u64);
} counters SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 22);
} stacks SEC(".maps");

// A walk's state. Too large for the program's own 512 bytes; a perf event's program does not interrupt
// another one on the same CPU.
struct walk {
  __u64 registers[NUM_REGISTERS]; // of the innermost frame, by DWARF number; then only SP and FP are current
  __u64 pc, sp, fp;
  __u32 exact; // the pc is the next instruction, not a return address
  __u32 innermost;
  __u32 fp_unknown;
  struct stack stack;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct walk);
} walks SEC(".maps");

static __always_inline void count(__u32 what) {
  __u64* counter = bpf_map_lookup_elem(&counters, &what);
  if (counter) __sync_fetch_and_add(counter, 1);
}

#if defined(__TARGET_ARCH_x86)
typedef struct pt_regs user_registers;
#  define IS_USER(from) (((from).cs & 3) == 3)
#  define COPY(to, from)                                                                                     \
    do {                                                                                                     \
      __u64* const r = (to)->registers;                                                                      \
      r[0] = (from).rax, r[1] = (from).rdx, r[2] = (from).rcx, r[3] = (from).rbx;                            \
      r[4] = (from).rsi, r[5] = (from).rdi, r[6] = (from).rbp, r[7] = (from).rsp;                            \
      r[8] = (from).r8, r[9] = (from).r9, r[10] = (from).r10, r[11] = (from).r11;                            \
      r[12] = (from).r12, r[13] = (from).r13, r[14] = (from).r14, r[15] = (from).r15;                        \
      (to)->pc = (from).rip;                                                                                 \
    } while (0)
#else
typedef struct user_pt_regs user_registers;
#  define IS_USER(from) (((from).pstate & 0x1f) == 0) // EL0, 64-bit
#  define COPY(to, from)                                                                                     \
    do {                                                                                                     \
      _Pragma("unroll") for (int i = 0; i < 31; ++i)(to)->registers[i] = (from).regs[i];                     \
      (to)->registers[SP] = (from).sp;                                                                       \
      (to)->pc = (from).pc;                                                                                  \
    } while (0)
#endif

// The registers when the thread was last in user mode. A thread of the kernel has none.
static __always_inline int take_registers(struct walk* walk, struct bpf_perf_event_data* event) {
  if (IS_USER(event->regs)) {
    COPY(walk, event->regs);
  } else {
    user_registers user; // what the kernel's entry saved
    const long saved = bpf_task_pt_regs(bpf_get_current_task_btf());
    if (bpf_probe_read_kernel(&user, sizeof user, (const void*)saved) != 0 || !IS_USER(user)) return 0;
    COPY(walk, user);
  }
  walk->sp = walk->registers[SP];
  walk->fp = walk->registers[FP];
  return 1;
}

// The last mapping that starts at or before the pc; NULL if the pc is not in it.
static __always_inline const struct mapping* find_mapping(__u64 pc) {
  __u32 zero = 0;
  const struct control* current = bpf_map_lookup_elem(&control, &zero);
  if (!current) return 0;
  const __u64 list = *(const volatile __u64*)&current->list;
  __u32 first = list >> 32, count = (__u32)list;
  for (int i = 0; i < 13 && count > 1; ++i) { // MAX_MAPPINGS is 2 to the 12th
    const __u32 half = count / 2, middle = first + half;
    const struct mapping* mapping = bpf_map_lookup_elem(&mappings, &middle);
    if (!mapping) return 0;
    if (mapping->start <= pc) {
      first = middle;
      count -= half;
    } else {
      count = half;
    }
  }
  const struct mapping* found = count ? bpf_map_lookup_elem(&mappings, &first) : 0;
  return found && pc >= found->start && pc < found->end ? found : 0;
}

// The number of the rule for an address; RULE_NONE if there is none.
static __always_inline __u32 find_rule(const struct mapping* mapping, __u64 pc) {
  const __u64 offset = pc - mapping->base, number = offset >> (mapping->shift & 31);
  if (number >= mapping->num_buckets) return RULE_NONE;
  const __u32 at = mapping->first + (__u32)number;
  const struct bucket* bucket = bpf_map_lookup_elem(&buckets, &at);
  if (!bucket) return RULE_NONE;
  __u32 first = bucket->first, count = bucket->count;
  for (int i = 0; i < 32 && count > 1; ++i) {
    const __u32 half = count / 2, middle = first + half;
    const struct row* row = bpf_map_lookup_elem(&rows, &middle);
    if (!row) return RULE_NONE;
    if (row->start <= offset) {
      first = middle;
      count -= half;
    } else {
      count = half;
    }
  }
  const struct row* found = bpf_map_lookup_elem(&rows, &first);
  return found && found->start <= offset ? found->rule : RULE_NONE;
}

static __always_inline int read_register(const struct walk* walk, __u8 number, __u64* to) {
  if (number == SP) {
    *to = walk->sp;
  } else if (number == FP) {
    if (walk->fp_unknown) return END_REGISTER;
    *to = walk->fp;
  } else {
    if (!walk->innermost || number >= NUM_REGISTERS) return END_REGISTER;
    *to = walk->registers[number & (NUM_REGISTERS - 1)];
  }
  return 0;
}

// Applies VALUE_SUM and VALUE_STORED. 0 or an end.
static __always_inline int apply(const struct walk* walk, const struct value* value, __u64 cfa, __u64* to) {
  __u64 base = cfa;
  if (value->base != BASE_CFA) {
    const int end = read_register(walk, value->base, &base);
    if (end) return end;
  }
  base += (__s64)value->offset;
  if (value->kind == VALUE_SUM) {
    *to = base;
    return 0;
  }
  return bpf_probe_read_user(to, sizeof *to, (const void*)base) == 0 ? 0 : END_UNREADABLE;
}

static __always_inline int is_computed(const struct value* value) {
  return value->kind == VALUE_SUM || value->kind == VALUE_STORED;
}

// One frame: appends it to the stack, and makes its caller the current one. -1 or an end.
static __always_inline int step(struct walk* walk) {
  const __u64 lookup_pc = walk->pc - !walk->exact;
  const __u32 depth = walk->stack.depth;
  if (depth >= MAX_FRAMES) return END_LIMIT; // the limits of loops and indexes are for the verifier, too
  const struct mapping* mapping = find_mapping(lookup_pc);
  if (!mapping) return END_NO_MAPPING;
  walk->stack.pcs[depth] = lookup_pc;
  walk->stack.depth = depth + 1;
  if (mapping->num_buckets == 0) return END_NO_TABLE;
  const __u32 number = find_rule(mapping, lookup_pc);
  const struct rule* rule = bpf_map_lookup_elem(&rules, &number);
  if (!rule || rule->kind == RULE_NONE) return END_NO_ROW;
  if (rule->signal_frame)
    walk->stack.pcs[depth] = walk->pc; // no call: the kernel put its address on the stack
  if (rule->kind == RULE_OUTERMOST) return END_OUTERMOST;

  __u64 cfa, ra, fp = walk->fp;
  int end;
  if (!is_computed(&rule->cfa)) return END_REGISTER;
  if ((end = apply(walk, &rule->cfa, 0, &cfa)) != 0) return end;
  // In a leaf function of AArch64 they are equal. A signal handler may have a stack of its own.
  if (!rule->signal_frame && (cfa < walk->sp || (cfa == walk->sp && !walk->innermost)))
    return END_NOT_GROWING;
  if (rule->ra.kind == VALUE_SAME) {
    if ((end = read_register(walk, RA, &ra)) != 0) return end;
  } else if (is_computed(&rule->ra)) {
    if ((end = apply(walk, &rule->ra, cfa, &ra)) != 0) return end;
  } else {
    return END_REGISTER;
  }
  if (is_computed(&rule->fp)) {
    if ((end = apply(walk, &rule->fp, cfa, &fp)) != 0) return end;
    walk->fp_unknown = 0;
  } else if (rule->fp.kind != VALUE_SAME) {
    walk->fp_unknown = 1;
  }
#if defined(__TARGET_ARCH_arm64)
  if (rule->ra_signed) ra &= (1ull << 48) - 1; // the code is in the bits above the address
#endif
  if (ra == 0) return END_ZERO_PC;
  walk->pc = ra;
  walk->sp = cfa;
  walk->fp = fp;
  walk->exact = rule->signal_frame;
  walk->innermost = 0;
  return -1;
}

static long next_frame(__u32 index, void* context) {
  (void)index, (void)context;
  __u32 zero = 0;
  struct walk* walk = bpf_map_lookup_elem(&walks, &zero);
  if (!walk) return 1;
  const int end = step(walk);
  if (end < 0) return 0;
  walk->stack.end = end;
  return 1;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data* event) {
  __u32 zero = 0;
  struct walk* walk = bpf_map_lookup_elem(&walks, &zero);
  if (!walk) return 0;
  count(COUNT_SAMPLES);
  if (!take_registers(walk, event)) {
    count(COUNT_NO_REGISTERS);
    return 0;
  }
  walk->exact = walk->innermost = 1;
  walk->fp_unknown = 0;
  walk->stack.tid = (__u32)bpf_get_current_pid_tgid();
  walk->stack.depth = 0;
  walk->stack.end = END_LIMIT;
  bpf_loop(MAX_FRAMES + 1, next_frame, 0, 0);

  __u32 depth = walk->stack.depth;
  if (depth > MAX_FRAMES) return 0;
  if (bpf_ringbuf_output(&stacks, &walk->stack, sizeof walk->stack - sizeof walk->stack.pcs + depth * 8,
                         BPF_RB_NO_WAKEUP) != 0)
    count(COUNT_DROPPED);
  return 0;
}
