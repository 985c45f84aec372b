// A frame that the compiler aligns: its CFA is in memory, at the frame pointer (a flexible row of version 3).
#include <stdlib.h>
#include <string.h>

__attribute__((noinline, noclone)) void stop_here(char* text) { __asm__ volatile("" : : "r"(text) : "memory"); }

__attribute__((noinline, noclone)) int aligned(int n) {
  _Alignas(64) char room[320];
  char* more = __builtin_alloca(n * 100);
  memset(room, 0x5e, sizeof room);
  memset(more, 0x5e, n * 100);
  stop_here(room);
  stop_here(more);
  return room[n] + more[n];
}

__attribute__((noinline, noclone)) int outer(int n) {
  char room[900];
  memset(room, 0x5e, sizeof room);
  stop_here(room);
  return aligned(n) + room[n];
}

int main(int argc, char** argv) {
  (void)argv;
  return outer(argc) & 1;
}
