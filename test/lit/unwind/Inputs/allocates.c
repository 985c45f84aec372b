// Allocates 1,000 times 100 bytes in `inner`, and 7 times 1,000 bytes through a library that it loads.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) void inner(void) {
  free(kept);
  kept = malloc(100);
}

__attribute__((noinline)) void outer(void) {
  for (int i = 0; i < 1000; ++i) {
    inner();
    __asm__ volatile("");
  }
}

__attribute__((noinline)) void from_library(void) {
  free(kept);
  kept = calloc(10, 100);
}

int main(int argc, char **argv) {
  outer();
  void *library = dlopen(argv[argc - 1], RTLD_NOW);
  void (*callback)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(library, "callback");
  for (int i = 0; i < 7; ++i) callback(from_library);
  puts("done");
}
