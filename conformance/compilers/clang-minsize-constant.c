// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    minsize: no row for the push of push $2, pop %rax (a constant) before the frame is made.
// machine  x86_64
// key      missing-cfa-too-low-push-sp-down
// seen     clang 14.0.6 to 24
//
//   0x1131     cmp $0x2, %edi                     cfa=sp+8 ra=[cfa-8] fp=same
//   0x1134     jnz 0x113a                         cfa=sp+8 ra=[cfa-8] fp=same
//   0x1136     push $0x2                          cfa=sp+8 ra=[cfa-8] fp=same
//   0x1138     pop %rax                           cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x1139     ret                                cfa=sp+8 ra=[cfa-8] fp=same
//   0x113a     push %rbp                          cfa=sp+8 ra=[cfa-8] fp=same
//   0x113b     mov %rsp, %rbp                     cfa=sp+16 ra=[cfa-8] fp=[cfa-16]

#define NOINLINE __attribute__((noinline))
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline, minsize)) int f1(int n) {
  if (n == 2) return n;
  char v[n + 1]; escape(v); return v[n];
}
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
