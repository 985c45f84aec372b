/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Walks the stacks of another process through libunwind's interface. The program compiles with both libunwind
 * and sframe-utils:
 *
 *   cc libunwind_remote.c -o remote -lunwind-ptrace -lunwind-coredump -lunwind-generic -lunwind
 *   cc libunwind_remote.c -o remote -Iinterfaces/libunwind/include -Lbuild/release/lib -lsframe-c
 *
 *   remote upt PID      with the ready accessors for ptrace(2)
 *   remote own PID      with its own accessors: see below
 *   remote core FILE    with the ready accessors for cores
 *   remote speed PID N  walks N times with its own accessors, on a copy of the stack; prints time per frame
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <libunwind-coredump.h>
#include <libunwind-ptrace.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Printing ---- */

static int walk(unw_addr_space_t space, void* arg, int print) {
  unw_cursor_t cursor;
  int frames = 0, step = unw_init_remote(&cursor, space, arg);
  if (step < 0) {
    printf("  cannot start: %s\n", unw_strerror(step));
    return 0;
  }
  do {
    unw_word_t ip = 0, sp = 0, offset = 0;
    char name[256];
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    ++frames;
    if (!print) continue;
    unw_get_reg(&cursor, UNW_REG_SP, &sp);
    printf("  %#lx %#lx%s", (long)ip, (long)sp, unw_is_signal_frame(&cursor) > 0 ? " signal" : "");
    if (unw_get_proc_name(&cursor, name, sizeof name, &offset) == 0) printf(" %s+%#lx", name, (long)offset);
    printf("\n");
  } while ((step = unw_step(&cursor)) > 0 && frames < 1000);
  if (step < 0 && print) printf("  ended by: %s\n", unw_strerror(step));
  return frames;
}

/* ---- The program's own accessors: tables and memory of the process ---- */

struct target {
  pid_t thread;
  struct user_regs_struct registers;
  char* stack; /* a copy, starting at stack_start, or NULL */
  unw_word_t stack_start;
  size_t stack_size;
};

static int read_memory(struct target* target, unw_word_t address, void* to, size_t size) {
  if (target->stack && address - target->stack_start < target->stack_size - size) {
    memcpy(to, target->stack + (address - target->stack_start), size);
    return 0;
  }
  struct iovec here = {to, size}, there = {(void*)address, size};
  return process_vm_readv(target->thread, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -UNW_EINVAL;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t* value, int write, void* arg) {
  (void)space;
  return write ? -UNW_EINVAL : read_memory(arg, address, value, sizeof *value);
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  (void)space;
  const struct user_regs_struct* r = &((struct target*)arg)->registers;
  const unw_word_t values[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
                               r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};
  if (write || reg < 0 || (size_t)reg >= sizeof values / sizeof *values) return -UNW_EBADREG;
  *value = values[reg];
  return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t* value, int write, void* arg) {
  (void)space, (void)reg, (void)value, (void)write, (void)arg;
  return -UNW_EBADREG;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t* address, void* arg) {
  (void)space, (void)arg;
  *address = 0;
  return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t space, unw_cursor_t* cursor, void* arg) {
  (void)space, (void)cursor, (void)arg;
  return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t ip, char* name, size_t size, unw_word_t* offset,
                         void* arg) {
  (void)space, (void)ip, (void)name, (void)size, (void)offset, (void)arg;
  return -UNW_ENOINFO;
}

/* libunwind defines this function, but no header declares it. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t*, unw_proc_info_t*,
                                              int, void*);

/* The start of the ELF image mapped at `ip`, and the end of the mapping; 0 if there is none. */
static unw_word_t find_image(pid_t process, unw_word_t ip, unw_word_t* end) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)process);
  FILE* maps = fopen(path, "r");
  unsigned long start, stop, offset, image = 0, found = 0;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &stop, &offset) != 3) continue;
    if (offset == 0 && (strchr(line, '/') || strstr(line, "[vdso]"))) image = start;
    if (ip >= start && ip < stop && (strchr(line, '/') || strstr(line, "[vdso]"))) found = image;
    *end = stop;
  }
  if (maps) fclose(maps);
  return found;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need_unwind_info,
                          void* arg) {
  struct target* target = arg;
  unw_word_t end = 0, image = find_image(target->thread, ip, &end), bias = 0, table = 0;
  Elf64_Ehdr header;
  if (!image || read_memory(target, image, &header, sizeof header)) return -UNW_ENOINFO;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (read_memory(target, image + header.e_phoff + i * sizeof segment, &segment, sizeof segment))
      return -UNW_EINVAL;
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) bias = image - segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) table = bias + segment.p_vaddr;
  }
  /* Version, three encodings (those that linkers use), .eh_frame, the number of pairs, the pairs. */
  struct {
    unsigned char version, encodings[3];
    int32_t frames;
    uint32_t count;
  } start;
  if (!table || read_memory(target, table, &start, sizeof start) || start.encodings[2] != 0x3b)
    return -UNW_ENOINFO;
  unw_dyn_info_t info_table;
  memset(&info_table, 0, sizeof info_table);
  info_table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info_table.start_ip = image;
  info_table.end_ip = end;
  info_table.u.rti.segbase = table;
  info_table.u.rti.table_data = table + sizeof start;
  info_table.u.rti.table_len = start.count * 8 / sizeof(unw_word_t);
  return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &info_table, info, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t* info, void* arg) {
  (void)space, (void)info, (void)arg;
}

static unw_accessors_t own_accessors = {find_proc_info, put_unwind_info, get_dyn_info_list_addr,
                                        access_mem,     access_reg,      access_fpreg,
                                        resume,         get_proc_name};

/* ---- Targets ---- */

static int stop(pid_t thread) {
  if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0) return -1;
  return waitpid(thread, NULL, __WALL) == thread ? 0 : -1;
}

static void walk_thread(unw_addr_space_t space, pid_t thread, int upt) {
  printf("thread\n");
  if (stop(thread) != 0) {
    printf("  cannot be stopped\n");
    return;
  }
  if (upt) {
    void* arg = _UPT_create(thread);
    walk(space, arg, 1);
    _UPT_destroy(arg);
  } else {
    struct target target = {.thread = thread};
    ptrace(PTRACE_GETREGS, thread, 0, &target.registers);
    walk(space, &target, 1);
  }
  ptrace(PTRACE_DETACH, thread, 0, 0);
}

static void walk_process(unw_addr_space_t space, pid_t process, int upt) {
  char path[64];
  struct dirent** threads;
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  const int count = scandir(path, &threads, NULL, versionsort);
  for (int i = 0; i < count; ++i) {
    if (threads[i]->d_name[0] != '.') walk_thread(space, atoi(threads[i]->d_name), upt);
    free(threads[i]);
  }
  if (count >= 0) free(threads);
}

static int walk_core(unw_addr_space_t space, const char* path) {
  struct UCD_info* core = _UCD_create(path);
  if (!core) return 1;
  for (int i = 0; i < _UCD_get_num_threads(core); ++i) {
    _UCD_select_thread(core, i);
    printf("thread\n");
    walk(space, core, 1);
  }
  _UCD_destroy(core);
  return 0;
}

static void measure(unw_addr_space_t space, pid_t thread, int times) {
  struct target target = {.thread = thread};
  if (stop(thread) != 0) return;
  ptrace(PTRACE_GETREGS, thread, 0, &target.registers);
  const size_t size = 1 << 20;
  char* copy = calloc(1, size);
  struct iovec here = {copy, size}, there = {(void*)target.registers.rsp, size};
  const ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
  target.stack = copy;
  target.stack_start = target.registers.rsp;
  target.stack_size = got > 0 ? (size_t)got : 0;
  walk(space, &target, 0);
  struct timespec begin, end;
  long frames = 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < times; ++i) frames += walk(space, &target, 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%ld frames, %.1f ns each\n", frames / times,
         ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / frames);
  ptrace(PTRACE_DETACH, thread, 0, 0);
  free(copy);
}

int main(int argc, char** argv) {
  if (argc < 3 || (!strcmp(argv[1], "speed") && argc < 4)) {
    fputs("usage: remote upt PID | own PID | core FILE | speed PID N\n", stderr);
    return 2;
  }
  const int upt = !strcmp(argv[1], "upt"), core = !strcmp(argv[1], "core");
  unw_addr_space_t space = unw_create_addr_space(upt    ? &_UPT_accessors
                                                 : core ? &_UCD_accessors
                                                        : &own_accessors,
                                                 0);
  int code = 0;
  unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
  if (core)
    code = walk_core(space, argv[2]);
  else if (!strcmp(argv[1], "speed"))
    measure(space, atoi(argv[2]), atoi(argv[3]));
  else
    walk_process(space, atoi(argv[2]), upt);
  unw_destroy_addr_space(space);
  return code;
}
