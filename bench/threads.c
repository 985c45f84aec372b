// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core on which sframe-unwind and its peers are timed: 64 threads, each some 200 frames deep (plain
// recursion, alloca, large frames, and a callback from qsort), and a main thread that aborts. With an
// argument it does not abort, but writes a line and waits, to be walked alive.

#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 64, depth = 200 };
static pthread_barrier_t ready;
static volatile int sink;

static void wait_here(void) {
  pthread_barrier_wait(&ready);
  for (;;) pause();
}
__attribute__((noinline)) static int plain(int n) {
  return n ? plain(n - 1) + 1 : (wait_here(), 0);
}
__attribute__((noinline)) static int with_alloca(int n) {
  char* p = alloca((size_t)(16 + n % 5 * 24));
  memset(p, n, 16);
  return n ? with_alloca(n - 1) + p[3] : (wait_here(), 0);
}
__attribute__((noinline)) static int large(int n) {
  volatile char room[600];
  room[n % 600] = (char)n;
  return n ? large(n - 1) + room[n % 600] : (wait_here(), 0);
}
static __thread int left;
static int compare(const void* a, const void* b) {
  if (left-- > 0) {
    int numbers[2] = {2, 1};
    qsort(numbers, 2, sizeof *numbers, compare);
  } else {
    wait_here();
  }
  return *(const int*)a - *(const int*)b;
}
static void* run(void* argument) {
  const long kind = (long)argument % 4;
  if (kind == 0) sink = plain(depth);
  if (kind == 1) sink = with_alloca(depth);
  if (kind == 2) sink = large(depth);
  if (kind == 3) {
    int numbers[2] = {2, 1};
    left = depth / 4;
    qsort(numbers, 2, sizeof *numbers, compare);
  }
  return 0;
}
int main(int argc, char** argv) {
  (void)argv;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_barrier_init(&ready, 0, threads + 1);
  for (long i = 0; i < threads; ++i) {
    pthread_t thread;
    pthread_create(&thread, &attributes, run, (void*)i);
  }
  pthread_barrier_wait(&ready);
  usleep(200000);
  if (argc < 2) abort();
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
