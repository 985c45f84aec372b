/* Dies in the way that its first argument names. */
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct pair {
  long first, second;
};

static const long constant[512] = {1};

__attribute__((noinline)) void write_second(struct pair *pair, long value) { *(volatile long *)&pair->second = value; }
__attribute__((noinline)) long read_second(struct pair *pair) { return *(volatile long *)&pair->second; }
static struct pair overwritten = {1, 0x5254504e55464342}; /* "BCFUNPTR" */
__attribute__((noinline)) void call_second(struct pair *pair) {
  (*(void (*volatile *)(void))&pair->second)();
  *(volatile long *)&pair->first = 2; /* so that it is no jump */
}
__attribute__((noinline)) int divide(int a, int b) { return *(volatile int *)&a / b; }
__attribute__((noinline)) int deep(volatile char *above) {
  volatile char room[256];
  room[0] = above ? above[0] : 1;
  return deep(room) + room[0];
}

__attribute__((noinline)) void smash(volatile int size) {
  volatile char room[16];
  for (int i = 0; i < size; ++i) room[i] = 'a';
}

__attribute__((noinline)) void *large_frame(void *unused) {
  volatile char room[64 << 20];
  room[0] = 1;
  return (void *)(uintptr_t)(room[0] && unused);
}

__attribute__((noinline)) void any_size(volatile unsigned long size) {
  volatile char room[size];
  room[0] = 1;
}

static void *sleeper(void *barrier) {
  pthread_barrier_wait(barrier);
  for (;;) pause();
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "null-write")) write_second(0, 42);
  if (!strcmp(how, "null-read")) return (int)read_second(0);
  if (!strcmp(how, "null-call")) ((void (*)(void))0)();
  if (!strcmp(how, "below-null")) return (int)read_second((struct pair *)(uintptr_t)-16);
  if (!strcmp(how, "constant")) write_second((struct pair *)&constant[8], 1);
  if (!strcmp(how, "text")) return (int)read_second((struct pair *)0x4141414141414141);
  if (!strcmp(how, "short-text")) return (int)read_second((struct pair *)0x6c6f726163);
  if (!strcmp(how, "function")) call_second(&overwritten);
  if (!strcmp(how, "last-byte")) return (int)read_second((struct pair *)(0x7fffffffffff - 8));
  if (!strcmp(how, "smash")) smash(64);
  if (!strcmp(how, "divide")) return divide(7, argc > 100);
  if (!strcmp(how, "quotient")) return divide(INT_MIN, argc > 100 ? 1 : -1);
  if (!strcmp(how, "overflow")) return deep(0);
  if (!strcmp(how, "large-frame")) large_frame(0);
  if (!strcmp(how, "any-size")) any_size(16 << 20);
  if (!strcmp(how, "large-frame-thread")) {
    pthread_t thread;
    pthread_create(&thread, 0, large_frame, 0);
    pthread_join(thread, 0);
  }
#ifdef __x86_64__
  if (!strcmp(how, "large-frame-push")) __asm__ volatile("sub $0x1000000, %%rsp; push %%rax" ::: "memory");
  if (!strcmp(how, "null-return")) __asm__ volatile("push $0; push $0; ret" ::: "memory");
  if (!strcmp(how, "jump")) __asm__ volatile("movabs $0x5254504e55464342, %%rax; jmp *%%rax" ::: "rax");
  if (!strcmp(how, "large-frame-fp"))
    __asm__ volatile("mov %%rsp, %%rax; sub $0x1000000, %%rsp; orl $1, -0x900000(%%rax)" ::: "rax", "memory");
  if (!strcmp(how, "large-frame-call")) __asm__ volatile("sub $0x1000000, %%rsp; call main" ::: "memory");
  if (!strcmp(how, "not-a-frame")) __asm__ volatile("lea -0x1000000(%%rsp), %%rax; movb $1, (%%rax)" ::: "rax", "memory");
  if (!strcmp(how, "wild-sp")) __asm__ volatile("mov $0x40014001, %%esp; push %%rax" ::: "memory");
  if (!strcmp(how, "breakpoint")) __asm__ volatile("int3; ud2");
#endif
  if (!strcmp(how, "assert")) assert(argc < 0);
  if (!strcmp(how, "free")) {
    char *volatile twice = malloc(100);
    free(twice);
    free(twice);
  }
  if (!strcmp(how, "killed")) kill(getpid(), SIGSEGV), pause();
  if (!strcmp(how, "data-call")) {
    static char data[16];
    ((void (*)(void))data)();
  }
  if (!strcmp(how, "short-file")) {
    FILE *file = tmpfile();
    volatile char *mapped = mmap(0, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
    return mapped[4096];
  }
  if (!strcmp(how, "misaligned")) { // with the alignment check (AC) on
    static long word[2];
    int value;
    __asm__ volatile("pushf\n\torl $0x40000, (%%rsp)\n\tpopf\n\tmovl 1(%1), %0" : "=r"(value) : "r"(word));
    return value;
  }
  if (!strcmp(how, "threads")) {
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, 0, 3);
    pthread_create(&thread, 0, sleeper, &barrier);
    pthread_create(&thread, 0, sleeper, &barrier);
    pthread_barrier_wait(&barrier);
    write_second(0, 1);
  }
  return 0;
}
