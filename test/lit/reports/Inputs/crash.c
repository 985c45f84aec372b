/* Four threads wait; then the first one dies in work(), inlined into middle(). */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t all;

static __attribute__((noinline)) void wait_here(void)
{
  pthread_barrier_wait(&all);
  for (;;)
    pause();
}

static __attribute__((noinline)) void *other(void *argument)
{
  wait_here();
  return argument;
}

static inline __attribute__((always_inline)) int work(int *where, int depth)
{
  *where = depth;
  return *where + 1;
}

__attribute__((noinline)) int middle(int *where, int depth)
{
  return work(where, depth) + depth;
}

__attribute__((noinline)) int recurse(int depth)
{
  if (depth == 0)
    return middle((int *)8, 42);
  return recurse(depth - 1) + depth;
}

int main(int argc, char **argv)
{
  pthread_t thread;
  pthread_barrier_init(&all, NULL, 5);
  for (int i = 0; i < 4; ++i)
    pthread_create(&thread, NULL, other, NULL);
  pthread_barrier_wait(&all);
  return recurse(argc > 1 ? 2000 : 5) + argv[0][0];
}
