/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * GNU binutils' libsframe as a reader to be tested: its decoder. GNU_RELEASE is the number in the library's
 * name: 0 (binutils 2.40), 1 (2.41 to 2.45), 3 (2.46 and later). The old ones have no headers in Debian: what
 * is used of them is declared here.
 */

#include "sframe-conformance.h"

#include <stdbool.h>

#if GNU_RELEASE == 3
#  include <sframe-api.h>
#  define TYPE_ARGUMENT , type
#  define IS_VERSION_2(decoder) (sframe_decoder_get_version(decoder) == 2)
#else
typedef struct sframe_decoder_ctx sframe_decoder_ctx;
typedef struct {
  uint32_t fre_start_addr;
  unsigned char fre_offsets[12];
  unsigned char fre_info;
} sframe_frame_row_entry;
sframe_decoder_ctx* sframe_decode(const char* bytes, size_t size, int* error);
void sframe_decoder_free(sframe_decoder_ctx** decoder);
uint8_t sframe_decoder_get_abi_arch(sframe_decoder_ctx* decoder);
int8_t sframe_decoder_get_fixed_fp_offset(sframe_decoder_ctx* decoder);
int8_t sframe_decoder_get_fixed_ra_offset(sframe_decoder_ctx* decoder);
int sframe_find_fre(sframe_decoder_ctx* decoder, int32_t pc, sframe_frame_row_entry* row);
uint8_t sframe_fre_get_base_reg_id(sframe_frame_row_entry* row, int* error);
int32_t sframe_fre_get_cfa_offset(sframe_decoder_ctx* decoder, sframe_frame_row_entry* row, int* error);
int32_t sframe_fre_get_fp_offset(sframe_decoder_ctx* decoder, sframe_frame_row_entry* row, int* error);
int32_t sframe_fre_get_ra_offset(sframe_decoder_ctx* decoder, sframe_frame_row_entry* row, int* error);
bool sframe_fre_get_ra_mangled_p(sframe_decoder_ctx* decoder, sframe_frame_row_entry* row, int* error);
#  define TYPE_ARGUMENT
#  define IS_VERSION_2(decoder) (false)
#endif

/* The versions that a release reads. */
enum { OLDEST = GNU_RELEASE == 0 ? 1 : 2, NEWEST = GNU_RELEASE == 0 ? 1 : GNU_RELEASE == 1 ? 2 : 3 };

/* DWARF numbers of SP and FP by sfh_abi_arch. */
static const uint16_t stack_pointers[] = {0, 31, 31, 7, 15}, frame_pointers[] = {0, 29, 29, 6, 11};

static struct sframe_conformance_rule stored_at_cfa(int32_t offset) {
  return (struct sframe_conformance_rule){SFRAME_CONFORMANCE_STORED, 0, SFRAME_CONFORMANCE_CFA, offset};
}
static const struct sframe_conformance_rule same = {SFRAME_CONFORMANCE_SAME, 0, 0, 0};

#if GNU_RELEASE == 3

/* What a row does not have: the type of the function at `pc`, an offset from the section, and its marks. */
static uint32_t type_at(sframe_decoder_ctx* decoder, int64_t pc, struct sframe_conformance_answer* answer) {
  if (sframe_decoder_get_version(decoder) < 3) return SFRAME_FDE_TYPE_DEFAULT;
  const uint32_t count = sframe_decoder_get_num_fidx(decoder);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t rows, size;
    int64_t start;
    unsigned char info, info2;
    uint8_t repetition;
    int error = 0;
    if (sframe_decoder_get_funcdesc_v3(decoder, i, &rows, &size, &start, &info, &info2, &repetition) != 0)
      continue;
    if (sframe_decoder_get_flags(decoder) & SFRAME_F_FDE_FUNC_START_PCREL)
      start += sframe_decoder_get_offsetof_fde_start_addr(decoder, i, &error);
    if (pc < start || (uint64_t)(pc - start) >= size) continue;
    answer->signal_frame = info >> 7;
    answer->key_b = info >> 5 & 1;
    return SFRAME_V3_FDE_TYPE(info2);
  }
  return SFRAME_FDE_TYPE_DEFAULT;
}

static int32_t signed_word(const sframe_frame_row_entry* row, int index) {
  const int unused = 32 - (8 << (row->fre_info >> 5 & 3));
  return (int32_t)(sframe_get_fre_udata(row, index, NULL) << unused) >> unused;
}

/* The library gives the words of flexible rows: pairs of a control word and an offset; a control word of 0
   stands alone. What is malformed among them is for its users to see. */
static struct sframe_conformance_rule flexible(const sframe_frame_row_entry* row, int* index, bool* good) {
  const int words = row->fre_info >> 1 & 15;
  if (*index >= words) return same;
  const uint32_t control = sframe_get_fre_udata(row, (*index)++, NULL);
  if (control == 0) return same;
  if (*index >= words) *good = false;
  const int32_t offset = *good ? signed_word(row, (*index)++) : 0;
  const uint8_t kind = control & 2 ? SFRAME_CONFORMANCE_STORED : SFRAME_CONFORMANCE_VALUE;
  return (struct sframe_conformance_rule){
      kind, 0, control & 1 ? (uint16_t)(control >> 3) : SFRAME_CONFORMANCE_CFA, offset};
}

#endif

static int rules(sframe_decoder_ctx* decoder, sframe_frame_row_entry* row, int64_t pc,
                 struct sframe_conformance_answer* answer) {
  const uint8_t abi = sframe_decoder_get_abi_arch(decoder);
  if (abi < 1 || abi > 4) return SFRAME_CONFORMANCE_REJECT;                /* its users know their own ABI */
  if (abi == 4 && GNU_RELEASE != 3) return SFRAME_CONFORMANCE_UNSUPPORTED; /* came with binutils 2.45 */
  int error = 0;
  if (abi == 1 || abi == 2) answer->ra_signed = sframe_fre_get_ra_mangled_p(decoder, row, &error);
#if GNU_RELEASE == 3
  const uint32_t type = type_at(decoder, pc, answer);
  if (sframe_fre_get_ra_undefined_p(decoder, row, &error)) {
    answer->cfa = answer->ra = answer->fp =
        (struct sframe_conformance_rule){SFRAME_CONFORMANCE_UNDEFINED, 0, 0, 0};
    return SFRAME_CONFORMANCE_ROW;
  }
  if (type == SFRAME_FDE_TYPE_FLEX) {
    int index = 0;
    bool good = true;
    answer->cfa = flexible(row, &index, &good);
    answer->ra = flexible(row, &index, &good);
    answer->fp = flexible(row, &index, &good);
    const int32_t fixed_ra = sframe_decoder_get_fixed_ra_offset(decoder);
    if (answer->ra.kind == SFRAME_CONFORMANCE_SAME && fixed_ra) answer->ra = stored_at_cfa(fixed_ra);
    good = good && answer->cfa.kind != SFRAME_CONFORMANCE_SAME && answer->cfa.base != SFRAME_CONFORMANCE_CFA;
    return good ? SFRAME_CONFORMANCE_ROW : SFRAME_CONFORMANCE_REJECT;
  }
  if (type != SFRAME_FDE_TYPE_DEFAULT) return SFRAME_CONFORMANCE_REJECT;
#else
  (void)pc;
#endif
  const uint16_t base = sframe_fre_get_base_reg_id(row, &error) ? stack_pointers[abi] : frame_pointers[abi];
  error = 0;
  const int32_t cfa = sframe_fre_get_cfa_offset(decoder, row TYPE_ARGUMENT, &error);
  if (error) return SFRAME_CONFORMANCE_REJECT;
  answer->cfa = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_VALUE, 0, base, cfa};
  int32_t ra = sframe_fre_get_ra_offset(decoder, row TYPE_ARGUMENT, &error);
  if (error) ra = sframe_decoder_get_fixed_ra_offset(decoder); /* which 2.40 leaves to its users */
  answer->ra = ra == 0 ? same : stored_at_cfa(ra);             /* SFRAME_FRE_RA_OFFSET_INVALID */
  error = 0;
  int32_t fp = sframe_fre_get_fp_offset(decoder, row TYPE_ARGUMENT, &error);
  if (error) fp = sframe_decoder_get_fixed_fp_offset(decoder);
  answer->fp = error && fp == 0 ? same : stored_at_cfa(fp);
  if (abi == 4 && GNU_RELEASE == 3 && IS_VERSION_2(decoder)) { /* odd: a register */
    if (answer->ra.kind == SFRAME_CONFORMANCE_STORED && ra & 1)
      answer->ra = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_VALUE, 0, (uint16_t)(ra >> 1), 0};
    if (answer->fp.kind == SFRAME_CONFORMANCE_STORED && fp & 1)
      answer->fp = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_VALUE, 0, (uint16_t)(fp >> 1), 0};
  }
  return SFRAME_CONFORMANCE_ROW;
}

int sframe_conformance_find(const void* section, size_t size, uint64_t address, uint64_t pc,
                            struct sframe_conformance_answer* answer) {
  /* It says of versions that it does not know, and of damaged headers, the same. */
  const unsigned char* bytes = section;
  const bool is_section =
      size > 2 && ((bytes[0] == 0xe2 && bytes[1] == 0xde) || (bytes[0] == 0xde && bytes[1] == 0xe2));
  if (is_section && bytes[2] >= 1 && bytes[2] <= 3 && (bytes[2] < OLDEST || bytes[2] > NEWEST))
    return SFRAME_CONFORMANCE_UNSUPPORTED;
  int error = 0;
  sframe_decoder_ctx* decoder = sframe_decode(section, size, &error);
  if (!decoder) return SFRAME_CONFORMANCE_REJECT;
  const int64_t distance = (int64_t)(pc - address);
  sframe_frame_row_entry row;
  int result = SFRAME_CONFORMANCE_NONE;
#if GNU_RELEASE != 3
  if (distance == (int32_t)distance) /* its interface has no others */
#endif
    if (sframe_find_fre(decoder, distance, &row) == 0) result = rules(decoder, &row, distance, answer);
  sframe_decoder_free(&decoder);
  return result;
}
