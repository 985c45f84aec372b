// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the push of an asynchronous function's context.
// machine  x86_64
// key      run-r401-lea
// options  -fno-omit-frame-pointer
// seen     clang 14.0.6 to 23.1.4; not 24
//
//   0x1148     lea 0x8(%rsp), %rbp                cfa=sp+16 ra=[cfa-8] fp=[cfa-16]: the CFA rule sp+16 yields CFA-8; right: cfa=sp+24

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
__attribute__((noinline, swiftasynccall)) void f1(__attribute__((swift_async_context)) char *context) {
  *context = leaf(*context);
}
int main(void) { char c = 1; for (int i = 0; i < 4; i++) f1(&c); return c != 1; }
