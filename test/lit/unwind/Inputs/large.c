// Dies with 100 MiB of numbers in memory.
#include <stdlib.h>

int main(void) {
  const size_t count = (100 << 20) / sizeof(unsigned);
  unsigned* numbers = malloc(count * sizeof *numbers);
  for (size_t i = 0; i < count; ++i) numbers[i] = (unsigned)i | 1;
  abort();
}
