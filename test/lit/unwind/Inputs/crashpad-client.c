// crashpad-client HANDLER DATABASE [abort | alternate]: dies, and has crashpad's handler write a minidump first, as a
// client without a running handler does (crashpad's handler/main.md, --trace-parent-with-exception). alternate: the
// signal handler has a stack of its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

// crashpad's util/misc/.../exception_information.h
static struct __attribute__((packed)) {
  uint64_t signal, context;
  int32_t thread;
} information;
static const char *handler, *database;
static char other_stack[65536];
static sem_t ready;

static void crashed(int number, siginfo_t* signal_info, void* context) {
  information.signal = (uintptr_t)signal_info;
  information.context = (uintptr_t)context;
  information.thread = (int32_t)syscall(SYS_gettid);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const pid_t child = fork();
  if (child == 0) {
    char where[64], folder[4096];
    snprintf(where, sizeof where, "--trace-parent-with-exception=%lu", (unsigned long)(uintptr_t)&information);
    snprintf(folder, sizeof folder, "--database=%s", database);
    execl(handler, handler, folder, where, (char*)0);
    _exit(127);
  }
  waitpid(child, 0, 0);
  signal(number, SIG_DFL);
  if (number == SIGABRT) raise(number);
}

KEEP static int inner(volatile int* p) {
  *p = 5;
  return *p + 1;
}
KEEP static int middle(volatile int* p) { return inner(p) + 2; }
KEEP static int outer(volatile int* p) { return middle(p) + 3; }

static void* waits(void* argument) {
  pthread_setname_np(pthread_self(), "its-own-name");
  sem_post(&ready);
  for (;;) pause();
  return argument;
}

int main(int argc, char** argv) {
  handler = argv[1];
  database = argv[2];
  const char* how = argc > 3 ? argv[3] : "";
  struct sigaction action = {0};
  action.sa_sigaction = crashed;
  action.sa_flags = SA_SIGINFO;
  if (strcmp(how, "alternate") == 0) {
    const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigaltstack(&stack, 0);
    action.sa_flags |= SA_ONSTACK;
  }
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGABRT, &action, 0);
  pthread_t thread;
  sem_init(&ready, 0, 0);
  pthread_create(&thread, 0, waits, 0);
  sem_wait(&ready);
  if (strcmp(how, "abort") == 0) abort();
  return outer((volatile int*)(uintptr_t)(argc + 13));
}
