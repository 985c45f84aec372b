// A thread: its outermost frame is in the C library.
#include <pthread.h>
#include <string.h>

__attribute__((noinline, noclone)) void stop_here(void) { __asm__ volatile("" ::: "memory"); }

__attribute__((noinline, noclone)) int deep(int n) {
  char room[500];
  memset(room, 0x5e, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  if (n)
    deep(n - 1);
  else
    stop_here();
  return room[n];
}

static void* run(void* p) { return (char*)p + deep(3); }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  return 0;
}
