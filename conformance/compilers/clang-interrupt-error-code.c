// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// about    The rows of an interrupt handler take the error code for the return address.
// machine  x86_64
// key      run-r401-push
// options  -mgeneral-regs-only -mno-red-zone
// seen     clang 14.0.6 to 24
//
//   0x1140     push %rax                          cfa=sp+8 ra=[cfa-8] fp=same: the CFA rule sp+8 yields CFA-8; right: cfa=sp+16

struct frame;
__attribute__((interrupt)) void f1(struct frame *interrupted, unsigned long code) {
  __asm__ volatile("" : : "r"(code) : "rbx", "memory");
}
__asm__("with_code: push $7; jmp f1"); // as the processor does for an exception
int main(void) {
  for (int i = 0; i < 4; i++)
    __asm__ volatile("mov %%rsp, %%rax; push $0x2b; push %%rax; pushf; push $0x33; call with_code" : : : "rax", "memory", "cc");
}
