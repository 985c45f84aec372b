/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stack walks in C:
 *
 *   cc -std=c11 examples/walk.c -o walk -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c
 *
 *   walk core FILE [EXECUTABLE]   all threads of a core
 *   walk pid PID                  all threads of a live process
 *   walk own                      a target through callbacks of this program
 */
#include <sframe/c/walk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_frame(const sframe_frame* frame, void* process) {
  char name[256] = "";
  uint64_t offset = 0;
  sframe_module module = {.size = sizeof module};
  if (sframe_function_name(process, frame, name, sizeof name, &offset) == SFRAME_NO_INFO &&
      sframe_find_module(process, frame->lookup_pc, &module) == SFRAME_OK) {
    snprintf(name, sizeof name, "%s", module.path); /* without a name, a symbolizer needs this */
    offset = frame->pc - module.start;
  }
  printf("  #%u 0x%llx %s+0x%llx [%s%s%s]\n", (unsigned)frame->number, (unsigned long long)frame->pc, name,
         (unsigned long long)offset, frame->found_by, frame->heuristic ? ", heuristic" : "",
         frame->signal_frame ? ", signal frame" : "");
  return 0;
}

static int print_threads(sframe_process* process) {
  sframe_error error = {.size = sizeof error};
  if (sframe_stop(process, &error) != SFRAME_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (size_t i = 0; i < sframe_num_threads(process); ++i) {
    sframe_thread thread = {.size = sizeof thread};
    sframe_end end = {.size = sizeof end};
    sframe_get_thread(process, i, &thread);
    printf("thread %u %s\n", (unsigned)thread.tid, thread.name);
    if (sframe_walk(process, i, print_frame, process, &end, &error) != SFRAME_OK)
      printf("  %s\n", error.message);
    else
      printf("  %s: %s\n", end.complete ? "complete" : "ended early", end.reason);
  }
  sframe_resume(process);
  return 0;
}

/* ---- A target through callbacks: AMD64, a function that calls itself, and its caller ---- */

/* 0x2000: .eh_frame: a CIE, the FDEs of 0x1000 (CFA = rsp + 16) and 0x1100 (no caller). 0x2048: the table. */
static const uint8_t tables[] = {
    0x14, 0,    0,    0,    0,    0, 0, 0, 1,    'z',  'R',  0,    1,    0x78, 0x10, 1,
    0x1b, 0x0c, 7,    8,    0x90, 1, 0, 0, /* 0x2018 */
    0x14, 0,    0,    0,    0x1c, 0, 0, 0, 0xe0, 0xef, 0xff, 0xff, 0,    1,    0,    0,
    0,    0x0e, 16,   0,    0,    0, 0, 0, /* 0x2030 */
    0x14, 0,    0,    0,    0x34, 0, 0, 0, 0xc8, 0xf0, 0xff, 0xff, 0,    1,    0,    0,
    0,    0x07, 16,   0,    0,    0, 0, 0, /* 0x2048: pairs of function and FDE, relative to 0x2000 */
    0x00, 0xf0, 0xff, 0xff, 0x18, 0, 0, 0, 0x00, 0xf1, 0xff, 0xff, 0x30, 0,    0,    0};
static const uint64_t stack[] = {0, 0x1020, 0, 0x1110, 0, 0}; /* at 0x7000 */

static sframe_status find_table(uint64_t address, sframe_table* table, void* data) {
  ++*(int*)data;
  if (address < 0x1000 || address >= 0x1200) return SFRAME_NO_INFO;
  table->address = 0x2048;
  table->length = 16;
  table->base = 0x2000;
  return SFRAME_OK;
}

static sframe_status read_word(uint64_t address, uint64_t* value, void* data) {
  (void)data;
  if (address >= 0x7000 && address - 0x7000 <= sizeof stack - 8)
    *value = stack[(address - 0x7000) / 8];
  else if (address >= 0x2000 && address - 0x2000 <= sizeof tables - 8)
    memcpy(value, tables + (address - 0x2000), 8);
  else
    return SFRAME_INVALID;
  return SFRAME_OK;
}

static sframe_status read_register(uint16_t reg, uint64_t* value, void* data) {
  (void)data;
  *value = reg == 7 ? 0x7000 : 0x1010;
  return reg == 7 || reg == SFRAME_PC ? SFRAME_OK : SFRAME_BAD_REGISTER;
}

static sframe_status find_name(uint64_t address, char* buffer, size_t size, uint64_t* offset, void* data) {
  (void)data;
  snprintf(buffer, size, "%s", address < 0x1100 ? "function" : "start");
  *offset = address % 0x100;
  return SFRAME_OK;
}

static int walk_own(void) {
  const sframe_callbacks callbacks = {
      sizeof callbacks, find_table, read_word, read_register, find_name,
  };
  sframe_error error = {.size = sizeof error};
  int asked = 0;
  sframe_process* process = sframe_open_callbacks("amd64", &callbacks, &asked, &error);
  if (!process) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  sframe_set_caching(process, SFRAME_CACHE_GLOBAL);
  print_threads(process);
  printf("asked for a table %d times\n", asked);

  sframe_frame frames[2] = {{.size = sizeof frames[0]}};
  size_t count;
  sframe_end end = {.size = sizeof end};
  sframe_walk_into(process, 0, frames, 2, &count, &end, NULL);
  printf("%zu frames fit, the second's CFA is 0x%llx: %s\n", count, (unsigned long long)frames[1].cfa,
         end.reason);
  printf("asked for a table %d times\n", asked);
  sframe_close(process);
  return 0;
}

int main(int argc, char** argv) {
  sframe_error error = {.size = sizeof error};
  if (argc == 2 && !strcmp(argv[1], "own")) return walk_own();
  if (argc < 3) {
    fputs("usage: walk core FILE [EXECUTABLE] | pid PID | own\n", stderr);
    return 2;
  }
  const sframe_options options = {.size = sizeof options, .executable = argc > 3 ? argv[3] : NULL};
  sframe_process* process = !strcmp(argv[1], "core") ? sframe_open_core(argv[2], &options, &error)
                                                     : sframe_attach(atoi(argv[2]), &options, &error);
  if (!process) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  printf("%s\n", sframe_abi(process));
  const int code = print_threads(process);
  sframe_close(process);
  return code;
}
