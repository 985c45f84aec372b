// Stands still with a signal in a signal in the vdso: main > ask_time > [vdso] > [SIGSEGV] on_fault > [SIGUSR1] on_signal.
// Writes "ready" when it does. With -DDIE it aborts instead.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int signal) {
#ifdef DIE
  abort();
#endif
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}

static void on_fault(int signal) {
  raise(SIGUSR1);
  pause();
}

__attribute__((noinline)) int ask_time(struct timespec *where) {
  // Where the clock cannot be read at this moment, the vdso calls the kernel, which answers EFAULT.
  int result = -1;
  for (int i = 0; i < 100000 && result != 0; ++i) result = clock_gettime(CLOCK_REALTIME, where);
  __asm__ volatile("" ::: "memory");
  return result;
}

int main(void) {
  signal(SIGSEGV, on_fault);
  signal(SIGUSR1, on_signal);
  return ask_time((struct timespec *)16);
}
