// A thread with a name of its own dies.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static void *run(void *argument) {
  pthread_setname_np(pthread_self(), "its-own-name");
  abort();
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
}
