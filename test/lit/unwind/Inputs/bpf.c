// For example-bpf.test: a process whose stacks are known. Runs until it is killed.
//
//   main a b c spin                     without frame pointers, b with a large frame
//   main raise ... (handler) a b c spin on a stack of its own for signals
//   main qsort ... compare c spin       through the C library
//   (thread) a b c spin
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone)) void
#define END __asm__ volatile("" ::: "memory") /* no tail calls */

static volatile unsigned long sink;

FUNCTION spin(int n) {
  for (int i = 0; i < 300000; ++i) sink += (unsigned long)(i * n);
  END;
}

FUNCTION c(int n) {
  spin(n + 1);
  END;
}

FUNCTION b(int n) {
  char room[n * 16]; // the CFA is then relative to FP
  memset(room, n, sizeof room);
  sink += (unsigned long)room[n];
  c(n);
  END;
}

FUNCTION a(int n) {
  b(n + 2);
  END;
}

FUNCTION handler(int number) {
  a(number);
  END;
}

static int compare(const void* left, const void* right) {
  c(1);
  return *(const int*)left - *(const int*)right;
}

static void* thread(void* argument) {
  for (;;) a(3);
  return argument;
}

int main(void) {
  const stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  pthread_t started;
  if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  if (pthread_create(&started, NULL, thread, NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  for (;;) {
    int numbers[] = {4, 3, 2, 1};
    a(2);
    raise(SIGUSR1);
    qsort(numbers, 4, sizeof numbers[0], compare);
  }
}
