/* A server with much memory, one of whose threads divides a job that has no parts. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
  int size, parts;
};

static pthread_barrier_t start;

__attribute__((noinline)) static int part_size(const struct job *job) { return job->size / job->parts; }

static void *worker(void *job) {
  pthread_barrier_wait(&start);
  if (part_size(job) > 0) pause();
  return NULL;
}

int main(void) {
  struct job jobs[] = {{100, 4}, {200, 2}, {300, 0}};
  pthread_t threads[3];
  pthread_barrier_init(&start, NULL, 4);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, worker, &jobs[i]);
  memset(malloc(16 << 20), 1, 16 << 20); /* below the stacks, so before them in the core */
  pthread_barrier_wait(&start);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}
