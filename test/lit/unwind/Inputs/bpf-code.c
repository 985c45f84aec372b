// bpf-code still|changing|unlisted|hostile: a process with generated code, for bpf-code.test. Runs until it
// is killed.
//
//   main caller outer middle inner spin     outer, middle and inner are generated, without frame pointers
//
// Prints the addresses that a stack may have: of `caller`, and of each of the generated functions. "changing"
// makes no code before it gets SIGUSR1; then `middle` has another frame at the same address again and again.
// "hostile" has a list of its own, which lies.
#define _GNU_SOURCE
#include <sframe/c/jit.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SP = 7, ROOM = 64, CODE_SIZE = 27 };

static volatile unsigned long sink;
static volatile sig_atomic_t may_start;
static unsigned char* code;

__attribute__((noinline, noclone)) static void spin(void) {
  for (int i = 0; i < 100000; ++i) sink += (unsigned long)i;
}

/* sub $frame,%rsp; movabs $callee,%rax; call *%rax; add $frame,%rsp; ret */
static void generate(unsigned char* at, uint32_t frame, uint64_t callee) {
  memcpy(at, "\x48\x81\xec....\x48\xb8........\xff\xd0\x48\x81\xc4....\xc3", CODE_SIZE);
  memcpy(at + 3, &frame, 4);
  memcpy(at + 9, &callee, 8);
  memcpy(at + 22, &frame, 4);
}

static sframe_jit_rows* rows_of(uint32_t frame) {
  const sframe_function function = {.size = sizeof function, .length = CODE_SIZE};
  sframe_row rows[3];
  memset(rows, 0, sizeof rows);
  const uint32_t offsets[] = {0, 7, 26};
  for (int i = 0; i < 3; ++i) {
    rows[i].size = sizeof rows[i];
    rows[i].offset = offsets[i];
    rows[i].cfa = (sframe_rule){.kind = SFRAME_RULE_VALUE, .base = SP, .offset = i == 1 ? 8 + (int)frame : 8};
    rows[i].ra = (sframe_rule){.kind = SFRAME_RULE_FIXED};
    rows[i].fp = (sframe_rule){.kind = SFRAME_RULE_SAME};
  }
  return sframe_jit_rows_make(&function, rows, 3, NULL, 0, NULL);
}

__attribute__((noinline, noclone)) static void caller(void) {
  ((void (*)(void))code)();
  sink += 1;
}
__asm__(".text\nafter_caller:\n");
extern const char after_caller[];

static void start(int signal) {
  (void)signal;
  may_start = 1;
}

static void add(sframe_jit* jit, int number, const char* name, uint32_t frame, sframe_jit_region* region) {
  sframe_jit_rows* const rows = rows_of(frame);
  if (!rows || sframe_jit_add(jit, code + number * ROOM, name, rows, region, NULL) != SFRAME_OK) abort();
  sframe_jit_rows_free(rows);
}

static void generate_all(uint32_t middle) {
  generate(code, 8, (uint64_t)code + ROOM);
  generate(code + ROOM, middle, (uint64_t)code + 2 * ROOM);
  generate(code + 2 * ROOM, 40, (uint64_t)spin);
}

#ifdef HOSTILE
/* A cycle of registries; tables of 64 runs of 2^40 entries, and of entries that overlap, wrap, and whose rows
   are sections of a terabyte, of each other's bytes, or none. */
static struct {
  uint64_t version, first, changes, replacements;
} list __asm__("sframe_jit_list") __attribute__((used));
static uint64_t registry[2], table[129], entries[4096];

static void lie(void) {
  registry[0] = (uint64_t)registry;
  registry[1] = (uint64_t)table;
  table[0] = 64;
  for (int i = 0; i < 64; ++i) {
    table[1 + 2 * i] = (uint64_t)(entries + 4 * i);
    table[2 + 2 * i] = i % 2 ? 1ull << 40 : 1000;
  }
  for (int i = 0; i < 4096; i += 4) {
    entries[i] = (uint64_t)code - 32 + (uint64_t)(i * 7 % 256);
    entries[i + 1] = i % 3 == 0 ? (uint64_t)(entries + i) : (uint64_t)&list;
    entries[i + 2] = 1;
    entries[i + 3] = i % 5 == 0 ? ~0ull : (uint64_t)i;
  }
  entries[1] = 0xffffffffff; /* a size, as seen from 0x8 above */
  list.first = (uint64_t)registry;
  list.version = 32ull << 32 | 1;
}
#endif

int main(int argc, char** argv) {
  const char* const mode = argc == 2 ? argv[1] : "";
  code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  signal(SIGUSR1, start);
  sframe_jit* const jit = sframe_jit_make(0, NULL);
  sframe_jit_region region[3];
  if (!jit) return 1;
  printf("%" PRIxPTR " %" PRIxPTR " %" PRIxPTR "\n", (uintptr_t)caller, (uintptr_t)after_caller,
         (uintptr_t)code);
  const int changes = strcmp(mode, "changing") == 0;
#ifdef HOSTILE
  generate_all(24);
  lie();
  puts("ready"), fflush(stdout);
  for (;;) {
    caller();
    entries[sink % 4096] ^= sink;
    ++list.changes;
  }
#endif
  if (strcmp(mode, "unlisted") == 0) {
    generate_all(24);
  } else if (!changes) {
    generate_all(24);
    add(jit, 0, "outer", 8, &region[0]);
    add(jit, 1, "middle", 24, &region[1]);
    add(jit, 2, "inner", 40, &region[2]);
  }
  puts("ready"), fflush(stdout);
  while (changes && !may_start) spin();
  for (uint32_t i = 0;; ++i) {
    const uint32_t frame = 24 + i % 7 * 16;
    if (changes && i % 100 == 0) {
      if (i != 0 && sframe_jit_drop(jit, &region[1], NULL) != SFRAME_OK) return 1;
      generate_all(frame);
      if (i == 0) add(jit, 0, "outer", 8, &region[0]), add(jit, 2, "inner", 40, &region[2]);
      add(jit, 1, "middle", frame, &region[1]);
    }
    caller();
  }
}
