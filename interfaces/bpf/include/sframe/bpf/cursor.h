/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * From a frame to its caller by a rule of a table: for the BPF side, and for user space, which walks on where
 * that had no table yet. Whoever includes this defines
 *
 *   SFRAME_BPF_READ(memory, to, address)   reads *to from the memory of the process; 0 if it could
 *   SFRAME_BPF_KEEP(number)                makes the compiler forget what it knows of it; may be nothing
 */
#ifndef SFRAME_BPF_CURSOR_H
#define SFRAME_BPF_CURSOR_H

#include <sframe/bpf/stack.h>

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
enum { SFRAME_BPF_FP = 6, SFRAME_BPF_SP = 7, SFRAME_BPF_RA = 16 };
#elif defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
enum { SFRAME_BPF_FP = 29, SFRAME_BPF_SP = 31, SFRAME_BPF_RA = 30 };
#else
#  error "no registers for this architecture"
#endif

/* Of the innermost frame. */
SFRAME_BPF_INLINE void sframe_bpf_start(struct sframe_bpf_cursor* at) {
  at->sp = at->registers[SFRAME_BPF_SP];
  at->fp = at->registers[SFRAME_BPF_FP];
  at->exact = at->innermost = 1;
  at->fp_unknown = at->ra_known = 0;
}

SFRAME_BPF_INLINE int sframe_bpf_read_register(const struct sframe_bpf_cursor* at, __u32 number, __u64* to) {
  if (number == SFRAME_BPF_SP) {
    *to = at->sp;
  } else if (number == SFRAME_BPF_FP) {
    if (at->fp_unknown) return SFRAME_BPF_END_REGISTER;
    *to = at->fp;
  } else {
    const int known = at->innermost || (at->ra_known && number == SFRAME_BPF_RA);
    if (!known || number >= SFRAME_BPF_NUM_REGISTERS) return SFRAME_BPF_END_REGISTER;
    SFRAME_BPF_KEEP(number); /* the mask is for the verifier, which has forgotten the comparison */
    *to = at->registers[number & (SFRAME_BPF_NUM_REGISTERS - 1)];
  }
  return 0;
}

/* The value of kind SUM or STORED. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_apply(const void* memory, const struct sframe_bpf_cursor* at,
                                       const struct sframe_bpf_value* value, __u64 cfa, __u64* to) {
  __u64 base = cfa;
  (void)memory;
  if (value->base != SFRAME_BPF_CFA_IN_WIDE) {
    const int end = sframe_bpf_read_register(at, value->base, &base);
    if (end) return end;
  }
  base += (__u64)(__s64)value->offset;
  if (value->kind == SFRAME_BPF_SUM) {
    *to = base;
    return 0;
  }
  return SFRAME_BPF_READ(memory, to, base) == 0 ? 0 : SFRAME_BPF_END_UNREADABLE;
}

/* A leaf function of AArch64 has its return address in x30, which no rule restores. Where a signal
   interrupted it, the kernel has stored x30 before SP and pc (struct sigcontext). The cursor is still at the
   frame that `rule` is of. */
SFRAME_BPF_INLINE void sframe_bpf_take_ra(const void* memory, struct sframe_bpf_cursor* at,
                                          const struct sframe_bpf_rule* rule) {
  (void)memory, (void)rule;
  at->ra_known = 0;
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
  const int is_of_kernel = rule->signal_frame && rule->cfa.kind == SFRAME_BPF_STORED &&
                           rule->cfa.base == SFRAME_BPF_SP && rule->ra.kind == SFRAME_BPF_STORED &&
                           rule->ra.base == SFRAME_BPF_SP && rule->ra.offset == rule->cfa.offset + 8;
  if (!is_of_kernel) return;
  __u64 ra = 0;
  if (SFRAME_BPF_READ(memory, &ra, at->sp + (__u64)(__s64)rule->cfa.offset - 8) != 0) return;
  at->registers[SFRAME_BPF_RA] = ra;
  at->ra_known = 1;
#endif
}

/* Makes the caller the current frame, by a rule of kind SFRAME_BPF_ROW. 0 or an end. */
SFRAME_BPF_INLINE int sframe_bpf_go_up(const void* memory, struct sframe_bpf_cursor* at,
                                       const struct sframe_bpf_rule* rule) {
  __u64 cfa = 0, ra = 0, fp = at->fp;
  struct {
    __u64 fp, ra;
  } both;
  int end = sframe_bpf_apply(memory, at, &rule->cfa, 0, &cfa);
  if (end) return end;
  /* In a leaf function of AArch64 they are equal. A signal handler may have a stack of its own. */
  if (!rule->signal_frame && (cfa < at->sp || (cfa == at->sp && !at->innermost && !at->ra_known)))
    return SFRAME_BPF_END_NOT_GROWING;
  const int neighbours = rule->ra.kind == SFRAME_BPF_STORED && rule->fp.kind == SFRAME_BPF_STORED &&
                         rule->ra.base == SFRAME_BPF_CFA_IN_WIDE && rule->fp.base == SFRAME_BPF_CFA_IN_WIDE &&
                         rule->ra.offset == rule->fp.offset + 8;
  if (neighbours && SFRAME_BPF_READ(memory, &both, cfa + (__u64)(__s64)rule->fp.offset) != 0)
    end = SFRAME_BPF_END_UNREADABLE;
  else if (neighbours)
    ra = both.ra;
  else if (rule->ra.kind == SFRAME_BPF_SAME)
    end = sframe_bpf_read_register(at, SFRAME_BPF_RA, &ra);
  else if (rule->ra.kind >= SFRAME_BPF_SUM)
    end = sframe_bpf_apply(memory, at, &rule->ra, cfa, &ra);
  else
    end = SFRAME_BPF_END_REGISTER;
  if (end) return end;
  if (neighbours) {
    fp = both.fp;
    at->fp_unknown = 0;
  } else if (rule->fp.kind >= SFRAME_BPF_SUM) {
    if ((end = sframe_bpf_apply(memory, at, &rule->fp, cfa, &fp)) != 0) return end;
    at->fp_unknown = 0;
  } else if (rule->fp.kind != SFRAME_BPF_SAME) {
    at->fp_unknown = 1;
  }
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
  if (rule->ra_signed) ra &= (1ull << 48) - 1; /* the code is in the bits above the address */
#endif
  if (ra == 0) return SFRAME_BPF_END_ZERO_PC;
  sframe_bpf_take_ra(memory, at, rule);
  at->pc = ra;
  at->sp = cfa;
  at->fp = fp;
  at->exact = rule->signal_frame;
  at->innermost = 0;
  return 0;
}

enum { SFRAME_BPF_MAX_GUESS = 1 << 20 }; /* bytes of a frame; farther away is another stack */

/* Whether the instruction before the address may be a call; also where it cannot be read. */
SFRAME_BPF_INLINE int sframe_bpf_follows_call(const void* memory, __u64 address) {
  (void)memory; /* BPF programs have no need of it */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
  __u32 before = 0;
  if (SFRAME_BPF_READ(memory, &before, address - 4) != 0) return 1;
  return (before & 0xfc000000) == 0x94000000 || (before & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
#else
  __u64 before = 0;
  if (SFRAME_BPF_READ(memory, &before, address - 8) != 0) return 1;
  if ((before >> 24 & 0xff) == 0xe8) return 1; /* call rel32 */
  /* ff /2 with ModRM, SIB and displacement: 2, 3, 4, 6 or 7 bytes */
  return (before >> 48 & 0x38ff) == 0x10ff || (before >> 40 & 0x38ff) == 0x10ff ||
         (before >> 32 & 0x38ff) == 0x10ff || (before >> 16 & 0x38ff) == 0x10ff ||
         (before >> 8 & 0x38ff) == 0x10ff;
#endif
}

/* Makes the caller the current frame, if the frame pointer leads to one: the saved one is further up on this
   stack, and the return address follows a call, unless the code is generated: interpreters push addresses.
   Returns 0 if it does. */
SFRAME_BPF_INLINE int sframe_bpf_guess(const void* memory, struct sframe_bpf_cursor* at, int is_generated) {
  struct {
    __u64 fp, ra;
  } both;
  if (at->fp_unknown || at->fp < at->sp || at->fp - at->sp > SFRAME_BPF_MAX_GUESS || (at->fp & 7)) return 1;
  if (SFRAME_BPF_READ(memory, &both, at->fp) != 0) return 1;
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
  both.ra &= (1ull << 48) - 1;
#endif
  if (!is_generated && !sframe_bpf_follows_call(memory, both.ra)) return 1;
  at->pc = both.ra;
  at->sp = at->fp + 16;
  at->fp = both.fp;
  at->exact = at->innermost = at->ra_known = 0;
  return 0;
}

#endif
