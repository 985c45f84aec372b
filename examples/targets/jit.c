// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target of own_symbols.cc: a JIT compiler of one function, on AMD64, which writes its name to a map
// file for perf(1), and aborts in the function's callee.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static __attribute__((noinline)) void helper(void) {
  abort();
}

int main(int argc, char** argv) {
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  const size_t page = 4096;
  if (argc != 2) return 2;
  unsigned char* memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  memcpy(memory, code, sizeof code);
  if (mprotect(memory, page, PROT_READ | PROT_EXEC) != 0) return 2;

  FILE* map = fopen(argv[1], "w");
  if (!map) return 2;
  fprintf(map, "%lx %zx Script::on_click(int) at page.js:17\n", (unsigned long)(uintptr_t)memory,
          sizeof code);
  fclose(map);

  void (*compiled)(void (*)(void));
  memcpy(&compiled, &memory, sizeof compiled);
  compiled(helper);
  return 0;
}
