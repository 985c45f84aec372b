/* Dies in the handler of a fault in a leaf function; with an argument, the handler ends the fault and returns.
   It returns to code without call frame information. AArch64. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FAULT = 11, WITH_RESTORER = 0x04000000 };

/* Of the kernel. */
struct action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

void restorer(void);
__asm__(".text\n.globl restorer\n.type restorer, %function\n.balign 16\n"
        "restorer:\nmov x8, #139\nsvc #0\n.size restorer, . - restorer\n.balign 16");

static volatile long* page;
static int dies;

__attribute__((noinline)) static void on_fault(int number) {
  (void)number;
  if (dies) abort();
  mprotect((void*)page, 4096, PROT_READ);
}

/* Its return address is in x30. */
__attribute__((noinline)) static long leaf(volatile long* address) {
  return *address;
}

__attribute__((noinline)) static long middle(void) {
  return leaf(page) + 1;
}

int main(int argc, char** argv) {
  (void)argv;
  dies = argc == 1;
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct action action = {on_fault, WITH_RESTORER, restorer, 0};
  syscall(SYS_rt_sigaction, FAULT, &action, NULL, 8);
  return (int)middle() - 1;
}
