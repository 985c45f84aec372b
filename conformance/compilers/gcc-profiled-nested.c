// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the push and the pop that keep the static chain of a nested function (%r10) over the call of __fentry__.
// machine  x86_64
// key      missing-cfa-too-low-push-sp-down
// functions f2\.\d+
// options  -pg -mfentry
// seen     gcc 12.2.0
//
//   0x1210     push %r10                          cfa=sp+8 ra=[cfa-8] fp=same
//   0x1212     call *0x3fe0                       cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x1218     pop %r10                           cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x121a     add (%r10), %edi                   cfa=sp+8 ra=[cfa-8] fp=same
//   0x121d     jmp 0x1200                         cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int f1(int n) {
  NOINLINE int f2(int k) { return leaf(k + n); }
  return f2(n) + n;
}
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
