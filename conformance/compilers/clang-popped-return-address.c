// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    A return becomes pop, lfence, jmp; after the pop the row before it still applies.
// machine  x86_64
// key      run-r401-lfence
// options  -mlvi-hardening
// seen     clang 14.0.6 to 24
//
//   0x115f     lfence                             cfa=sp+8 ra=[cfa-8] fp=[cfa-16]: the CFA rule sp+8 yields CFA+8; right: cfa=sp+0

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int f1(int n) { int a = leaf(n); return leaf(n + 1) * a; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
