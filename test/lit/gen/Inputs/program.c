// A program whose .bss and heap are after its last segment: a segment put there must be in the way of neither.
#include <stdio.h>
#include <stdlib.h>

static signed char big[100000];

int main(int argc, char** argv) {
  for (int i = 0; i < 100000; ++i) big[i] = (signed char)i;
  for (int i = 1; i < 300; ++i) free(malloc(i * 1000));
  printf("%d %s %d\n", argc, argv[argc - 1], big[99999]);
  return 0;
}
