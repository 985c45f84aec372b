// For run-masks.test: signals that are sent only once, and at one place.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int handled[65];

static void handler(int number) {
  __atomic_fetch_add(&handled[number], 1, __ATOMIC_SEQ_CST);
}

/* Blocked ones, which one system call lets through together. */
static void suspend(void) {
  sigset_t all, none;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &none);
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGRTMIN);
  raise(SIGRTMIN);
  sigsuspend(&none);
  printf("suspended: %d %d %d\n", handled[SIGUSR1], handled[SIGUSR2], handled[SIGRTMIN]);
  sigprocmask(SIG_SETMASK, &none, 0);
}

/* Of the process, taken by a thread that ends. */
static void* taker(void* unused) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 1);
  pthread_sigmask(SIG_UNBLOCK, &one, 0);
  return unused;
}

static void take(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 1);
  pthread_sigmask(SIG_BLOCK, &one, 0);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    kill(getpid(), SIGRTMIN + 1);
    kill(getpid(), SIGRTMIN + 1);
    if (pthread_create(&thread, 0, taker, 0) == 0) pthread_join(thread, 0);
  }
  pthread_sigmask(SIG_UNBLOCK, &one, 0);
  for (int i = 0; i < 100; ++i) getppid();
  printf("taken: %d\n", handled[SIGRTMIN + 1]);
}

/* One that comes again and again, before another program begins. */
static void execute(char** arguments) {
  signal(SIGALRM, handler);
  ualarm(1000, 1000);
  while (handled[SIGALRM] < 3) {
  }
  ualarm(0, 0);
  execl("/proc/self/exe", arguments[0], "executed", (char*)0);
}

int main(int count, char** arguments) {
  if (count > 1) {
    puts("executed");
    return 0;
  }
  setvbuf(stdout, 0, _IONBF, 0);
  for (int number = SIGRTMIN; number < SIGRTMIN + 2; ++number) signal(number, handler);
  signal(SIGUSR1, handler);
  signal(SIGUSR2, handler);
  suspend();
  take();
  execute(arguments);
  return 1;
}
