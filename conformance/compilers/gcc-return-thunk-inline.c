// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The call of an inlined return thunk overwrites the slot where FP was saved, and no row says that it is restored.
// machine  x86_64
// key      carried-over-fp-place-nowhere
// options  -mfunction-return=thunk-inline
// seen     gcc 12.2.0 to 16.2.0
//
//   0x11b0     call 0x11bc                        cfa=sp+8 ra=[cfa-8] fp=[cfa-16]
//   0x11b5     pause                              cfa=sp+8 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+8 ra=[cfa-8] fp=same
//   0x11b7     lfence                             cfa=sp+8 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+8 ra=[cfa-8] fp=same
//   0x11ba     jmp 0x11b5                         cfa=sp+8 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+8 ra=[cfa-8] fp=same
//   0x11bc     lea 0x8(%rsp), %rsp                cfa=sp+16 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x11c1     ret                                cfa=sp+16 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+8 ra=[cfa-8] fp=same

__attribute__((noinline, noipa)) int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline, noipa)) int f1(int n) { int a = leaf(n); return leaf(n + 1) * a; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
