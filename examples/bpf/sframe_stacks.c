/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sframe_stacks PID STACKS [TABLES]: samples a process over libsframe-bpf, and prints folded stacks, the
 * input of flame graphs. The kernel walks them, by sframe_stacks.bpf.c. Tables are those of the directory,
 * made by sframe-gen -o TABLES/ --emit=bpf-table; sframe-gen in PATH makes others.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sframe/bpf/tables.h>
#include <sframe/c/walk.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static sframe_process* process; /* for names */
static unsigned long wanted, taken;

static void check(int is_good, const char* what) {
  if (is_good) return;
  fprintf(stderr, "sframe_stacks: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
  exit(2);
}

static int take_stack(void* context, void* data, size_t size) {
  const struct sframe_bpf_stack* stack = data;
  (void)context, (void)size;
  printf("[%s]", sframe_bpf_end_text(stack->end));
  for (uint32_t i = stack->depth; i-- > 0;) {
    const sframe_frame frame = {.size = sizeof frame, .pc = stack->pcs[i], .lookup_pc = stack->pcs[i]};
    char name[4096];
    if (sframe_function_name(process, &frame, name, sizeof name, NULL) == SFRAME_OK)
      printf(";%s", name);
    else
      printf(";0x%llx", (unsigned long long)frame.pc);
  }
  puts(" 1");
  return ++taken < wanted ? 0 : -1;
}

static void start_samples(const struct bpf_object* object) {
  struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE, .size = sizeof clock, .sample_period = 2000000};
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "sample"));
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu) { /* every 2 ms; not on those that are off */
    const int event = (int)syscall(SYS_perf_event_open, &clock, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (event >= 0) check(ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == 0, "perf_event_open");
  }
}

int main(int argc, char** argv) {
  const int pid = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
  wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  check(pid > 0 && wanted > 0, "usage: sframe_stacks PID STACKS [TABLES]");
  sframe_error error = {.size = sizeof error};
  process = sframe_attach(pid, NULL, &error);
  check(process && sframe_stop(process, &error) == SFRAME_OK, error.message); /* names are of this moment */
  sframe_resume(process);
  char path[4096], missing[512];
  check(sframe_bpf_missing(NULL, missing, sizeof missing) == 0, missing);
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof ".bpf.o");
  check(length > 0, "/proc/self/exe");
  memcpy(path + length, ".bpf.o", sizeof ".bpf.o");
  struct bpf_object* object = bpf_object__open_file(path, NULL);
  check(object != NULL, path);
  bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.process"), &pid, sizeof pid);
  check(bpf_object__load(object) == 0, path);
  const sframe_bpf_options options = {
      .size = sizeof options, .directory = argv[3], .generator = "sframe-gen"};
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  check(tables && sframe_bpf_tables_add(tables, pid) >= 0, "tables");
  const int map = bpf_object__find_map_fd_by_name(object, "stacks");
  struct ring_buffer* ring = ring_buffer__new(map, take_stack, NULL, NULL);
  check(ring != NULL, "ring buffer");
  start_samples(object);
  while (taken < wanted && kill(pid, 0) == 0) {
    sframe_bpf_tables_serve(tables, 20);
    ring_buffer__consume(ring);
  }
  sframe_bpf_counts counts = {.size = sizeof counts};
  sframe_bpf_tables_count(tables, &counts);
  fprintf(stderr, "stacks: %lu; tables: %llu, %llu rows; files without: %llu\n", taken,
          (unsigned long long)counts.tables, (unsigned long long)counts.rows,
          (unsigned long long)(counts.no_table + counts.not_elf + counts.damaged + counts.no_room));
  return fflush(stdout) != 0;
}
