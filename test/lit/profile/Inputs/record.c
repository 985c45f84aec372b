// For record-*.test: a process whose stacks are known. Its argument says what it does:
//
//   cpu       until killed, or until each thread has used so many milliseconds of processor time (second
//   argument):
//             main run cpu a b c spin; (thread) b c spin; main run cpu raise ... (handler) c spin on a stack
//             of its own
//   sleep N   N times: main run outer inner rest nanosleep, 10 ms
//   wait N    N threads and main wait for a signal, without an end: main run pause; (thread) pause
//   both      sleep 20, then 300 ms of cpu in one thread
//   raise N   N times: main run outer inner rest raise
//   fork      a child that does `cpu 300`
//   generated C code in memory without a file, with frame pointers, listed in /tmp/perf-PID.map:
//             main run generated ... spin
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone)) void
#define END __asm__ volatile("" ::: "memory") /* no tail calls */

static volatile unsigned long sink;
static long budget; /* milliseconds; 0: no end */

FUNCTION spin(int n) {
  for (int i = 0; i < 300000; ++i) sink += (unsigned long)(i * n);
  END;
}

FUNCTION c(int n) {
  spin(n + 1);
  END;
}

FUNCTION b(int n) {
  char room[n * 16]; // the CFA is then relative to FP
  memset(room, n, sizeof room);
  sink += (unsigned long)room[n];
  c(n);
  END;
}

FUNCTION a(int n) {
  b(n + 2);
  END;
}

FUNCTION handler(int number) {
  c(number);
  END;
}

static int has_budget(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return budget == 0 || used.tv_sec * 1000 + used.tv_nsec / 1000000 < budget;
}

static void* thread(void* argument) {
  while (has_budget()) b(3);
  return argument;
}

static __attribute__((noinline, noclone)) int cpu(int threads) {
  const stack_t own = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  pthread_t started;
  if (sigaltstack(&own, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  if (threads && pthread_create(&started, NULL, thread, NULL) != 0) return 1;
  while (has_budget()) {
    a(2);
    if (threads) raise(SIGUSR1);
  }
  const int code = threads && pthread_join(started, NULL) != 0;
  END;
  return code;
}

static int raises;

FUNCTION rest(void) {
  const struct timespec time = {.tv_nsec = 10000000};
  if (raises)
    raise(SIGUSR2);
  else
    nanosleep(&time, NULL);
  END;
}

FUNCTION inner(void) {
  rest();
  END;
}

FUNCTION outer(void) {
  inner();
  END;
}

#ifdef __x86_64__
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

FUNCTION leaf(void) {
  spin(1);
  END;
}

static __attribute__((noinline, noclone)) int generated(void) {
  char path[64];
  void* const memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory, code, sizeof code);
  mprotect(memory, 4096, PROT_READ | PROT_EXEC);
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE* const map = fopen(path, "w");
  if (!map) return 1;
  fprintf(map, "%lx %zx made at run time\n", (unsigned long)memory, sizeof code);
  fclose(map);
  FILE* const own = fopen("pid", "w"); /* for the test, which removes the list */
  if (!own || fprintf(own, "%d", (int)getpid()) < 0 || fclose(own) != 0) return 1;
  while (has_budget()) {
    ((void (*)(void (*)(void)))memory)(leaf);
    END;
  }
  return 0;
}
#else
static int generated(void) {
  return 1;
}
#endif

static void* wait_for_signal(void* argument) {
  pause();
  return argument;
}

static __attribute__((noinline, noclone)) int run(const char* what, int number) {
  pthread_t started;
  for (int i = 0; strcmp(what, "wait") == 0 && i < number; ++i)
    if (pthread_create(&started, NULL, wait_for_signal, NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  int code = 0;
  if (strcmp(what, "wait") == 0) return pause();
  if (strcmp(what, "cpu") == 0) {
    budget = number;
    code = cpu(1);
    END;
    return code;
  }
  if (strcmp(what, "generated") == 0) {
    budget = number;
    code = generated();
    END;
    return code;
  }
  if (strcmp(what, "fork") == 0) {
    const pid_t child = fork();
    budget = 300;
    code = child == 0 ? cpu(0) : waitpid(child, NULL, 0) != child;
    END;
    return code;
  }
  signal(SIGUSR2, SIG_IGN);
  raises = strcmp(what, "raise") == 0;
  for (int i = 0; i < (number ? number : 20); ++i) outer();
  budget = 300;
  code = strcmp(what, "both") == 0 ? cpu(0) : 0;
  END;
  return code;
}

int main(int count, char** arguments) {
  const int code = run(count > 1 ? arguments[1] : "cpu", count > 2 ? atoi(arguments[2]) : 0);
  END;
  return code;
}
