/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A reader as compare.cc calls it: linux.c, glibc.c and gnu.c have the answers of the kernel's, of the C
 * library's, and of GNU libsframe in this form.
 */

#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct reader_rule {
  enum { reader_same, reader_cfa, reader_register } base;
  bool stored; /* the value in memory at base + offset, else base + offset itself */
  unsigned reg;
  int32_t offset;
};

struct reader_answer {
  struct reader_rule cfa, ra, fp;
  bool outermost;
};

/* Registers the section at `section` (in this program's memory, size bytes) for a text at addresses that are
 * as far from the section as on the target. Returns 0 or a negative errno. One section at a time. */
int reader_add(const void* section, unsigned long size, unsigned long text_start, unsigned long text_end,
               bool foreign_order);

/* True while the reader keeps the section: it removes one that it finds damaged. */
bool reader_has(void);

/* Looks up an address. Returns 0 or a negative errno. */
int reader_find(unsigned long address, struct reader_answer* answer);

/* The lookup alone, without the answer in this form: what is timed. */
int reader_search(unsigned long address);

void reader_remove(void);

extern unsigned reader_warnings; /* that it would have logged */

#ifdef __cplusplus
}
#endif
