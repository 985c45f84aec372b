// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The row says that the return address is plain at the instruction that authenticates it.
// machine  aarch64
// key      run-r402-hint
// options  -mbranch-protection=pac-ret+pc
// seen     clang 22.1.8
//
//   0x400714   hint #0x1d                         cfa=sp+0 ra=same fp=same: the RA rule same yields 0x39000000400738, the caller is at 0x400738

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int f1(int n) { int a = leaf(n); return leaf(a + 1) * a; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
