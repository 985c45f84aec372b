// For AMD64. A small interpreter in generated code, as Java's: a frame record in each frame, callees are entered by jumps and
// return to where the interpreter chooses, which is after no call. main > run > enter > method, `depth` times > die.
//
// An analysis that takes the instruction after the padding for the start of `method` finds, one word too high, a
// return address of a direct call: but that call goes elsewhere.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern char code_start[], code_end[];
__asm__(".text\n"
        "code_start:\n" // enter(depth, die)
        "push %rbp\n mov %rsp, %rbp\n push %rbx\n sub $8, %rsp\n mov %rsi, %rbx\n"
        "lea back(%rip), %rax\n push %rax\n jmp method\n"
        "back: mov -8(%rbp), %rbx\n leave\n ret\n"
        "call back\n"
        "after_call: ret\n .p2align 4, 0x90\n"
        "sub $8, %rsp\n"
        "method: push %rbp\n mov %rsp, %rbp\n sub $16, %rsp\n dec %edi\n jz 1f\n"
        "lea after_call(%rip), %rax\n push %rax\n push %rax\n lea back_in_method(%rip), %rax\n push %rax\n jmp method\n"
        "back_in_method: leave\n ret\n"
        "1: call *%rbx\n leave\n ret\n"
        "code_end:\n");

volatile int sink;

__attribute__((noinline)) void die(void) {
  abort();
}

__attribute__((noinline)) void run(int depth, void* page) {
  ((void (*)(int, void (*)(void)))page)(depth, die);
  ++sink;
}

int main(int argc, char** argv) {
  const size_t size = (size_t)(code_end - code_start);
  void* page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code_start, size);
  mprotect(page, 4096, PROT_READ | PROT_EXEC);
  run(argc > 1 ? atoi(argv[1]) : 6, page);
  return sink;
}
