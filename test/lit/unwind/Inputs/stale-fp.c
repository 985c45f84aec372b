// A function without tables that leaves the frame pointer of its caller's caller in RBP, then dies. The frames of
// inner() and middle() are found by RBP.
#include <stdlib.h>

__asm__(".text\n"
        "untabled: push %rbp\n"
        "mov (%rbp), %rbp\n"
        "call abort@plt\n");
void untabled(void);

static volatile size_t size = 100;
static void* volatile kept;

__attribute__((noinline)) void inner(void) {
  kept = __builtin_alloca(size);
  untabled();
  __asm__ volatile("");
}
__attribute__((noinline)) void middle(void) {
  kept = __builtin_alloca(size);
  inner();
  __asm__ volatile("");
}
int main(void) {
  middle();
  __asm__ volatile("");
}
