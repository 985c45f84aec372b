// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The FP that an asynchronous function saves has bit 60 set, and the CFI says that it is the caller's.
// machine  x86_64
// key      run-r403-sub
// options  -fno-omit-frame-pointer
// seen     clang 14.0.6 to 23.1.4; not 24
//
//   0x114d     sub $0x18, %rsp                    cfa=fp+16 ra=[cfa-8] fp=[cfa-16]: the FP rule [cfa-16] yields 0x10007fffffffe440, the caller's is 0x7fffffffe440

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline, swiftasynccall)) void f1(__attribute__((swift_async_context)) char *context) {
  *context = leaf(*context);
}
int main(void) { char c = 1; for (int i = 0; i < 4; i++) f1(&c); return c != 1; }
