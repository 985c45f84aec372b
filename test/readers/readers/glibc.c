/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiles the reader of a GNU C library, GLIBC_SOURCE (sysdeps/generic/sframe-read.c), as a part of a
 * program, and calls it as its backtrace() does. test/readers/readers.py gives the macro. For AMD64.
 */

#include <errno.h>
#include <stddef.h>

/* What the library's own headers define, and C's do not. */
#define libc_hidden_def(name)
#define libc_hidden_proto(name)
#define attribute_hidden

#include GLIBC_SOURCE

#include "reader.h"

unsigned reader_warnings;
static const char* section_start;
static unsigned long first, last;

int reader_add(const void* section, unsigned long size, unsigned long text_start, unsigned long text_end, bool foreign_order) {
  (void)size;
  (void)foreign_order;
  sframe_decoder_ctx context;
  memset(&context, 0, sizeof context);
  section_start = section;
  first = text_start;
  last = text_end;
  return __sframe_decode(&context, section_start) == _URC_NO_REASON ? 0 : -EINVAL;
}

bool reader_has(void) { return section_start != NULL; }

void reader_remove(void) { section_start = NULL; }

/* Each lookup decodes the header, as backtrace() does. */
static int find(unsigned long address, sframe_decoder_ctx* context, sframe_frame_row_entry* row) {
  if (address < first || address > last) return -EINVAL; /* not in the module */
  memset(context, 0, sizeof *context);
  if (__sframe_decode(context, section_start) != _URC_NO_REASON) return -EINVAL;
  return __sframe_find_fre(context, (int32_t)(address - (unsigned long)section_start), row) == _URC_END_OF_STACK ? -EINVAL : 0;
}

int reader_search(unsigned long address) {
  sframe_decoder_ctx context;
  sframe_frame_row_entry row;
  return find(address, &context, &row);
}

int reader_find(unsigned long address, struct reader_answer* answer) {
  sframe_decoder_ctx context;
  sframe_frame_row_entry row;
  if (find(address, &context, &row) != 0) return -EINVAL;
  _Unwind_Reason_Code error;
  const int32_t cfa = __sframe_fre_get_cfa_offset(&context, &row, &error);
  if (error != _URC_NO_REASON) return -EINVAL;
  answer->cfa = (struct reader_rule){reader_register, false, __sframe_fre_get_base_reg_id(&row) == SFRAME_BASE_REG_SP ? 7 : 6, cfa};
  const int32_t ra = __sframe_fre_get_ra_offset(&context, &row, &error);
  if (error != _URC_NO_REASON) return -EINVAL;
  answer->ra = (struct reader_rule){reader_cfa, true, 0, ra};
  const int32_t fp = __sframe_fre_get_fp_offset(&context, &row, &error);
  answer->fp = error == _URC_NO_REASON ? (struct reader_rule){reader_cfa, true, 0, fp} : (struct reader_rule){.base = reader_same};
  answer->outermost = false;
  return 0;
}
