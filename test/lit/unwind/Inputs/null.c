// Dies in a call through a null pointer, or (with an argument) through a pointer into the heap.
#include <stdlib.h>

__attribute__((noinline)) int call(int (*function)(void)) {
  return function() + 1;
}
__attribute__((noinline)) int outer(int (*function)(void)) {
  return call(function) + 1;
}

int main(int argc, char** argv) {
  int (*volatile function)(void) = 0;
  if (argc > 1) function = (int (*)(void))malloc(16);
  return outer(function) + 1;
}
