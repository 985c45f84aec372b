// The first thread ends; another one prints "ready" and waits.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_t leader;

static void* wait_alone(void* unused) {
  pthread_join(leader, NULL);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
  return unused;
}

int main(void) {
  pthread_t other;
  leader = pthread_self();
  if (pthread_create(&other, NULL, wait_alone, NULL) != 0) return 2;
  pthread_exit(NULL);
}
