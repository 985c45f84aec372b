// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The register that the CFA is popped to is renamed, but not in the row.
// machine  x86_64
// key      wrong-cfa-register-pop-sp-up
// options  -funroll-loops
// seen     gcc 12.2.0 to 16.2.0
//
//   0x11ec     lea -0x18(%rbp), %rsp              cfa=[fp-16] ra=[cfa-8] fp=[fp+0]
//   0x11f0     add %ebx, %eax                     cfa=[fp-16] ra=[cfa-8] fp=[fp+0]
//   0x11f2     pop %rbx                           cfa=[fp-16] ra=[cfa-8] fp=[fp+0]
//   0x11f3     pop %rdx                           cfa=[fp-16] ra=[cfa-8] fp=[fp+0]
//   0x11f4     pop %r12                           cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r1+0 ra=[cfa-8] fp=[fp+0]
//   0x11f6     pop %rbp                           cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r1+0 ra=[cfa-8] fp=[fp+0]
//   0x11f7     lea -0x8(%rdx), %rsp               cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r1+0 ra=[cfa-8] fp=same
//   0x11fb     ret                                cfa=sp+8 ra=[cfa-8] fp=[fp+0]; right: cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline, noipa))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i) { return leaf(a + b + c + d + e + f + g + h + i); }
__attribute__((noinline, force_align_arg_pointer)) int f5(int n) {
  int s = n; s += many(1, n, leaf(s), 4, 5, 6, n, 8, leaf(9)); return s;
}
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f5(i); return s == 123456; }
