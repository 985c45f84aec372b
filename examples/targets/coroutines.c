// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of own_stepper.cc: coroutines with their own convention, on AMD64. run_coroutine() saves its
// caller's registers, switches to the coroutine's stack and calls its body. No table can represent the
// caller of that frame, because it is on another stack. Two coroutines, one started by the other; the inner
// one aborts.

#include <stdlib.h>

struct coroutine {
  void* caller_sp; // points to saved r15, r14, r13, r12, rbx, rbp, return address
  char* stack;     // its end
};

void run_coroutine(struct coroutine* coroutine, void (*body)(void));

// From coroutine_body to coroutine_done, SP points to the address of the struct coroutine.
__asm__(".text\n.globl run_coroutine\n.type run_coroutine, @function\nrun_coroutine:\n"
        "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov 8(%rdi), %rsp\n"
        "  push %rdi\n"
        ".globl coroutine_body\ncoroutine_body:\n"
        "  call *%rsi\n"
        ".globl coroutine_done\ncoroutine_done:\n"
        "  pop %rdi\n"
        "  mov (%rdi), %rsp\n"
        "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
        "  ret\n.size run_coroutine, . - run_coroutine\n"
        ".section .note.GNU-stack,\"\",@progbits\n.text\n");

static char stacks[2][1 << 16] __attribute__((aligned(16)));
static struct coroutine outer = {0, stacks[0] + sizeof stacks[0] - 8};
static struct coroutine inner = {0, stacks[1] + sizeof stacks[1] - 8};
static volatile int done;

static __attribute__((noinline)) void inner_body(void) {
  if (!done) abort();
  done = 1;
}
static __attribute__((noinline)) void outer_body(void) {
  run_coroutine(&inner, inner_body);
  done = 2;
}
__attribute__((noinline)) void scheduler(void) {
  run_coroutine(&outer, outer_body);
  done = 3;
}
int main(void) {
  scheduler();
  return done;
}
