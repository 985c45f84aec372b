// Runs for as long as it is told, in functions with known callers. Some are inlined.
#include <stdlib.h>
#include <time.h>

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static inline __attribute__((always_inline)) unsigned inlined(unsigned value) {
  for (volatile unsigned i = 0; i < 300000; ++i) value ^= i * value + 1;
  return value;
}

__attribute__((noinline)) unsigned innermost(unsigned value) {
  return inlined(value) + 1;
}

__attribute__((noinline)) unsigned middle(unsigned value) {
  return innermost(value) + 1;
}

/// Deeper than the stack that a test copies.
__attribute__((noinline)) unsigned deep(unsigned depth) {
  volatile char room[256];
  room[depth % 256] = 1;
  return depth == 0 ? middle(1) : deep(depth - 1) + room[depth % 256];
}

int main(int count, char** arguments) {
  const double seconds = count > 1 ? atof(arguments[1]) : .3;
  const unsigned depth = count > 2 ? atoi(arguments[2]) : 0;
  unsigned sum = 0;
  while (processor_time() < seconds) sum += depth ? deep(depth) : middle(sum);
  return sum == 42;
}
