// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    An early return before the frame is made has rows with a plain return address, which autiasp has still to authenticate.
// machine  aarch64
// key      carried-over-ra-signature-nowhere
// options  -mbranch-protection=pac-ret+leaf
// seen     clang 22.1.8
//
//   0x764      ldp x29, x30, [sp, #0xd0]          cfa=sp+240 ra=[cfa-24] fp=[cfa-32] signed
//   0x768      add sp, sp, #0xf0                  cfa=sp+240 ra=[cfa-24] fp=[cfa-32] signed
//   0x76c      hint #0x1d                         cfa=sp+0 ra=same fp=same signed
//   0x770      ret                                cfa=sp+0 ra=same fp=same
//   0x774      hint #0x1d                         cfa=sp+0 ra=same fp=same; right: cfa=sp+0 ra=same fp=same signed
//   0x778      b #0x714                           cfa=sp+0 ra=same fp=same signed; right: cfa=sp+0 ra=same fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
NOINLINE int f1(int n) { if (n & 1) return leaf(n); char l[200]; escape(l); return n + l[n & 15]; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
