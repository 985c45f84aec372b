// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the sub of a function with Microsoft's calling convention until all xmm registers are saved.
// machine  x86_64
// key      late-cfa-too-low-sub-sp-down
// seen     clang 14.0.6 to 23.1.4
//
//   0x4017d2   push %rbx                          cfa=sp+24 ra=[cfa-8] fp=same
//   0x4017d3   sub $0xa0, %rsp                    cfa=sp+32 ra=[cfa-8] fp=same
//   0x4017da   movaps %xmm15, 0x90(%rsp)          cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+192 ra=[cfa-8] fp=same
//   0x4017e3   movaps %xmm14, 0x80(%rsp)          cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+192 ra=[cfa-8] fp=same
//   0x4017ec   movaps %xmm13, 0x70(%rsp)          cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+192 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k) { return leaf(a + b + c + d + e + f + g + h + i + j + k); }
__attribute__((noinline, ms_abi)) int f2(int n) {
  int s = n;
  s += many(n, s, 3, 4, n + 5, 6, s + 7, 8, 9, n, s);
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f2(i);
  }
  return s == 123456;
}
