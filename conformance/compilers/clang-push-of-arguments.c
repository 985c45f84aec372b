// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The row for the push of an argument follows another instruction.
// machine  x86_64
// key      late-cfa-too-low-push-sp-down
// options  -Os
// seen     clang 19.1.7 to 23.1.4
//
//   0x119f     push %r12                          cfa=sp+88 ra=[cfa-8] fp=[cfa-16]
//   0x11a1     push %rax                          cfa=sp+96 ra=[cfa-8] fp=[cfa-16]
//   0x11a2     mov $0x8, %ebp                     cfa=sp+96 ra=[cfa-8] fp=[cfa-16]; right: cfa=sp+104 ra=[cfa-8] fp=[cfa-16]
//   0x11a7     push %r14                          cfa=sp+104 ra=[cfa-8] fp=[cfa-16]
//   0x11a9     call 0x112f                        cfa=sp+112 ra=[cfa-8] fp=[cfa-16]

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) { return leaf(a + b + c + d + e + f + g + h + i + j + k); }
__attribute__((noinline)) int f7(int n) {
  int s = n;
  s += many(many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, n), s, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  s += many(1, n, leaf(s), 4, 5, 6, n, 8, leaf(9), s, 11);
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f7(i);
  }
  return s == 123456;
}
