/* Dies by a signal that is no fault, where a fault would be possible: HOW. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile long *volatile page; /* the handler needs it before the first access */

/* Makes the access possible. What the kernel has told of it is left on the stack. */
static void open_page(int number, siginfo_t *info, void *context) {
  (void)number, (void)info, (void)context;
  mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
}

static void on_alarm(int number) {
  (void)number;
  abort();
}

static void *prefetch(void *nothing) {
  (void)nothing;
  __asm__ volatile("xor %%eax, %%eax\n"
                   "1: prefetcht0 (%%rax)\n prefetchw (%%rax)\n nopw (%%rax)\n jmp 1b" ::: "rax");
  return 0;
}

static void *divide(void *nothing) {
  (void)nothing;
  __asm__ volatile("mov $3, %%ecx\n"
                   "1: mov $-7, %%rax\n cqo\n idiv %%rcx\n jmp 1b" ::: "rax", "rcx", "rdx");
  return 0;
}

int main(int argc, char **argv) {
  (void)argc;
  if (!strcmp(argv[1], "opened")) {
    struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &action, 0);
    signal(SIGALRM, on_alarm);
    page[0] = 0;
    ualarm(10000, 0);
    for (volatile long *here = page;;) here[0] = 1, here[0] = 2, here[0] = 3;
  }
  const int number = strcmp(argv[1], "divide") ? SIGSEGV : SIGFPE;
  pthread_t thread;
  pthread_create(&thread, 0, number == SIGFPE ? divide : prefetch, 0);
  usleep(10000);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, number);
  pthread_sigmask(SIG_BLOCK, &blocked, 0);
  kill(getpid(), number); /* the other thread takes it */
  for (;;) pause();
}
