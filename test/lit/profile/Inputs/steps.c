// Works in code without CFI, of a program that is large enough for a table in two steps.
#include <stdlib.h>
#include <time.h>

void bare(void);
__asm__(".text\n.globl bare\n.type bare, @function\nbare:\n"
        "  sub $24, %rsp\n  mov $1000000, %ecx\n1:\n  dec %ecx\n  jnz 1b\n  add $24, %rsp\n  ret\n"
        ".size bare, . - bare\n  .skip 600000, 0x90\n");

int main(int count, char** arguments) {
  const clock_t end = clock() + atoi(arguments[count - 1]) * (CLOCKS_PER_SEC / 1000);
  while (clock() < end) bare();
  return 0;
}
