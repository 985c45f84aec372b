// Assembly without tables that dies in its middle, on each architecture. The argument selects the place; the chain is
// main > outer > the function. All but `leaf` keep a frame record for a while.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTION(name, body) \
  __asm__(".text\n.p2align 4\n.globl " name "\n.type " name ", %function\n" name ":\n" body "\n.size " name ", . - " name "\n")

#if defined __x86_64__
#define RECORD "push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n"
#define DIE "ud2\n"
FUNCTION("leaf", "xor %eax, %eax\n" DIE "ret");
FUNCTION("prologue", "push %rbp\n" DIE "mov %rsp, %rbp\n sub $32, %rsp\n leave\n ret");
FUNCTION("body", RECORD "push %rbx\n xor %ebx, %ebx\n" DIE "pop %rbx\n leave\n ret");
FUNCTION("epilogue", RECORD "leave\n" DIE "ret");
FUNCTION("calls", "sub $56, %rsp\n call die\n add $56, %rsp\n ret");
#elif defined __aarch64__
#define RECORD "stp x29, x30, [sp, #-48]!\n mov x29, sp\n"
#define DIE "udf #0\n"
FUNCTION("leaf", "mov x0, #0\n" DIE "ret");
FUNCTION("prologue", "stp x29, x30, [sp, #-48]!\n" DIE "mov x29, sp\n ldp x29, x30, [sp], #48\n ret");
FUNCTION("body", RECORD "str x19, [sp, #16]\n mov x19, #0\n" DIE "ldr x19, [sp, #16]\n ldp x29, x30, [sp], #48\n ret");
FUNCTION("epilogue", RECORD "ldp x29, x30, [sp], #48\n" DIE "ret");
FUNCTION("calls", "sub sp, sp, #32\n str x30, [sp, #8]\n bl die\n ldr x30, [sp, #8]\n add sp, sp, #32\n ret");
#elif defined __s390x__
#define RECORD "stmg %r11, %r15, 88(%r15)\n aghi %r15, -168\n lgr %r11, %r15\n"
#define DIE ".short 0\n" // no instruction: the pc is after it
FUNCTION("leaf", "lghi %r2, 0\n" DIE "br %r14");
FUNCTION("prologue", "stmg %r11, %r15, 88(%r15)\n" DIE "aghi %r15, -168\n lmg %r11, %r15, 256(%r15)\n br %r14");
FUNCTION("body", RECORD "lghi %r12, 0\n" DIE "lmg %r11, %r15, 256(%r15)\n br %r14");
FUNCTION("epilogue", RECORD "lmg %r11, %r15, 256(%r11)\n" DIE "br %r14");
FUNCTION("calls", "stmg %r14, %r15, 112(%r15)\n aghi %r15, -160\n brasl %r14, die\n lmg %r14, %r15, 272(%r15)\n br %r14");
#endif

void leaf(void), prologue(void), body(void), epilogue(void), calls(void);
volatile int sink;

__attribute__((noinline)) void die(void) {
  abort();
}

// A big frame of its own, so that passing over it would show.
__attribute__((noinline)) void outer(const char* how) {
  static const struct {
    const char* name;
    void (*function)(void);
  } cases[] = {{"leaf", leaf}, {"prologue", prologue}, {"body", body}, {"epilogue", epilogue}, {"calls", calls}};
  volatile char room[400];
  room[how[0]] = 1;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (!strcmp(how, cases[i].name)) cases[i].function();
  sink += room[how[1]];
}

int main(int argc, char** argv) {
  outer(argc > 1 ? argv[1] : "body");
  return 0;
}
