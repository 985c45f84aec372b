/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calling thread's stack in C, from a function and from a signal handler:
 *
 *   cc -std=c11 examples/own_stack.c -o own_stack -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c
 */
#define _XOPEN_SOURCE 700
#include <sframe/c/here.h>
#include <signal.h>
#include <stdio.h>

static uint64_t frames[64];
static volatile size_t count;
static sframe_reason reason;

/* Async-signal-safe: only takes the addresses. */
static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  count = sframe_here_in_context(context, frames, 64, &reason);
}

static void print(const char* what) {
  printf("%s: %zu frames, %s\n", what, count, sframe_reason_text(reason));
  for (size_t i = 0; i < count; ++i) printf("  0x%llx\n", (unsigned long long)frames[i]);
}

__attribute__((noinline)) static void inner(void) {
  count = sframe_here(frames, 64, 0, &reason);
  print("function");
  raise(SIGUSR1);
  print("handler");
}

__attribute__((noinline)) static void outer(void) {
  inner();
  puts("done");
}

int main(void) {
  struct sigaction action = {0};
  if (sframe_here_refresh() != SFRAME_OK) return 1;
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR1, &action, NULL);
  outer();
  printf("left out: %llu\n", (unsigned long long)sframe_here_left_out());
  return 0;
}
