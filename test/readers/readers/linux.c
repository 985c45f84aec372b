/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiles the reader of a Linux tree, KERNEL_SOURCE (kernel/unwind/sframe.c), as a part of a program.
 * test/readers/kernel.py gives the macros: KERNEL_EARLY for trees before flexible FDEs (sframe_find() and
 * struct unwind_user_frame), SFRAME_REG_SP and SFRAME_REG_FP for trees without asm/unwind_sframe.h of the ABI.
 */

#include "linux_shims.h"
#include "reader.h"

#include KERNEL_SOURCE

unsigned reader_warnings;
bool kernel_foreign_order;
struct vm_area_struct kernel_section_memory, kernel_text_memory;
static struct mm_struct memory;
struct task_struct kernel_task = {&memory};

int reader_add(const void* section, unsigned long size, unsigned long text_start, unsigned long text_end, bool foreign_order) {
  const unsigned long start = (unsigned long)section;
  kernel_section_memory = (struct vm_area_struct){start, start + size, 0};
  kernel_text_memory = (struct vm_area_struct){text_start, text_end, VM_EXEC};
  kernel_foreign_order = foreign_order;
  return sframe_add_section(start, start + size, text_start, text_end);
}

bool reader_has(void) { return !mtree_empty(&memory.sframe_mt); }

void reader_remove(void) { sframe_free_mm(&memory); }

#ifdef KERNEL_EARLY

static struct reader_rule converted(struct unwind_user_rule_data rule) {
  if (rule.rule == UNWIND_USER_RULE_RETAIN) return (struct reader_rule){.base = reader_same};
  return (struct reader_rule){.base = reader_cfa, .stored = true, .offset = rule.offset};
}

int reader_find(unsigned long address, struct reader_answer* answer) {
  struct unwind_user_frame frame;
  const int result = sframe_find(address, &frame);
  if (result) return result;
  answer->cfa = (struct reader_rule){reader_register, false, frame.use_fp ? SFRAME_REG_FP : SFRAME_REG_SP, frame.cfa_off};
  answer->ra = converted(frame.ra);
  answer->fp = converted(frame.fp);
  answer->outermost = frame.outermost;
  return 0;
}

int reader_search(unsigned long address) {
  struct unwind_user_frame frame;
  return sframe_find(address, &frame);
}

#else

static struct reader_rule converted(struct unwind_rule_data rule) {
  const bool stored = rule.rule & UNWIND_RULE_DEREF;
  switch (rule.rule & ~UNWIND_RULE_DEREF) {
  case UNWIND_RULE_RETAIN: return (struct reader_rule){.base = reader_same};
  case UNWIND_RULE_CFA_OFFSET: return (struct reader_rule){reader_cfa, stored, 0, rule.offset};
  default: return (struct reader_rule){reader_register, stored, rule.regnum, rule.offset};
  }
}

int reader_find(unsigned long address, struct reader_answer* answer) {
  struct unwind_frame frame;
  const int result = sframe_find_user(address, &frame);
  if (result) return result;
  const unsigned rule = frame.cfa.rule & ~UNWIND_RULE_DEREF;
  const unsigned reg = rule == UNWIND_CFA_RULE_SP_OFFSET ? SFRAME_REG_SP : rule == UNWIND_CFA_RULE_FP_OFFSET ? SFRAME_REG_FP : frame.cfa.regnum;
  answer->cfa = (struct reader_rule){reader_register, frame.cfa.rule & UNWIND_RULE_DEREF ? true : false, reg, frame.cfa.offset};
  answer->ra = converted(frame.ra);
  answer->fp = converted(frame.fp);
  answer->outermost = frame.outermost;
  return 0;
}

int reader_search(unsigned long address) {
  struct unwind_frame frame;
  return sframe_find_user(address, &frame);
}

#endif
