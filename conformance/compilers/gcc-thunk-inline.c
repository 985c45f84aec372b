// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The thunk in a function sets the CFA to sp+16, whatever the frame is, and nothing restores it.
// machine  x86_64
// key      wrong-cfa-too-low-nowhere
// options  -mindirect-branch=thunk-inline
// seen     gcc 12.2.0 to 16.2.0
//
//   0x118d     lfence                             cfa=sp+24 ra=[cfa-8] fp=same
//   0x1190     jmp 0x118b                         cfa=sp+24 ra=[cfa-8] fp=same
//   0x1192     mov %rax, (%rsp)                   cfa=sp+16 ra=[cfa-8] fp=same; right: cfa=sp+32 ra=[cfa-8] fp=same
//   0x1196     ret                                cfa=sp+16 ra=[cfa-8] fp=same; right: cfa=sp+32 ra=[cfa-8] fp=same
//   0x11a0     mov $0x2, %edi                     cfa=sp+16 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline)) int f2(int n) {
  int s = n;
  { static void *const t[] = {&&A1, &&B1, &&C1}; int i = n & 1; goto *t[i]; A1: s += leaf(1); goto *t[2]; B1: s += leaf(2) + leaf(s); C1: s++; }
  __asm__ volatile("" : "+r"(s) : : "r12", "r14", "rdi");
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f2(i);
  }
  return s == 123456;
}
