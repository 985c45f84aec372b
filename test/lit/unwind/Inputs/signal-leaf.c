/* Dies in the handler of a fault in a leaf function. The handler returns to code without call frame
   information. AArch64. */
#include <stdlib.h>
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

__attribute__((noinline)) static void on_fault(int number) {
  (void)number;
  abort();
}

/* Its return address is in x30. */
__attribute__((noinline)) static long leaf(volatile long* address) {
  return *address;
}

__attribute__((noinline)) static long middle(void) {
  return leaf((volatile long*)8) + 1;
}

int main(void) {
  const struct action action = {on_fault, WITH_RESTORER, restorer, 0};
  syscall(SYS_rt_sigaction, FAULT, &action, NULL, 8);
  return (int)middle();
}
