// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    No row for the push that aligns the stack of an interrupt handler with an error code.
// machine  x86_64
// key      missing-cfa-too-low-push-sp-down
// options  -mgeneral-regs-only -mno-red-zone
// seen     clang 14.0.6 to 24
//
//   0x1140     push %rax                          cfa=sp+8 ra=[cfa-8] fp=same
//   0x1141     push %rbx                          cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x1142     push %rax                          cfa=sp+16 ra=[cfa-8] fp=same; right: cfa=sp+24 ra=[cfa-8] fp=same
//   0x1143     push %rax                          cfa=sp+24 ra=[cfa-8] fp=same; right: cfa=sp+32 ra=[cfa-8] fp=same
//   0x1144     cld                                cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+40 ra=[cfa-8] fp=same
//   0x1145     mov 0x20(%rsp), %rax               cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+40 ra=[cfa-8] fp=same
//   0x114a     add $0x8, %rsp                     cfa=sp+32 ra=[cfa-8] fp=same; right: cfa=sp+40 ra=[cfa-8] fp=same
//   0x114e     pop %rax                           cfa=sp+24 ra=[cfa-8] fp=same; right: cfa=sp+32 ra=[cfa-8] fp=same
//   0x114f     pop %rbx                           cfa=sp+16 ra=[cfa-8] fp=same; right: cfa=sp+24 ra=[cfa-8] fp=same
//   0x1150     add $0x10, %rsp                    cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+16 ra=[cfa-8] fp=same
//   0x1154     iretq                              cfa=sp+8 ra=[cfa-8] fp=same; right: cfa=sp+0 ra=[cfa-8] fp=same

struct frame;
__attribute__((interrupt)) void f1(struct frame *interrupted, unsigned long code) {
  __asm__ volatile("" : : "r"(code) : "rbx", "memory");
}
__asm__("with_code: push $7; jmp f1"); // as the processor does for an exception
int main(void) {
  for (int i = 0; i < 4; i++)
    __asm__ volatile("mov %%rsp, %%rax; push $0x2b; push %%rax; pushf; push $0x33; call with_code" : : : "rax", "memory", "cc");
}
