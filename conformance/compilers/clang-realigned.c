// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the pop of %rbp where the stack is realigned: the CFA is loaded through the caller's %rbp.
// machine  x86_64
// key      missing-cfa-register-pop-sp-up-fp
// seen     clang 19.1.7 to 23.1.4
//
//   0x11b9     pop %r15                           cfa=[fp-40] ra=[cfa-8] fp=[fp+0]
//   0x11bb     pop %rbp                           cfa=[fp-40] ra=[cfa-8] fp=[fp+0]
//   0x11bc     lea -0x8(%r10), %rsp               cfa=[fp-40] ra=[cfa-8] fp=[fp+0]; right: cfa=r10+0 ra=[cfa-8] fp=same
//   0x11c0     ret                                cfa=sp+8 ra=[cfa-8] fp=[fp+0]; right: cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int f7(int n) {
  int s = n;
  for (int i = 0; i < (n & 3); i++) escape(__builtin_alloca(16 * i + 8));
  int a2[20] __attribute__((aligned(32))); escape(a2); s += a2[n & 15];
  __asm__ volatile("" : "+r"(s) : : "r13", "rbx", "rsi", "xmm6");
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f7(i);
  }
  return s == 123456;
}
