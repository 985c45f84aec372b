// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    SP and r11 are kept in f0 and f2: the row for SP is at the lgdr of r11.
// machine  s390x
// key      wrong-cfa-too-low-nowhere
// seen     gcc 12.2.0
//
//   0x736      la %r2, 0xa0(%r2, %r15)            cfa=sp+520 ra=same fp=r17
//   0x73a      mvi 0(%r2), 1                      cfa=sp+520 ra=same fp=r17
//   0x73e      llgc %r2, 0xa0(%r1, %r15)          cfa=sp+520 ra=same fp=r17
//   0x744      lgdr %r11, %f2                     cfa=sp+520 ra=same fp=r17
//   0x748      lgdr %r15, %f0                     cfa=sp+160 ra=same fp=same; right: cfa=sp+520 ra=same fp=same
//   0x74c      br %r14                            cfa=sp+160 ra=same fp=same

__attribute__((noinline, noipa)) long f1(long n) {
  volatile char v[200]; v[n & 7] = n; v[n & 3] = 1;
  __asm__ volatile("" : : : "r11");
  return v[n & 7];
}
int main(void) { long s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
