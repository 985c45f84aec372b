// Built without unwind tables, with frame pointers.
#include <stdlib.h>

__attribute__((noinline)) int innermost(int n) {
  if (n) abort();
  return n + 1;
}
__attribute__((noinline)) int middle(int n) {
  return innermost(n) + 1;
}
int outermost(int n) {
  return middle(n) + 1;
}
