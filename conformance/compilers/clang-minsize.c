// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    Functions that are compiled for the least size (minsize, -Oz) have rows for calls only.
// machine  aarch64
// key      missing-cfa-too-low-sub-sp-down
// seen     clang 22.1.8
//
//   0x80c      sub sp, sp, #0x160                 cfa=sp+0 ra=same fp=same
//   0x810      stp x29, x30, [sp, #0x140]         cfa=sp+0 ra=same fp=same; right: cfa=sp+352 ra=same fp=same
//   0x814      stp x28, x19, [sp, #0x150]         cfa=sp+0 ra=same fp=same; right: cfa=sp+352 ra=[cfa-24] fp=[cfa-32]
//   0x818      add x29, sp, #0x140                cfa=sp+0 ra=same fp=same; right: cfa=sp+352 ra=[cfa-24] fp=[cfa-32]
//   0x81c      mov w19, w0                        cfa=fp+32 ra=[cfa-24] fp=[cfa-32]

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
#include <setjmp.h>
NOINLINE void jump(jmp_buf to, int n) { if (leaf(n) & 1) longjmp(to, 1); }
__attribute__((noinline, minsize)) int f4(int n) {
  int s = n;
  jmp_buf j2; if (!setjmp(j2)) jump(j2, n); s += leaf(1);
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f4(i);
  }
  return s == 123456;
}
