// mode32 PATH [crash-32 | crash-64 | alone | signal]: a 64-bit process with a thread in 32-bit code, entered by a far
// return, as Wine does; the main thread is in 64-bit code. With "alone", the only thread is in 32-bit code.
// Creates PATH when it is there, then waits, or crashes in 32-bit or 64-bit code; "signal": in the handler of a
// signal that interrupts 32-bit code.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char* code; // 32-bit; the byte before it is set when it runs
static volatile unsigned char* reached;

enum { size = 65536 }; // of the code, with a stack at its end, as 32-bit code needs it

static void* enter(void* unused) {
  __asm__ volatile("movl $0x2b, %%eax\n\tmovl %%eax, %%ds\n\tmovq %1, %%rsp\n\tpushq $0x23\n\tpushq %0\n\tlretq"
                   :
                   : "b"(code + 16), "r"(code + size)
                   : "rax", "memory");
  return unused;
}

static void die(int signal) { abort(); }

int main(int argc, char** argv) {
  const char* what = argc > 2 ? argv[2] : "";
  code = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (code == MAP_FAILED) return 2;
  reached = code;
  unsigned char* to = code + 16;
  *to++ = 0xc6, *to++ = 0x05; // movb $1, reached
  const unsigned address = (unsigned)(unsigned long)code;
  memcpy(to, &address, 4), to += 4;
  *to++ = 1;
  if (strcmp(what, "crash-32") == 0)
    *to++ = 0x0f, *to++ = 0x0b; // ud2
  else
    *to++ = 0xeb, *to++ = 0xfe; // jmp to itself
  if (strcmp(what, "alone") == 0) {
    close(open(argv[1], O_CREAT | O_WRONLY, 0600));
    enter(NULL);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, enter, NULL) != 0) return 2;
  while (!*reached) usleep(1000);
  if (strcmp(what, "crash-64") == 0) abort();
  signal(SIGUSR1, die);
  if (strcmp(what, "signal") == 0) pthread_kill(thread, SIGUSR1);
  close(open(argv[1], O_CREAT | O_WRONLY, 0600));
  for (;;) pause();
}
