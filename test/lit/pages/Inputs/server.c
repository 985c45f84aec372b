// The program of the pages' examples: its stack ends in abort(), with calls that the compiler has replaced by their bodies.
#include <stdlib.h>

int sink;
static inline __attribute__((always_inline)) void parse(int n) {
  if (n > 0)
    abort();
  ++sink;
}
static inline __attribute__((always_inline)) void handle(int n) {
  parse(n + 1);
  ++sink;
}
__attribute__((noinline)) int work(int n) {
  handle(n);
  return sink;
}
int main(int argc, char** argv) {
  return work(argc) + 1;
}
