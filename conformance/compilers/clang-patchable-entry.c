// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No rows in the prologue of a function with room for patches.
// machine  aarch64
// key      missing-cfa-too-low-sub-sp-down
// options  -fpatchable-function-entry=8,4
// seen     clang 22.1.8
//
//   0x400bb0   nop                                cfa=sp+0 ra=same fp=same
//   0x400bb4   sub sp, sp, #0x180                 cfa=sp+0 ra=same fp=same
//   0x400bb8   stp x29, x30, [sp, #0x140]         cfa=sp+0 ra=same fp=same; right: cfa=sp+384 ra=same fp=same
//   0x400bbc   str x28, [sp, #0x150]              cfa=sp+0 ra=same fp=same; right: cfa=sp+384 ra=[cfa-56] fp=[cfa-64]
//   0x400bc0   stp x22, x21, [sp, #0x160]         cfa=sp+0 ra=same fp=same; right: cfa=sp+384 ra=[cfa-56] fp=[cfa-64]

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) { return leaf(a + b + c + d + e + f + g + h + i + j + k); }
struct big { int a[24]; };
NOINLINE int take(struct big b) { return leaf(b.a[3]); }
#include <setjmp.h>
NOINLINE void jump(jmp_buf to, int n) { if (leaf(n) & 1) longjmp(to, 1); }
NOINLINE void clean(int *p) { escape(p); }
__attribute__((noinline, noreturn, cold)) void die(int n) { for (;;) leaf(n); }
__attribute__((noinline, preserve_all)) int f1(int n) {
  int s = n;
  int a0[20] __attribute__((aligned(256))); escape(a0); s += a0[n & 15];
  if (s < 0) return leaf(s) + leaf(n);
  escape(__builtin_return_address(0));
  struct big b3 = {{n, s, n}}; s += take(b3);
  return s;
}
__attribute__((noinline)) int f2(int n) {
  int s = n;
  __asm__ volatile("" : "+r"(s) : : "x23", "x24");
  int c1 __attribute__((cleanup(clean))) = s; s += leaf(c1);
  escape(__builtin_return_address(0));
  return f1(s & 15);
}
__attribute__((noinline, no_stack_protector)) int f3(int n) {
  int s = n;
  char l0[1048576]; escape(l0); s += l0[n & 15];
  return f2(s & 15);
}
__attribute__((noinline, minsize)) int f4(int n) {
  int s = n;
  { static void *const t[] = {&&A0, &&B0, &&C0}; int i = n & 1; goto *t[i]; A0: s += leaf(1); goto *t[2]; B0: s += leaf(2) + leaf(s); C0: s++; }
  escape(__builtin_return_address(0));
  jmp_buf j2; if (!setjmp(j2)) jump(j2, n); s += leaf(1);
  if (__builtin_expect(s == 123456, 0)) die(s);
  return s;
}
__attribute__((noinline, optnone)) int f5(int n) {
  int s = n;
  if (n == 2) return s;
  __asm__ volatile("" : "+r"(s) : : "x26");
  return s;
}
__attribute__((noinline, hot)) int f6(int n) {
  int s = n;
  char *p0 = (char *)__builtin_alloca((n & 31) + 8); escape(p0); s += p0[n & 7];
  return s;
}
__attribute__((noinline, hot)) int f7(int n) {
  int s = n;
  int a0[20] __attribute__((aligned(256))); escape(a0); s += a0[n & 15];
  if (s & 4) return leaf(s);
  s += many(1, n, leaf(s), 4, 5, 6, n, 8, leaf(9), s, 11);
  return f2(s & 15);
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f1(i);
    s += f2(i);
    s += f3(i);
    s += f4(i);
    s += f5(i);
    s += f6(i);
    s += f7(i);
  }
  return s == 123456;
}
