// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    A leaf function with __builtin_longjmp makes %r11 its frame pointer without a save; the row says that it is the caller's.
// machine  s390x
// key      run-r403-lg
// seen     gcc 12.2.0
//
//   0x10009ca  lg %r2, 8(%r1)                     cfa=fp+160 ra=same fp=same: the FP rule same yields 0x4000800128, the caller's is 0x0

static void *jb[5];
#define NOINLINE __attribute__((noinline))
NOINLINE void f1(void) { __builtin_longjmp(jb, 1); }
NOINLINE int f2(int n) { if (__builtin_setjmp(jb)) return n + 1; f1(); return 0; }
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f2(i); return s == 123456; }
