// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the leave of a function that -mforce-drap gives such a frame.
// machine  x86_64
// key      missing-fp-place-leave-sp-up-fp
// options  -mforce-drap
// seen     gcc 12.2.0 to 16.2.0
//
//   0x11a5     add $0x20, %rsp                    cfa=r10+0 ra=[cfa-8] fp=[fp+0]
//   0x11a9     leave                              cfa=r10+0 ra=[cfa-8] fp=[fp+0]
//   0x11aa     lea -0x8(%r10), %rsp               cfa=r10+0 ra=[cfa-8] fp=[fp+0]; right: cfa=r10+0 ra=[cfa-8] fp=same
//   0x11ae     ret                                cfa=sp+8 ra=[cfa-8] fp=[fp+0]; right: cfa=sp+8 ra=[cfa-8] fp=same

#define NOINLINE __attribute__((noinline))

__attribute__((noinline, ms_abi)) int f2(int n) {
  int s = n;
  return s;
}
__attribute__((noinline, force_align_arg_pointer)) int f6(int n) {
  int s = n;
  return f2(s & 15);
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    s += f2(i);
    s += f6(i);
  }
  return s == 123456;
}
