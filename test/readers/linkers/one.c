/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One of two objects that test/readers/linkers.py links: a stack of dynamic size, a realigned frame, a
 * function that nothing calls, and calls through the PLT. Without a C library's start files for the symbols
 * beyond main().
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int link_other(int);

typedef int wide __attribute__((vector_size(32)));

__attribute__((noinline)) int link_dynamic(int size) {
  char memory[size];
  memset(memory, size, (size_t)size);
  return memory[size / 2];
}

__attribute__((noinline)) int link_realigned(int size) {
  volatile wide value = {size};
  char* const memory = __builtin_alloca((size_t)size);
  memset(memory, value[0], (size_t)size);
  return memory[0] + value[1];
}

int link_unused(int a) { return link_dynamic(a) + abs(a); }

__attribute__((noinline)) int link_one(int a) { return link_dynamic(a + 10) + link_realigned(a + 20) + link_other(a); }

#ifdef MAIN
int main(int argc, char** argv) {
  (void)argv;
  printf("%d\n", link_one(argc));
  return 0;
}
#endif
