// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The row that should follow a load follows the masks of -mspeculative-load-hardening.
// machine  aarch64
// key      late-cfa-too-high-ldp-sp-up-fp
// options  -mspeculative-load-hardening
// seen     clang 22.1.8
//
//   0x7e4      and x19, x19, x16                  cfa=sp+32 ra=[cfa-24] fp=[cfa-32]
//   0x7e8      ldp x29, x30, [sp], #0x20          cfa=sp+32 ra=[cfa-24] fp=[cfa-32]
//   0x7ec      and x29, x29, x16                  cfa=sp+32 ra=[cfa-24] fp=[cfa-32]; right: cfa=sp+0 ra=same fp=same
//   0x7f0      and x30, x30, x16                  cfa=sp+32 ra=[cfa-24] fp=[cfa-32]; right: cfa=sp+0 ra=same fp=same
//   0x7f4      hint #0x14                         cfa=sp+0 ra=same fp=same
//   0x7f8      mov x1, sp                         cfa=sp+0 ra=same fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int f5(int n) {
  int s = n;
  if (s & 1) { int *p1 = (int *)__builtin_alloca(n * 4 + 40); escape(p1); s += leaf(p1[n & 3]); }
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f5(i);
  }
  return s == 123456;
}
