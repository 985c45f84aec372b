/* bpf-signal TABLE: the handler of a fault walks its stack by the code of BPF programs, with the table of this
   program. The code that it returns to is here, and has no call frame information. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SFRAME_BPF_READ(memory, to, address) ((void)(memory), memcpy(to, (const void*)(address), sizeof *(to)), 0)
#define SFRAME_BPF_KEEP(number) ((void)0)
#include <sframe/bpf/cursor.h>

enum { FAULT = 11, WITH_RESTORER = 0x04000000 };

/* Of the kernel. */
struct action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

void restorer(void);
__asm__(".text\n.globl restorer\n.type restorer, %function\n.balign 16\nrestorer:\n"
#ifdef __aarch64__
        "mov x8, #139\nsvc #0\n"
#else
        "nop\nmov $15, %eax\nsyscall\n"
#endif
        ".size restorer, . - restorer\n.balign 16");

static unsigned char table[1 << 24];
static sframe_bpf_words words = {.bytes = table};
static struct sframe_bpf_table header;

__attribute__((noinline)) static void walk(void) {
  struct sframe_bpf_cursor at = {0};
#ifdef __aarch64__
  __asm__ volatile("mov %0, sp\nmov %1, x29\nadr %2, ." : "=r"(at.sp), "=r"(at.fp), "=r"(at.pc));
#else
  __asm__ volatile("mov %%rsp, %0\nmov %%rbp, %1\nlea 0(%%rip), %2" : "=r"(at.sp), "=r"(at.fp), "=r"(at.pc));
#endif
  at.registers[SFRAME_BPF_SP] = at.sp;
  at.registers[SFRAME_BPF_FP] = at.fp;
  sframe_bpf_start(&at);
  for (int depth = 0; depth < 32; ++depth) {
    struct sframe_bpf_rule rule;
    const unsigned long long pc = at.pc - !at.exact;
    sframe_bpf_find(words, &header, pc, &rule);
    printf("0x%llx%s\n", rule.signal_frame ? (unsigned long long)at.pc : pc, rule.signal_frame ? " signal" : "");
    const int end = rule.kind == SFRAME_BPF_ROW         ? sframe_bpf_go_up(0, &at, &rule)
                    : rule.kind == SFRAME_BPF_OUTERMOST ? SFRAME_BPF_END_OUTERMOST
                                                        : SFRAME_BPF_END_NO_ROW;
    if (end == 0) continue;
    printf(end == SFRAME_BPF_END_OUTERMOST ? "outermost\n" : "ends: %d\n", end);
    exit(0);
  }
}

__attribute__((noinline)) static void on_fault(int number) {
  walk();
  abort();
  (void)number;
}

/* Its return address is in a register, on AArch64. */
__attribute__((noinline)) static long leaf(volatile long* address) {
  return *address;
}

__attribute__((noinline)) static long middle(void) {
  return leaf((volatile long*)8) + 1;
}

int main(int argc, char** argv) {
  FILE* const file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  words.count = fread(table, 1, sizeof table, file) / 8;
  if (!sframe_bpf_open(words, words.count, &header)) return 3;
  const struct action action = {on_fault, WITH_RESTORER, restorer, 0};
  syscall(SYS_rt_sigaction, FAULT, &action, NULL, 8);
  return (int)middle();
}
