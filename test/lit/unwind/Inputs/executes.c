// executes COUNT: executes itself so many times, each time with 20 threads, which that ends; by its first
// thread and by another one in turn. -DQUICK: with fewer threads, that run, and always by the first one, at once.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef QUICK
enum { threads = 6 };
#define WAIT() usleep(100)
#else
enum { threads = 20 };
#define WAIT() pause()
#endif
static void* idle(void* p) {
  for (;;) WAIT();
  return p;
}
static char** args;
static void* again(void* p) {
  execv("/proc/self/exe", args);
  return p;
}
int main(int argc, char** argv) {
  args = argv;
  char number[32];
  int left = atoi(argv[1]);
  if (left == 0) return 0;
  snprintf(number, sizeof number, "%d", left - 1);
  argv[1] = number;
  pthread_t t;
  for (int i = 0; i < threads; ++i) pthread_create(&t, NULL, idle, NULL);
#ifdef QUICK
  again(NULL);
#endif
  usleep(left % 7 * 100);
  if (left % 2) again(NULL);
  pthread_create(&t, NULL, again, NULL);
  for (;;) pause();
}
