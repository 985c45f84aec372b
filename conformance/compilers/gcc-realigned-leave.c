// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the leave of a function that realigns the stack: the caller's FP is looked up in the caller's frame.
// machine  x86_64
// key      missing-fp-place-leave-sp-fp
// seen     gcc 12.2.0 to 16.2.0
//
//   0x11b7     add -0xb0(%rbp,%rdx,4), %eax       cfa=r10+0 ra=[cfa-8] fp=[fp+0]
//   0x11be     leave                              cfa=r10+0 ra=[cfa-8] fp=[fp+0]
//   0x11bf     lea -0x8(%r10), %rsp               cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r10+0 ra=[cfa-8] fp=same
//   0x11c3     ret                                cfa=sp+8 ra=[cfa-8] fp=[fp+0]; right: cfa=sp+8 ra=[cfa-8] fp=same
//   0x11c8     lea 0x28(,%rdi,4), %eax            cfa=[fp-8] ra=[cfa-8] fp=[fp+0]

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int f1(int n) {
  int s = n;
  if (s & 1) { int *p0 = (int *)__builtin_alloca(n * 4 + 40); escape(p0); s += leaf(p0[n & 3]); }
  int a2[20] __attribute__((aligned(64))); escape(a2); s += a2[n & 15];
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f1(i);
  }
  return s == 123456;
}
