/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What leaves, interrupts and multiplies the stack of a program, for --check=run: each word of the command line
 * names something to do. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf place;
static sigjmp_buf signal_place;
static volatile int hits;
static ucontext_t main_context, contexts[2];

__attribute__((noinline)) int leaf(int n) {
  volatile int product = n * 3;
  return product + 1;
}
__attribute__((noinline)) void deep(int n) {
  volatile char room[64];
  if (n == 0) longjmp(place, 7);
  room[0] = (char)n;
  deep(n - 1);
  room[1] = (char)n;
}
static void count(int number) { hits += leaf(number); }
static void jump(int number) {
  leaf(number);
  siglongjmp(signal_place, 2);
}
static void nested(int number) {
  leaf(number);
  raise(SIGUSR2);
  leaf(number);
}
static void *thread(void *argument) {
  for (int i = 0; i < 9; i++) leaf(i);
  return argument;
}
static void first(void) {
  for (int i = 0; i < 3; i++) {
    leaf(i);
    swapcontext(&contexts[0], &contexts[1]);
  }
}
static void second(void) {
  for (int i = 0; i < 3; i++) {
    leaf(i);
    swapcontext(&contexts[1], &contexts[0]);
  }
}

/* Leave a function to the one that has called it: where the return address is in a register, SP is the same before the call. */
__attribute__((noinline)) static int leave_by_goto(int n) {
  __label__ left;
  volatile int steps = n;
  __attribute__((noinline)) void leave(void) {
    if (steps) goto left;
  }
  leave();
  return 0;
left:
  return leaf(steps);
}
static void *buffer[5];
__attribute__((noinline)) static void leave_by_builtin(void) { __builtin_longjmp(buffer, 1); }
__attribute__((noinline)) static int return_twice(int n) {
  volatile int steps = n;
  if (!__builtin_setjmp(buffer)) leave_by_builtin();
  return leaf(steps);
}

#ifdef __x86_64__
/* A handler that makes the interrupted code call a function. */
__attribute__((noinline)) static void called_by_handler(void) { siglongjmp(signal_place, leaf(1)); }
static void call_from(int number, siginfo_t *info, void *interrupted) {
  greg_t *const registers = ((ucontext_t *)interrupted)->uc_mcontext.gregs;
  registers[REG_RSP] -= 8;
  *(greg_t *)registers[REG_RSP] = registers[REG_RIP];
  registers[REG_RIP] = (greg_t)called_by_handler;
  (void)number, (void)info;
}
static void fault_handled_by(void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handler};
  sigaction(SIGSEGV, &action, NULL);
  if (!sigsetjmp(signal_place, 1)) *(volatile int *)8 = 1;
}

/* A handler that lets the interrupted code go on in a function that nothing has called; and in code that makes it a call, as
 * Free Pascal's does. */
static void move(int number, siginfo_t *info, void *interrupted) {
  ((ucontext_t *)interrupted)->uc_mcontext.gregs[REG_RIP] = (greg_t)called_by_handler;
  (void)number, (void)info;
}
extern char push_and_jump[];
__asm__(".type push_and_jump, @function\npush_and_jump: push %rsi; jmp *%rdi");
static void move_and_push(int number, siginfo_t *info, void *interrupted) {
  greg_t *const registers = ((ucontext_t *)interrupted)->uc_mcontext.gregs;
  registers[REG_RSI] = registers[REG_RIP];
  registers[REG_RDI] = (greg_t)called_by_handler;
  registers[REG_RIP] = (greg_t)push_and_jump;
  (void)number, (void)info;
}

/* A handler that skips the instruction: the frame is the same. */
static void skip(int number, siginfo_t *info, void *interrupted) {
  ((ucontext_t *)interrupted)->uc_mcontext.gregs[REG_RIP] += 2;
  (void)number, (void)info;
}
__attribute__((noinline)) static int skipped(int n) {
  struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = skip};
  sigaction(SIGILL, &action, NULL);
  __asm__ volatile("ud2");
  return leaf(n);
}
#endif

/* A signal that is there again before its handler, which takes many times as long when it is stepped, has returned: the
 * program has to get on all the same. Without a system call, and with one that waits for the signal. */
static void handle_for_long(int number) {
  for (volatile int i = 0; i < 600; i++) hits++;
  (void)number;
}
static void set_timer(int microseconds) {
  const struct timeval interval = {.tv_usec = microseconds};
  const struct itimerval timer = {.it_interval = interval, .it_value = interval};
  setitimer(ITIMER_REAL, &timer, NULL);
}
static void be_interrupted(void) {
  signal(SIGALRM, handle_for_long);
  set_timer(1000);
  for (volatile int i = 0; i < 3000; i++) leaf(i);
  for (int i = 0; i < 3; i++) pause();
  set_timer(0);
}

/* Threads that try again until it is their turn. */
enum { num_turns = 120, num_waiting = 6 };
static volatile int turn;
static void *wait_for_turns(void *argument) {
  const int number = (int)(long)argument;
  while (turn < num_turns)
    if (turn % num_waiting == number) turn++;
  return argument;
}
static void take_turns(void) {
  pthread_t threads[num_waiting];
  for (long t = 0; t < num_waiting; t++) pthread_create(&threads[t], NULL, wait_for_turns, (void *)t);
  for (int t = 0; t < num_waiting; t++) pthread_join(threads[t], NULL);
}

static void on_other_stack(void (*handler)(int)) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  struct sigaction action = {.sa_flags = SA_ONSTACK, .sa_handler = handler};
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGUSR2, count);
  for (int i = 0; i < 2; i++) {
    if (!sigsetjmp(signal_place, 1)) raise(SIGUSR1);
    leaf(i);
  }
}

static void make_contexts(void) {
  for (int i = 0; i < 2; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = malloc(65536);
    contexts[i].uc_stack.ss_size = 65536;
    contexts[i].uc_link = &main_context;
    makecontext(&contexts[i], i ? second : first, 0);
  }
  swapcontext(&main_context, &contexts[0]);
}

static void end_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *what = argv[i];
    if (!strcmp(what, "longjmp")) {
      if (!setjmp(place)) deep(5);
    } else if (!strcmp(what, "signals")) {
      signal(SIGUSR1, nested);
      signal(SIGUSR2, count);
      raise(SIGUSR1);
    } else if (!strcmp(what, "alternate-stack")) {
      on_other_stack(nested);
      on_other_stack(jump);
    } else if (!strcmp(what, "fault")) {
      signal(SIGSEGV, jump);
      if (!sigsetjmp(signal_place, 1)) *(volatile int *)8 = 1;
    } else if (!strcmp(what, "fork")) {
      const pid_t child = fork();
      leaf(child == 0);
      if (!child) exit(3);
      end_child(child);
    } else if (!strcmp(what, "vfork")) {
      const pid_t child = vfork();
      if (!child) _exit(3);
      end_child(child);
    } else if (!strcmp(what, "exec")) {
      execl("/proc/self/exe", "again", "longjmp", (char *)NULL);
    } else if (!strcmp(what, "threads")) {
      pthread_t threads[2];
      for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, thread, NULL);
      for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    } else if (!strcmp(what, "turns")) {
      take_turns();
    } else if (!strcmp(what, "interval")) {
      be_interrupted();
    } else if (!strcmp(what, "contexts")) {
      make_contexts();
    } else if (!strcmp(what, "goto")) {
      leave_by_goto(leave_by_goto(i));
      return_twice(return_twice(i));
#ifdef __x86_64__
    } else if (!strcmp(what, "call")) {
      fault_handled_by(call_from);
    } else if (!strcmp(what, "moved")) {
      fault_handled_by(move);
      fault_handled_by(move_and_push);
    } else if (!strcmp(what, "skipped")) {
      skipped(skipped(i));
#endif
    } else if (!strcmp(what, "crash")) {
      *(volatile int *)8 = 1;
    }
    leaf(i);
  }
  return 5;
}
