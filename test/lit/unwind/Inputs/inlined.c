// Calls that the compiler replaces by their bodies; a marker shows the line of each.
#include <stdlib.h>

int sink;

static inline __attribute__((always_inline)) void inner(int n) {
  if (n) abort(); // line 7
  ++sink;
}
static inline __attribute__((always_inline)) void outer(int n) {
  inner(n + 1); // line 11
  ++sink;
}
__attribute__((noinline)) int work(int n) {
  outer(n); // line 15
  return sink;
}
int main(int argc, char** argv) {
  return work(argc) + 1; // line 19
}
