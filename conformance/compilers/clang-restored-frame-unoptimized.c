// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the lmg that restores SP and FP of an aligned frame, without optimization.
// machine  s390x
// key      missing-cfa-register-lmg-sp-up-fp
// seen     clang 22.1.8
//
//   0x792      lgf %r2, 0xc0(%r11)                cfa=fp+360 ra=[cfa-48] fp=[cfa-72]
//   0x798      lmg %r11, %r15, 0x120(%r11)        cfa=fp+360 ra=[cfa-48] fp=[cfa-72]
//   0x79e      br %r14                            cfa=fp+360 ra=[cfa-48] fp=[cfa-72]; right: cfa=sp+160 ra=[cfa-48] fp=[cfa-72]

#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
typedef double vector __attribute__((vector_size(32)));
__attribute__((noinline, optnone)) int f3(int n) {
  int s = n;
  vector d0 = {(double)n, 1, 2, 3}; leaf(n); s += (int)(d0 * d0)[n & 3];
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f3(i);
  }
  return s == 123456;
}
