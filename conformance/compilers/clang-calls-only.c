// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    -fasynchronous-unwind-tables is ignored: no rows inside prologues and epilogues.
// machine  aarch64
// key      missing-cfa-register-ldp-sp-up-fp
// seen     clang 14.0.6; not 22
//
//   0x770      bl #0x754                          cfa=fp+32 ra=[cfa-24] fp=[cfa-32]
//   0x774      mul w0, w0, w19                    cfa=fp+32 ra=[cfa-24] fp=[cfa-32]
//   0x778      ldr x19, [sp, #0x10]               cfa=fp+32 ra=[cfa-24] fp=[cfa-32]
//   0x77c      ldp x29, x30, [sp], #0x20          cfa=fp+32 ra=[cfa-24] fp=[cfa-32]
//   0x780      ret                                cfa=fp+32 ra=[cfa-24] fp=[cfa-32]; right: cfa=sp+0 ra=same fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int f1(int n) { int a = leaf(n); return leaf(a + 1) * a; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
