// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the lmg that restores SP and FP of a frame of variable size.
// machine  s390x
// key      missing-cfa-register-lmg-sp-fp
// seen     clang 22.1.8
//
//   0x72c      lgfr %r2, %r0                      cfa=fp+320 ra=[cfa-48] fp=[cfa-72]
//   0x730      lmg %r11, %r15, 0xf8(%r11)         cfa=fp+320 ra=[cfa-48] fp=[cfa-72]
//   0x736      br %r14                            cfa=fp+320 ra=[cfa-48] fp=[cfa-72]; right: cfa=sp+160 ra=[cfa-48] fp=[cfa-72]

#define NOINLINE __attribute__((noinline))
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) int f7(int n) {
  int s = n;
  char *p0 = (char *)__builtin_alloca((n & 31) + 8); escape(p0); s += p0[n & 7];
  return s;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f7(i);
  }
  return s == 123456;
}
