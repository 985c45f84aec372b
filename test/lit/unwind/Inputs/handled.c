/* Dies in the handler of a fault: FAULT HOW. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;

__attribute__((noinline)) void write_second(volatile long *pair, long value) { pair[1] = value; }
__attribute__((noinline)) int divide(int a, int b) { return *(volatile int *)&a / b; }

#ifdef __x86_64__
__attribute__((noinline)) double divide_numbers(volatile double a, volatile double b) {
  __builtin_ia32_ldmxcsr(0x1d80); /* division by zero is an exception */
  return a / b;
}
#endif

static void handle(int number) {
  if (!strcmp(how, "fault-again")) *(volatile int *)16 = 1;
  if (!strcmp(how, "kill")) {
    signal(number, SIG_DFL);
    kill(getpid(), number);
    for (;;) pause();
  }
  if (!strcmp(how, "raise-blocked")) {
    signal(number, SIG_DFL);
    raise(number); /* pending until the return */
    return;
  }
  abort();
}

static void handle_info(int number, siginfo_t *info, void *context) {
  (void)info, (void)context;
  handle(number);
}

int main(int argc, char **argv) {
  static char stack[1 << 16];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGUSR1};
  struct sigaction action = {.sa_flags = SA_ONSTACK};
  const char *fault = argv[1];
  how = argv[2];
  if (!strcmp(how, "info")) action.sa_sigaction = handle_info, action.sa_flags |= SA_SIGINFO;
  else action.sa_handler = handle;
  if (!strcmp(how, "kill")) action.sa_flags |= SA_NODEFER;
  sigaltstack(&other, 0);
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) sigaction(numbers[i], &action, 0);
  if (!strcmp(fault, "write")) write_second(0, 42);
  if (!strcmp(fault, "text")) write_second((long *)0x4141414141414141, 42);
  if (!strcmp(fault, "divide")) return divide(7, argc > 100);
#ifdef __x86_64__
  if (!strcmp(fault, "float")) return (int)divide_numbers(argc, 0);
#endif
  if (!strcmp(fault, "trap")) __builtin_trap();
  if (!strcmp(fault, "call")) ((void (*)(void))0)();
  if (!strcmp(fault, "sent")) raise(SIGUSR1);
  return 0;
}
