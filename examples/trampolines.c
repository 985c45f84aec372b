/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CPython's scheme for profilers (-X perf): each function of the interpreted language is entered through its
 * own copy of one trampoline, so that stacks have its name. Here the copies have rows, too: one set for all
 * of them. Comments name what a part replaces in CPython (Python/perf_trampoline.c, perf_jit_trampoline.c,
 * jit_unwind.c).
 *
 *   cc examples/trampolines.c -o trampolines -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c
 *   ./trampolines print    prints the stack by sframe_here(), and by backtrace() of libgcc
 *   ./trampolines abort    ends the program, for a debugger; wait: waits for one
 *   ./trampolines work     computes, for perf record -k mono; writes jit-PID.dump for perf inject --jit
 *   ./trampolines claim    has rows of a prologue that does not exist, which the check reports
 */
#define _GNU_SOURCE
#include <sframe/c/here.h>
#include <sframe/c/jit.h>

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* asm_trampoline.S: calls its fourth argument. It needs no frame pointer. The labels are global: linkers for
   AArch64 find the first of two local ones for both in the global offset table. */
__asm__(".globl trampoline_start, trampoline_end");
extern const char trampoline_start[], trampoline_end[];
#define ROW(at, reg, add, ...) {sizeof(sframe_row), at, 0, {SFRAME_RULE_VALUE, 0, reg, add}, __VA_ARGS__}
#define AT_CFA(add) {SFRAME_RULE_STORED, 0, SFRAME_BASE_CFA, add}
#define UNCHANGED {SFRAME_RULE_SAME, 0, 0, 0}
#if defined __x86_64__
#  define ABI "amd64"
enum { fp = 6, sp = 7 };
__asm__("trampoline_start: sub $8, %rsp; call *%rcx; add $8, %rsp; ret; trampoline_end:");
#  define RA {SFRAME_RULE_FIXED, 0, 0, 0}
static const sframe_row right[] = {ROW(0, sp, 8, RA, UNCHANGED), ROW(4, sp, 16, RA, UNCHANGED),
                                   ROW(10, sp, 8, RA, UNCHANGED)};
/* As for push %rbp; mov %rsp, %rbp; ...; pop %rbp. CPython had such CFI for code that does not do that. */
static const sframe_row claimed[] = {ROW(0, sp, 8, RA, UNCHANGED), ROW(1, sp, 16, RA, AT_CFA(-16)),
                                     ROW(4, fp, 16, RA, AT_CFA(-16)), ROW(7, sp, 8, RA, UNCHANGED)};
#elif defined __aarch64__
#  define ABI "aarch64"
enum { fp = 29, sp = 31 };
__asm__("trampoline_start: str x30, [sp, #-16]!; blr x3; ldr x30, [sp], #16; ret; trampoline_end:");
static const sframe_row right[] = {ROW(0, sp, 0, UNCHANGED, UNCHANGED),
                                   ROW(4, sp, 16, AT_CFA(-16), UNCHANGED),
                                   ROW(12, sp, 0, UNCHANGED, UNCHANGED)};
/* As for stp x29, x30, [sp, #-16]!; mov x29, sp; ...; ldp x29, x30, [sp], #16. */
static const sframe_row claimed[] = {ROW(0, sp, 0, UNCHANGED, UNCHANGED),
                                     ROW(4, sp, 16, AT_CFA(-8), AT_CFA(-16)),
                                     ROW(8, fp, 16, AT_CFA(-8), AT_CFA(-16)),
                                     ROW(12, sp, 0, UNCHANGED, UNCHANGED)};
#endif

/* A function calls the next one, or the host. */
typedef struct function {
  const char* name;
  struct function* next;
  int (*entry)(void* thread, struct function* self, int throwing, int (*)(void*, struct function*, int));
} function;

/* What is _PyRuntime.ceval.perf there, and code_arena_t. After each copy comes room for perf's unwinding
   data, as there (code_padding). */
enum { arena_size = 1 << 16, copy_size = 256, room = copy_size - 16 };
static sframe_jit* jit;
static sframe_jit_rows* rows; /* of all copies: they share the memory */
static char* arena;
static size_t used;
static const char *names[arena_size / copy_size], *mode; /* names: only for print_frame() */

static void check(sframe_status status, const sframe_error* error) {
  if (status == SFRAME_OK) return;
  fprintf(stderr, "trampolines: %s\n", error->message);
  exit(1);
}

static int print_contradiction(const sframe_jit_contradiction* found, void* data) {
  char is[32] = "", should_be[32] = "?";
  (void)data;
  sframe_rule_text(ABI, &found->row->cfa, 1, is, sizeof is);
  if (found->right) sframe_rule_text(ABI, &found->right->cfa, 1, should_be, sizeof should_be);
  printf("trampoline+%d: the rows have CFA = %s, the code has %s\n", (int)found->offset, is, should_be);
  return 0;
}

/* PyPerf_Callbacks.init_state: instead of opening a map, or a dump and writing its header. */
static void init_state(const sframe_row* given, size_t count) {
  sframe_error error = {.size = sizeof error};
  const sframe_function kind = {.size = sizeof kind, .length = (uint32_t)(trampoline_end - trampoline_start)};
  rows = sframe_jit_rows_make(&kind, given, count, NULL, 0, &error); /* elf_init_ehframe() */
  check(rows ? SFRAME_OK : error.status, &error);
  /* Once is enough: the copies are equal. */
  check(sframe_jit_check(trampoline_start, rows, NULL, print_contradiction, NULL, &error), &error);
  jit = sframe_jit_make(SFRAME_JIT_FRAMES | SFRAME_JIT_GDB, &error);
  check(jit ? SFRAME_OK : error.status, &error);
  if (strcmp(mode, "work") != 0) return; /* sframe_jit_write_perf_map() is for -X perf, this for perf_jit */
  char path[32];
  snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
  check(sframe_jit_write_dump(jit, path, room, &error), &error);
}

/* PyPerf_Callbacks.write_state: instead of a line of the map, or of records for code and CFI in the dump. */
static void write_state(const void* code, const char* name) {
  sframe_error error = {.size = sizeof error};
  sframe_jit_region region; /* for those that remove single copies */
  check(sframe_jit_add(jit, code, name, rows, &region, &error), &error);
}

/* PyPerf_Callbacks.free_state, before free_code_arenas(): no thread is in a copy any more. */
static void free_state(void) {
  sframe_jit_free(jit);
  sframe_jit_rows_free(rows);
  munmap(arena, arena_size);
}

/* new_code_arena(): it is filled with copies before it becomes executable. */
static void new_arena(void) {
  arena = mmap(NULL, arena_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arena == MAP_FAILED) abort();
  for (size_t at = 0; at < arena_size; at += copy_size)
    memcpy(arena + at, trampoline_start, (size_t)(trampoline_end - trampoline_start));
  if (mprotect(arena, arena_size, PROT_READ | PROT_EXEC) != 0) abort();
  __builtin___clear_cache(arena, arena + arena_size);
}

/* compile_trampoline(), as far as one arena goes. */
static void compile(function* self) {
  if (!arena) new_arena();
  if (used == arena_size) abort();
  names[used / copy_size] = self->name;
  write_state(arena + used, self->name);
  memcpy(&self->entry, &(char*){arena + used}, sizeof self->entry);
  used += copy_size;
}

static void print_frame(uint64_t pc) {
  const uint64_t at = pc - (uintptr_t)arena;
  printf("  %s\n", at < arena_size ? names[at / copy_size] : "-");
}

/* What the innermost function calls. */
__attribute__((noinline)) int host(void) {
  uint64_t frames[64];
  void* addresses[64];
  if (strcmp(mode, "print") == 0) {
    const size_t count = sframe_here(frames, 64, 0, NULL);
    for (size_t i = 0; i < count; ++i) print_frame(frames[i]);
    puts("backtrace()");
    const int others = backtrace(addresses, 64);
    for (int i = 0; i < others; ++i) print_frame((uintptr_t)addresses[i]);
  }
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "wait") == 0) {
    puts("waiting");
    fflush(stdout);
    for (;;) pause();
  }
  if (strcmp(mode, "work") == 0)
    for (int i = 0; i < 400000000; ++i) __asm__ volatile("");
  return 1;
}

/* py_trampoline_evaluator() and _PyEval_EvalFrameDefault(). */
static int evaluate(void* thread, function* self, int throwing) {
  function* const next = self->next;
  if (!next) return host() + throwing;
  if (!next->entry) compile(next);
  return next->entry(thread, next, 0, evaluate) + 1;
}

int main(int argc, char** argv) {
  function inner = {"py::inner:script.py", NULL, NULL}, outer = {"py::outer:script.py", &inner, NULL};
  function module = {"py::<module>:script.py", &outer, NULL};
  mode = argc == 2 ? argv[1] : "";
  sframe_here_refresh();
  if (strcmp(mode, "claim") == 0)
    init_state(claimed, sizeof claimed / sizeof *claimed);
  else
    init_state(right, sizeof right / sizeof *right);
  printf("result: %d\n", evaluate(NULL, &module, 0));
  free_state();
  return 0;
}
