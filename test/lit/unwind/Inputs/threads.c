// Threads of eight kinds, each stopped in a known chain of calls when the first one aborts. Arguments: number
// of threads, depth of the recursion that each does first. The chain of every kind ends in wait_here() or,
// with the argument "crash", one more thread dies.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static sem_t ready;
static int depth;
volatile int sink;

KEEP void wait_here(void) {
  sem_post(&ready);
  for (;;) pause();
}

KEEP void plain(int n) {
  if (n > 0)
    plain(n - 1);
  else
    wait_here();
  ++sink;
}

KEEP void with_alloca(int n) {
  char* bytes = alloca(16 + n % 64);
  memset(bytes, n, 16);
  if (n > 0)
    with_alloca(n - 1);
  else
    wait_here();
  sink += bytes[3];
}

KEEP void large(int n) {
  volatile char bytes[6000];
  bytes[n % 6000] = 1;
  if (n > 0)
    large(n - 1 < 20 ? n - 1 : 20);
  else
    wait_here();
  sink += bytes[7];
}

static int compare(const void* a, const void* b) {
  static __thread int calls;
  if (++calls == 3) wait_here();
  return *(const int*)a - *(const int*)b;
}

KEEP void callback(void) {
  int numbers[] = {5, 3, 9, 1, 7};
  qsort(numbers, 5, sizeof numbers[0], compare);
  sink += numbers[2];
}

static void handler(int signal) {
  wait_here();
  sink += signal;
}

KEEP void raising(int n) {
  if (n > 0)
    raising(n - 1);
  else
    raise(SIGUSR1);
  ++sink;
}

/// The signal comes while no call is under way: the interrupted pc is the faulting instruction, at any place
/// of the function.
KEEP int faulting(volatile int* where) {
  int before = sink;
  *where = 1;
  return before + sink;
}

KEEP void on_other_stack(void) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, 0);
  sink += faulting((int*)8);
}

KEEP __attribute__((noreturn)) void never_returns(int n) {
  wait_here();
  _exit(n);
}

/// Ends with a call: the return address is the next function's first byte.
KEEP void no_return_tail(int n) {
  ++sink;
  never_returns(n);
}

KEEP void realigned(int n) {
  volatile int vector[16] __attribute__((aligned(64)));
  vector[0] = n;
  char* bytes = alloca(16 + n % 8);
  memset(bytes, n, 16);
  if (n > 0)
    realigned(n - 1);
  else
    wait_here();
  sink += vector[0] + bytes[1];
}

KEEP void* start(void* argument) {
  switch ((long)argument % 8) {
  case 0: plain(depth); break;
  case 1: with_alloca(depth); break;
  case 2: large(depth); break;
  case 3: callback(); break;
  case 4: raising(depth); break;
  case 5: on_other_stack(); break;
  case 6: no_return_tail(depth); break;
  case 7: realigned(depth); break;
  }
  return 0;
}

int main(int argc, char** argv) {
  const long threads = argc > 1 ? atol(argv[1]) : 8;
  depth = argc > 2 ? atoi(argv[2]) : 5;
  sem_init(&ready, 0, 0);
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, 0);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  for (long i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, start, (void*)i)) return 1;
  }
  for (long i = 0; i < threads; ++i) sem_wait(&ready);
  usleep(20000);
  abort();
}
