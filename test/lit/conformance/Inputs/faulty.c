/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Readers with one fault each. Without FAULT it is right about the one row of one-row/v3-amd64: 0x401000, 16 bytes.
 */
#include "sframe-conformance.h"

#include <string.h>
#include <unistd.h>

int sframe_conformance_find(const void* section, size_t size, uint64_t address, uint64_t pc,
                            struct sframe_conformance_answer* answer) {
  (void)address;
#if defined CRASH
  if (pc == 0x401000) *(volatile int*)0 = 1;
#elif defined OVERREAD
  volatile const unsigned char* bytes = section;
  (void)bytes[(size + 7) / 8 * 8];
#elif defined HANG
  for (;;) pause();
#elif defined SPIN
  for (;;) __asm__ volatile("");
#elif defined LEAVES
  _exit(0);
#elif defined NONSENSE
  return 42;
#elif defined SILENCE
  return SFRAME_CONFORMANCE_ROW;
#elif defined END
  --pc; /* has one address too many */
#endif
  (void)section;
  (void)size;
  if (pc < 0x401000 || pc >= 0x401010) return SFRAME_CONFORMANCE_NONE;
  memset(answer, 0, sizeof *answer);
  answer->cfa = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_VALUE, 0, 7, 8};
  answer->ra = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_FIXED, 0, 0, 0};
  answer->fp = (struct sframe_conformance_rule){SFRAME_CONFORMANCE_SAME, 0, 0, 0};
#if defined OFFSET
  answer->cfa.offset = 16;
#elif defined BASE
  answer->cfa.base = 6;
#elif defined SIGNAL
  answer->signal_frame = 1;
#endif
  return SFRAME_CONFORMANCE_ROW;
}
