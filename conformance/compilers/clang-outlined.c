// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The row for the push of x30 in an outlined function is before it, and none for its pop.
// machine  aarch64
// key      run-r401-str
// options  -moutline
// functions OUTLINED_FUNCTION_[0-9]
// seen     clang 22.1.8
//
//   0x4008a8   str x30, [sp, #-0x10]!             cfa=sp+16 ra=[cfa-16] fp=same: the CFA rule sp+16 yields CFA+16; right: cfa=sp+0

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int f1(int n) { return leaf(n) + leaf(n + 1) * leaf(n + 2) - leaf(7); }
NOINLINE int f2(int n) { return leaf(n) + leaf(n + 1) * leaf(n + 2) - leaf(9); }
NOINLINE int f3(int n) { return leaf(n) + leaf(n + 1) * leaf(n + 2) - leaf(5); }
NOINLINE int f4(int n) { return leaf(n) + leaf(n + 1) * leaf(n + 2) - leaf(4); }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i) + f2(i) + f3(i) + f4(i); return s == 123456; }
