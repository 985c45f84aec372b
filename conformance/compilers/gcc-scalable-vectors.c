// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    DW_CFA_def_cfa_offset while the CFA is an expression, after scalable vectors were released.
// machine  aarch64
// key      cfi-c111
// options  -march=armv8.2-a+sve
// seen     gcc 12.2.0
//
//   0x764      to 0x7a8                           DW_CFA_def_cfa_register or DW_CFA_def_cfa_offset while the CFA is an expression; right: not permitted (DWARF 5, 6.4.2)

#include <arm_sve.h>
#define NOINLINE __attribute__((noinline))
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
NOINLINE int f1(int n) {
  svint32_t v = svdup_s32(n); escape(&v);
  return svaddv_s32(svptrue_b32(), v);
}
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
