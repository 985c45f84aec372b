// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vfork [threads]: is in vfork() until it is killed, the child in pause(); `threads`: so is one thread of two, the other waits.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

__attribute__((noinline)) void inner_vfork(void) {
  if (vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  __asm__ volatile("");
}

static void *other(void *unused) {
  prctl(PR_SET_NAME, "vforks");
  inner_vfork();
  return unused;
}

__attribute__((noinline)) void inner_wait(void) {
  for (;;) pause();
}

int main(int argc, char **argv) {
  puts("ready");
  fflush(stdout);
  if (argc == 1) inner_vfork();
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  inner_wait();
}
