/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * sframe-utils' own codec, by its C interface, as a reader to be tested.
 */

#include "sframe-conformance.h"

#include <sframe/c/section.h>
#include <stdbool.h>
#include <string.h>

static struct sframe_conformance_rule converted(sframe_rule rule) {
  static const uint8_t kinds[] = {[SFRAME_RULE_SAME] = SFRAME_CONFORMANCE_SAME,
                                  [SFRAME_RULE_UNDEFINED] = SFRAME_CONFORMANCE_UNDEFINED,
                                  [SFRAME_RULE_FIXED] = SFRAME_CONFORMANCE_FIXED,
                                  [SFRAME_RULE_VALUE] = SFRAME_CONFORMANCE_VALUE,
                                  [SFRAME_RULE_STORED] = SFRAME_CONFORMANCE_STORED};
  return (struct sframe_conformance_rule){kinds[rule.kind], 0, rule.base, rule.offset};
}

static int find(const sframe_section* section, uint64_t pc, struct sframe_conformance_answer* answer) {
  sframe_section_info info = {.size = sizeof info};
  sframe_function function = {.size = sizeof function};
  sframe_row row = {.size = sizeof row};
  if (sframe_section_get_info(section, &info) != SFRAME_OK) return SFRAME_CONFORMANCE_REJECT;
  switch (sframe_section_find(section, pc, &function, &row, NULL)) {
  case SFRAME_OK: break;
  case SFRAME_NO_INFO: return SFRAME_CONFORMANCE_NONE;
  default: return SFRAME_CONFORMANCE_REJECT;
  }
  const bool aarch64 = strncmp(info.abi, "aarch64", 7) == 0;
  answer->cfa = converted(row.cfa);
  answer->ra = converted(row.ra);
  answer->fp = converted(row.fp);
  answer->ra_signed = aarch64 ? row.ra_signed != 0 : SFRAME_CONFORMANCE_UNTOLD;
  answer->key_b = aarch64 ? function.pauth_key_b != 0 : SFRAME_CONFORMANCE_UNTOLD;
  answer->signal_frame = function.signal_frame != 0;
  return SFRAME_CONFORMANCE_ROW;
}

int sframe_conformance_find(const void* section, size_t size, uint64_t address, uint64_t pc,
                            struct sframe_conformance_answer* answer) {
  sframe_section* opened = sframe_section_open(section, size, address, NULL);
  if (!opened) return SFRAME_CONFORMANCE_REJECT;
  const int result = find(opened, pc, answer);
  sframe_section_close(opened);
  return result;
}
