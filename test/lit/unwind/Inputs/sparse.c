// Dies with 4 GiB of memory that it never touched: a large core, nearly all of it a hole in the file.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

int main(void) {
  const unsigned long size = 4ul << 30;
  volatile char* room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return 77;
  room[0] = room[size - 1] = 1;
  abort();
}
