/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The answers of GNU binutils' libsframe.so.3, which is linked. For version 3.
 */

#include "reader.h"

#include <sframe-api.h>

#include <errno.h>
#include <stdlib.h>

unsigned reader_warnings;
static sframe_decoder_ctx* decoder;
static unsigned long section_start, first, last;

int reader_add(const void* section, unsigned long size, unsigned long text_start, unsigned long text_end, bool foreign_order) {
  (void)foreign_order;
  int error = 0;
  section_start = (unsigned long)section;
  first = text_start;
  last = text_end;
  decoder = sframe_decode(section, size, &error);
  return decoder ? 0 : -EINVAL;
}

bool reader_has(void) { return decoder != NULL; }

void reader_remove(void) {
  if (decoder) sframe_decoder_free(&decoder);
}

static int64_t from_section(unsigned long address) { return (int64_t)(address - section_start); }

static int find(unsigned long address, sframe_frame_row_entry* row) {
  if (address < first || address > last) return -EINVAL; /* not in the module */
  return sframe_find_fre(decoder, from_section(address), row) == 0 ? 0 : -EINVAL;
}

int reader_search(unsigned long address) {
  sframe_frame_row_entry row;
  return find(address, &row);
}

/* The type of the function at `address`: a row does not have it. */
static uint32_t type_at(unsigned long address) {
  uint32_t low = 0, high = sframe_decoder_get_num_fidx(decoder), type = SFRAME_FDE_TYPE_DEFAULT;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    uint32_t rows, size;
    int64_t start;
    unsigned char info, info2;
    uint8_t repetition;
    int error = 0;
    if (sframe_decoder_get_funcdesc_v3(decoder, middle, &rows, &size, &start, &info, &info2, &repetition) != 0) abort();
    start += sframe_decoder_get_offsetof_fde_start_addr(decoder, middle, &error);
    if (start > from_section(address)) {
      high = middle;
    } else {
      low = middle + 1;
      type = SFRAME_V3_FDE_TYPE(info2);
    }
  }
  return type;
}

/* Data word `index` of a row, signed. */
static int32_t word(const sframe_frame_row_entry* row, int index) {
  const int bits = 32 - (8 << ((row->fre_info >> 5) & 3));
  return (int32_t)(sframe_get_fre_udata(row, index, NULL) << bits) >> bits;
}

/* Two words of a flexible row: a control word and an offset. A control word of 0 has no offset. */
static struct reader_rule flexible(const sframe_frame_row_entry* row, int* index) {
  const int words = (row->fre_info >> 1) & 15;
  if (*index >= words) return (struct reader_rule){.base = reader_same};
  const uint32_t control = sframe_get_fre_udata(row, (*index)++, NULL);
  if (control == 0 || *index >= words) return (struct reader_rule){.base = reader_same};
  const int32_t offset = word(row, (*index)++);
  const bool stored = SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(control);
  if (!SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(control)) return (struct reader_rule){reader_cfa, stored, 0, offset};
  return (struct reader_rule){reader_register, stored, SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(control), offset};
}

int reader_find(unsigned long address, struct reader_answer* answer) {
  sframe_frame_row_entry row;
  if (find(address, &row) != 0) return -EINVAL;
  const uint32_t type = type_at(address);
  int error = 0;
  answer->outermost = sframe_fre_get_ra_undefined_p(decoder, &row, &error);
  if (answer->outermost) return 0;
  if (type == SFRAME_FDE_TYPE_FLEX) {
    int index = 0;
    answer->cfa = flexible(&row, &index);
    answer->ra = flexible(&row, &index);
    answer->fp = flexible(&row, &index);
    if (answer->ra.base == reader_same && sframe_decoder_get_fixed_ra_offset(decoder) != SFRAME_CFA_FIXED_RA_INVALID)
      answer->ra = (struct reader_rule){reader_cfa, true, 0, sframe_decoder_get_fixed_ra_offset(decoder)};
    return 0;
  }
  const bool sp = sframe_fre_get_base_reg_id(&row, &error) == SFRAME_BASE_REG_SP;
  answer->cfa = (struct reader_rule){reader_register, false, sp ? GNU_SP : GNU_FP, sframe_fre_get_cfa_offset(decoder, &row, type, &error)};
  if (error) return -EINVAL;
  const int32_t ra = sframe_fre_get_ra_offset(decoder, &row, type, &error);
  answer->ra = error ? (struct reader_rule){.base = reader_same} : (struct reader_rule){reader_cfa, true, 0, ra};
  error = 0;
  const int32_t fp = sframe_fre_get_fp_offset(decoder, &row, type, &error);
  answer->fp = error ? (struct reader_rule){.base = reader_same} : (struct reader_rule){reader_cfa, true, 0, fp};
  return 0;
}
