// A function with a dynamic symbol between functions that have none.
#include <stdlib.h>

volatile int sink;

static __attribute__((noinline)) int other_local(int n) {
  return sink + n;
}
static __attribute__((noinline)) int local_work(int n) {
  if (n) abort();
  return other_local(n);
}
__attribute__((noinline)) int exported(int n) {
  return local_work(n) + other_local(n);
}
int main(int argc, char** argv) {
  return exported(argc) + 1;
}
