// A stack that gdb's code analysis does not follow if there are no tables: frames of thousands of bytes
// without a frame pointer, a library's frame, and a signal that interrupts a function at its first
// instruction. With an argument it waits in pause() instead.
#include <signal.h>
#include <string.h>
#include <unistd.h>

int through(int (*call)(int), int n); // library.c

#define APART __attribute__((noinline, noclone))

APART void stop_here(void) { __asm__ volatile("" ::: "memory"); }

static void handler(int number) {
  char room[1700];
  memset(room, 0x5e, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  stop_here();
  _exit(room[number] == 0x5e);
}

// Ends before its return address: with a call that does not return, so that an address after it is in fault().
APART __attribute__((noreturn)) void leave(int code) {
  __asm__ volatile("" ::: "memory");
  _exit(code);
}

APART int fault(int* address) { return *address; }

APART int work(int n) {
  char room[3000];
  memset(room, 0x5e, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
  if (n == 2) pause();
  return fault((int*)(long)(room[n] - 0x5e)) + room[n];
}

int main(int argc, char** argv) {
  (void)argv;
  signal(SIGSEGV, handler);
  if (argc > 5) leave(argc);
  return through(work, argc) + argc;
}
