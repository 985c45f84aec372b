// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    Large frame: no row for the ldp that restores x29, on which the CFA is based.
// machine  aarch64
// key      missing-cfa-register-ldp-fp
// seen     gcc 12.2.0
//
//   0x7f8      mov w19, w1                        cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x7fc      bl #0x7a0                          cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x800      madd w0, w19, w0, w21              cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x804      ldp x29, x30, [sp]                 cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x808      ldp x19, x20, [sp, #0x10]          cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]; right: cfa=sp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x80c      ldr x21, [sp, #0x20]               cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]; right: cfa=sp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x810      add sp, sp, #0x800                 cfa=fp+2048 ra=[cfa-2040] fp=[cfa-2048]; right: cfa=sp+2048 ra=[cfa-2040] fp=[cfa-2048]
//   0x814      ret                                cfa=sp+0 ra=same fp=same

#define NOINLINE __attribute__((noinline, noipa))
NOINLINE int leaf(int n) { __asm__ volatile("" : "+r"(n) : : "memory"); return n; }
NOINLINE void escape(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
NOINLINE int f1(int n) {
  char l[2000]; escape(l); escape(__builtin_frame_address(0));
  return leaf(n) + leaf(2) * leaf(l[n]);
}
int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += f1(i); return s == 123456; }
