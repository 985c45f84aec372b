// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the pop of %rbp of a function that realigns the stack.
// machine  x86_64
// key      missing-fp-place-pop-sp-up-fp
// options  -O0
// seen     gcc 12.2.0 to 16.2.0
//
//   0x12bc     pop %r10                           cfa=[fp-8] ra=[cfa-8] fp=[fp+0]
//   0x12be     pop %rbp                           cfa=r10+0 ra=[cfa-8] fp=[fp+0]
//   0x12bf     lea -0x8(%r10), %rsp               cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r10+0 ra=[cfa-8] fp=same
//   0x12c3     ret                                cfa=sp+8 ra=[cfa-8] fp=[fp+0]; right: cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int f1(int n) {
  int s = n;
  if (s & 1) { int *p0 = (int *)__builtin_alloca(n * 4 + 40); escape(p0); s += leaf(p0[n & 3]); }
  switch (n & 7) { case 0: s += leaf(1); break; case 1: return leaf(s) + 1; case 2: s *= leaf(3); break; case 3: s -= 9; break; case 4: return s; case 5: s ^= leaf(5) + leaf(6); break; default: s += leaf(n); }
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
