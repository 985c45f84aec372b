/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kernel's reader as compare.cc calls it: the answers of all trees in one form.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kernel_rule {
  enum { kernel_same, kernel_cfa, kernel_register } base;
  bool stored; /* the value in memory at base + offset, else base + offset itself */
  unsigned reg;
  int32_t offset;
};

struct kernel_answer {
  struct kernel_rule cfa, ra, fp;
  bool outermost;
};

/* Registers the section at `section` (in this program's memory, size bytes) for a text at addresses that are
 * as far from the section as on the target. Returns 0 or a negative errno. One section at a time. */
int kernel_add(const void* section, unsigned long size, unsigned long text_start, unsigned long text_end, bool foreign_order);

/* True while the reader keeps the section: it removes one that it finds damaged. */
bool kernel_has(void);

/* Looks up an address. Returns 0 or a negative errno. */
int kernel_find(unsigned long address, struct kernel_answer* answer);

void kernel_remove(void);

extern unsigned kernel_warnings;

#ifdef __cplusplus
}
#endif
