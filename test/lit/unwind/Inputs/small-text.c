// small-text.c [WAIT]: dies, or prints "ready" and waits; so small that its text can be in the file's first page.
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void inner(int waits) {
  if (!waits) abort();
  if (write(1, "ready\n", 6) != 6) abort();
  for (;;) pause();
}

__attribute__((noinline)) void outer(int waits) {
  inner(waits);
  __asm__ volatile("");
}

int main(int argc, char** argv) {
  outer(argc > 1);
  __asm__ volatile("");
}
