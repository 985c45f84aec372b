// Ways to die that are hard to walk back from. The argument names one; the chain of calls to it is always
// main > outer > its function.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

volatile int sink;

// Each dies in its middle. `epilogue` has popped its registers, `no_cfi` and `no_frame` have no tables; the
// former keeps a frame pointer, the latter nothing.
void epilogue(void), no_cfi(void), no_frame(void);
__asm__(".text\n"
        ".type epilogue, @function\nepilogue: .cfi_startproc\n"
        " push %rbx\n .cfi_def_cfa_offset 16\n .cfi_offset %rbx, -16\n sub $64, %rsp\n .cfi_def_cfa_offset 80\n"
        " add $64, %rsp\n .cfi_def_cfa_offset 16\n pop %rbx\n .cfi_def_cfa_offset 8\n .cfi_restore %rbx\n"
        " ud2\n ret\n .cfi_endproc\n.size epilogue, . - epilogue\n"
        ".type no_cfi, @function\nno_cfi: push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n call die\n leave\n ret\n"
        ".size no_cfi, . - no_cfi\n"
        ".type no_frame, @function\nno_frame: sub $40, %rsp\n call die\n add $40, %rsp\n ret\n"
        ".size no_frame, . - no_frame\n");

KEEP void die(void) {
  abort();
}

KEEP int leaf(volatile int* where) {
  *where = 1;
  return 0;
}
KEEP void in_leaf(void) {
  sink += leaf((int*)8);
}

/// The kernel's code in the process, which has no file.
KEEP void in_vdso(void) {
  void* vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*gettime)(clockid_t, struct timespec*) = vdso ? dlsym(vdso, "__vdso_clock_gettime") : 0;
  if (!gettime) _exit(77);
  sink += gettime(CLOCK_REALTIME_COARSE, (struct timespec*)8);
  ++sink;
}

KEEP void second_handler(int number) {
  (void)number;
  die();
  ++sink;
}
KEEP void first_handler(int number) {
  (void)number;
  sink += leaf((int*)8);
}
KEEP void nested(void) {
  struct sigaction action = {.sa_handler = first_handler};
  sigaction(SIGUSR1, &action, 0);
  action.sa_handler = second_handler;
  sigaction(SIGSEGV, &action, 0);
  raise(SIGUSR1);
  ++sink;
}

/// push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
KEEP void generated(void) {
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  void* page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  mprotect(page, 4096, PROT_READ | PROT_EXEC);
  ((void (*)(void (*)(void)))page)(die);
  ++sink;
}

/// A return address overwritten: the stack leads nowhere.
KEEP void corrupt(void) {
  void** volatile frame = __builtin_frame_address(0);
  frame[0] = frame[1] = (void*)0x4141414141414141;
  die();
  ++sink;
}

KEEP void outer(const char* how) {
  static const struct {
    const char* name;
    void (*function)(void);
  } cases[] = {
      {"leaf", in_leaf},       {"epilogue", epilogue},   {"vdso", in_vdso},     {"nested", nested}, {"no-cfi", no_cfi},
      {"no-frame", no_frame}, {"generated", generated}, {"corrupt", corrupt}, {"die", die},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (!strcmp(how, cases[i].name)) cases[i].function();
  ++sink;
}

int main(int argc, char** argv) {
  outer(argc > 1 ? argv[1] : "");
  return 0;
}
