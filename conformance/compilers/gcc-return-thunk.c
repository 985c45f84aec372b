// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The return thunk discards the word that its call pushed, and no row says so.
// machine  x86_64
// key      missing-cfa-too-high-lea-sp-up
// options  -mfunction-return=thunk
// functions __x86_return_thunk
// seen     gcc 12.2.0 to 16.2.0
//
//   0x11aa     pause                              cfa=sp+8 ra=[cfa-8] fp=same
//   0x11ac     lfence                             cfa=sp+8 ra=[cfa-8] fp=same
//   0x11af     jmp 0x11aa                         cfa=sp+8 ra=[cfa-8] fp=same
//   0x11b1     lea 0x8(%rsp), %rsp                cfa=sp+16 ra=[cfa-8] fp=same
//   0x11b6     ret                                cfa=sp+16 ra=[cfa-8] fp=same; right: cfa=sp+8 ra=[cfa-8] fp=same

__attribute__((noinline, noipa)) int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline, noipa)) int f1(int n) { int a = leaf(n); return leaf(n + 1) * a; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
