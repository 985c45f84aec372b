// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The row for the pop of FP follows the instruction that removes the mark from FP.
// machine  x86_64
// key      run-r401-btr
// options  -fno-omit-frame-pointer
// seen     clang 14.0.6 to 24
//
//   0x1166     btr $0x3c, %rbp                    cfa=fp+16 ra=[cfa-8] fp=[cfa-16]: the CFA rule fp+16 yields 0x10007fffffffe450

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline, swiftasynccall)) void f1(__attribute__((swift_async_context)) char *context) {
  *context = leaf(*context);
}
int main(void) { char c = 1; for (int i = 0; i < 4; i++) f1(&c); return c != 1; }
