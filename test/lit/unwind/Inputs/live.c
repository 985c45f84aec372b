// A process to be walked alive. `live threads`: one thread each that spins, and that waits in read(), in a futex, in nanosleep(), and in a signal
// handler; each is named after what it does, and got there by outer_NAME and inner_NAME. `live churn`: threads come and go, a library is
// loaded and unloaded, until the process is killed. Both write "ready" when they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int started;
static int nothing[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void begin(const char *name) {
  pthread_setname_np(pthread_self(), name);
  __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
}

#define KIND(NAME, ...)                                                                                                                              \
  __attribute__((noinline)) void inner_##NAME(void) {                                                                                                \
    begin(#NAME);                                                                                                                                    \
    for (;;) { __VA_ARGS__; }                                                                                                                        \
  }                                                                                                                                                  \
  __attribute__((noinline)) void *outer_##NAME(void *argument) {                                                                                     \
    inner_##NAME();                                                                                                                                  \
    return argument;                                                                                                                                 \
  }

void handler(int signal) {
  begin("handler");
  for (;;) pause();
}

KIND(spin, __asm__ volatile(""))
KIND(read, char c; if (read(nothing[0], &c, 1) < 0) return)
KIND(futex, pthread_mutex_lock(&held))
KIND(nanosleep, struct timespec hour = {3600, 0}; nanosleep(&hour, NULL))
__attribute__((noinline)) void inner_handler(void) { raise(SIGUSR1); __asm__ volatile(""); }
__attribute__((noinline)) void *outer_handler(void *argument) { inner_handler(); return argument; }

static void *short_lived(void *argument) { return argument; }

static void churn(void) {
  puts("ready");
  fflush(stdout);
  for (;;) {
    pthread_t thread[4];
    for (int i = 0; i < 4; ++i) pthread_create(&thread[i], NULL, short_lived, NULL);
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    if (library) dlclose(library);
    for (int i = 0; i < 4; ++i) pthread_join(thread[i], NULL);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "churn")) churn();
  void *(*kinds[])(void *) = {outer_spin, outer_read, outer_futex, outer_nanosleep, outer_handler};
  signal(SIGUSR1, handler);
  if (pipe(nothing) != 0) return 1;
  pthread_mutex_lock(&held);
  pthread_t thread;
  for (int i = 0; i < 5; ++i) pthread_create(&thread, NULL, kinds[i], NULL);
  while (started < 5) usleep(1000);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
