// hung-memory FILE: threads wait on stacks that end at pages of FILE, which were never read. Without FILE, at
// others.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 64 << 10, REST = 64 << 10, THREADS = 3 };

static void* wait_here(void* nothing) {
  for (;;) pause();
  return nothing;
}

int main(int count, char** arguments) {
  const int file = count > 1 ? open(arguments[1], O_RDONLY) : -1;
  if (count > 1 && file < 0) return 1;
  for (int i = 0; i < THREADS; ++i) {
    char* const stack = mmap(NULL, STACK + REST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return 1;
    if (file >= 0 && mmap(stack + STACK, REST, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
      return 1;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    if (pthread_create(&thread, &attributes, wait_here, NULL) != 0) return 1;
  }
  puts("ready");
  fflush(stdout);
  wait_here(NULL);
}
