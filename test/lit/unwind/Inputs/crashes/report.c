/* A division by zero: the average of nothing. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int average(int total, int count) { return total / count; }

__attribute__((noinline)) static void print_report(int count, char **numbers) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += atoi(numbers[i]);
  printf("%d\n", average(total, count));
}

int main(int argc, char **argv) {
  print_report(argc - 1, argv + 1);
  return 0;
}
