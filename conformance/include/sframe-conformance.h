/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a library exports to be tested by `sframe-conformance readers --library FILE.so`
 * (docs/conformance.md): one function, sframe_conformance_find(). It is called in a process of its own for
 * each section, so it may crash or hang: that is a result.
 */

#ifndef SFRAME_CONFORMANCE_H
#define SFRAME_CONFORMANCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The results of sframe_conformance_find(). */
enum {
  SFRAME_CONFORMANCE_ROW = 0,    /* *answer has the rules */
  SFRAME_CONFORMANCE_NONE = 1,   /* no function or no row has the pc */
  SFRAME_CONFORMANCE_REJECT = 2, /* the section, or the part of it that has the pc, is malformed */
  SFRAME_CONFORMANCE_UNSUPPORTED =
      3 /* well-formed perhaps, but of a version or an ABI that the reader does not know */
};

/* How a value of the caller is found. */
enum {
  SFRAME_CONFORMANCE_SAME = 0,      /* unchanged, or not saved */
  SFRAME_CONFORMANCE_UNDEFINED = 1, /* of RA: the outermost frame; the other rules do not matter */
  SFRAME_CONFORMANCE_FIXED = 2,     /* stored at the offset from the CFA that the section's header has */
  SFRAME_CONFORMANCE_VALUE = 3,     /* base + offset */
  SFRAME_CONFORMANCE_STORED = 4     /* the 8-byte word at base + offset */
};

#define SFRAME_CONFORMANCE_CFA                                                                               \
  0xffff /* the base that is the CFA; others are the ABI's DWARF numbers of registers */
#define SFRAME_CONFORMANCE_UNTOLD 0xff /* what the reader does not tell: never a fault */

struct sframe_conformance_rule {
  uint8_t kind;
  uint8_t reserved;
  uint16_t base;  /* of VALUE and STORED */
  int32_t offset; /* of VALUE and STORED: bytes */
};

struct sframe_conformance_answer {
  struct sframe_conformance_rule cfa, ra, fp;
  uint8_t ra_signed;    /* AArch64: the return address has an authentication code; 0, 1 or UNTOLD */
  uint8_t key_b;        /* AArch64: made with key B, not A; 0, 1 or UNTOLD */
  uint8_t signal_frame; /* version 3; 0, 1 or UNTOLD */
  uint8_t reserved;
};

/* Looks up `pc` in the section of `size` bytes at `section`, which the target has at `address`. The bytes are
 * aligned to 8; those after them cannot be read. All of *answer is 0xff before the call. */
int sframe_conformance_find(const void* section, size_t size, uint64_t address, uint64_t pc,
                            struct sframe_conformance_answer* answer);

#ifdef __cplusplus
}
#endif

#endif
