/* Calls itself ten times, then dies; with an argument, prints a line and waits. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int end(int wait) {
  volatile char room[100];
  room[0] = 1;
  if (!wait) abort();
  puts("started");
  fflush(stdout);
  while (wait) pause();
  return room[0];
}

__attribute__((noinline)) static int chain(int wait, int depth) {
  volatile int here[depth + 2];
  here[0] = depth;
  return (depth ? chain(wait, depth - 1) : end(wait)) + here[0];
}

int main(int argc, char **argv) {
  (void)argv;
  return chain(argc > 1, 9) + 1;
}
