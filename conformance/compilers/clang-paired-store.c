// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The store of x30 moves to a stp with an argument on the stack; the row says before it that it is saved.
// machine  aarch64
// key      wrong-ra-sub-sp-down
// options  -fomit-frame-pointer
// seen     clang 14.0.6, 22.1.8
//
//   0x728      sub sp, sp, #0x20                  cfa=sp+0 ra=same fp=same
//   0x72c      ldr x8, [sp, #0x20]                cfa=sp+32 ra=[cfa-16] fp=same; right: cfa=sp+32 ra=same fp=same
//   0x730      mov x0, x1                         cfa=sp+32 ra=[cfa-16] fp=same; right: cfa=sp+32 ra=same fp=same
//   0x734      stp x8, x30, [sp, #8]              cfa=sp+32 ra=[cfa-16] fp=same; right: cfa=sp+32 ra=same fp=same
//   0x738      movz w8, #0x1                      cfa=sp+32 ra=[cfa-16] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int f2(long a, long b, long c, long d, long e, long f, long g, long h, int i, long j) {
  __asm__ volatile("" : "+r"(i) : : "memory");
  return i + a + j;
}
NOINLINE int f1(long a, long b, long c, long d, long e, long f, long g, int h, long i) { return 1 + f2(b, a, c, d, e, f, g, i, 1, i); }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i, 1, 2, 3, 4, 5, 6, i, 8); return s == 123456; }
