/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A sampling profiler over libsframe-bpf: perf events start sframe_stacks.bpf.c, which walks the user stacks
 * of a process in the kernel. Prints folded stacks, the input of flame graphs. docs/bpf.md has how to build
 * and use it.
 *
 *   sframe_stacks [-F HERTZ] [-t SECONDS] [-n STACKS] [-d DIR] [-g SFRAME_GEN] PID
 *
 *   -d DIR         tables by build ID, made by sframe-gen -o DIR/ --emit=bpf-table
 *   -g SFRAME_GEN  makes those that are not there (sframe-gen)
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
#include <time.h>
#include <unistd.h>

static sframe_process* process;
static unsigned long long stacks, frames;

static void __attribute__((noreturn)) fail(const char* what, const char* why) {
  fprintf(stderr, "sframe_stacks: %s: %s\n", what, why);
  exit(2);
}

/* The function's name, else the address. */
static void print_name(uint64_t pc) {
  const sframe_frame frame = {.size = sizeof frame, .pc = pc, .lookup_pc = pc};
  char name[512];
  const sframe_status status = sframe_function_name(process, &frame, name, sizeof name, NULL);
  if (status != SFRAME_OK && status != SFRAME_NO_MEMORY)
    snprintf(name, sizeof name, "0x%llx", (unsigned long long)pc);
  for (char* c = name; *c; ++c)
    if (*c == ';' || *c == '\n') *c = ':';
  printf(";%s", name);
}

static int take_stack(void* context, void* data, size_t size) {
  const struct sframe_bpf_stack* stack = data;
  (void)context, (void)size;
  ++stacks;
  frames += stack->depth;
  printf("[%s]", sframe_bpf_end_text(stack->end));
  for (uint32_t i = stack->depth; i-- > 0;) print_name(stack->pcs[i]);
  puts(" 1");
  return 0;
}

static struct bpf_object* load(int pid) {
  char path[4096], missing[512];
  if (sframe_bpf_missing(NULL, missing, sizeof missing)) fail("not on this kernel", missing);
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 8);
  if (length < 0) fail("/proc/self/exe", strerror(errno));
  memcpy(path + length, ".bpf.o", sizeof ".bpf.o");
  struct bpf_object* object = bpf_object__open_file(path, NULL);
  if (!object) fail(path, strerror(errno));
  const uint32_t wanted = (uint32_t)pid;
  struct bpf_map* constant = bpf_object__find_map_by_name(object, ".rodata.process");
  if (bpf_map__set_initial_value(constant, &wanted, sizeof wanted) != 0 || bpf_object__load(object) != 0)
    fail(path, strerror(errno));
  return object;
}

static void start_samples(const struct bpf_object* object, unsigned hertz) {
  struct perf_event_attr attribute = {.type = PERF_TYPE_SOFTWARE,
                                      .size = sizeof attribute,
                                      .config = PERF_COUNT_SW_CPU_CLOCK,
                                      .freq = 1,
                                      .sample_freq = hertz};
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "sample"));
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu) {
    const int fd = (int)syscall(SYS_perf_event_open, &attribute, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == ENODEV) continue; /* the processor is off */
    if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) != 0) fail("perf_event_open", strerror(errno));
  }
}

static void print_summary(const sframe_bpf_tables* tables) {
  uint64_t ends[SFRAME_BPF_NUM_ENDS];
  sframe_bpf_counts counts = {.size = sizeof counts};
  sframe_bpf_tables_count(tables, &counts);
  if (sframe_bpf_tables_ends(tables, ends) != 0) fail("map", strerror(errno));
  fprintf(stderr, "stacks: %llu, frames: %llu\n", stacks, frames);
  for (unsigned i = 0; i < SFRAME_BPF_NUM_ENDS; ++i)
    if (ends[i]) fprintf(stderr, "  %llu: %s\n", (unsigned long long)ends[i], sframe_bpf_end_text(i));
  fprintf(stderr, "tables: %llu, %llu rows, %llu bytes; files without: %llu\n",
          (unsigned long long)counts.tables, (unsigned long long)counts.rows,
          (unsigned long long)counts.bytes,
          (unsigned long long)(counts.no_table + counts.not_elf + counts.damaged + counts.no_room));
}

int main(int argc, char** argv) {
  sframe_bpf_options options = {.size = sizeof options, .generator = "sframe-gen"};
  sframe_error error = {.size = sizeof error};
  unsigned hertz = 99;
  unsigned long long limit = ~0ull;
  time_t seconds = 1000000000;
  for (int option; (option = getopt(argc, argv, "F:t:n:d:g:")) != -1;) {
    switch (option) {
    case 'F': hertz = (unsigned)strtoul(optarg, NULL, 0); break;
    case 't': seconds = strtol(optarg, NULL, 0); break;
    case 'n': limit = strtoull(optarg, NULL, 0); break;
    case 'd': options.directory = optarg; break;
    case 'g': options.generator = optarg; break;
    default: return 2;
    }
  }
  const int pid = optind + 1 == argc ? (int)strtol(argv[optind], NULL, 10) : 0;
  if (pid <= 0)
    fail("usage", "sframe_stacks [-F HERTZ] [-t SECONDS] [-n STACKS] [-d DIR] [-g SFRAME_GEN] PID");
  process = sframe_attach(pid, NULL, &error);
  if (!process || sframe_stop(process, &error) != SFRAME_OK) fail(argv[optind], error.message);
  sframe_num_modules(process); /* for names; the stop is for a consistent list */
  sframe_resume(process);
  struct bpf_object* object = load(pid);
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  if (!tables || sframe_bpf_tables_add(tables, pid) < 0) fail("tables", strerror(errno));
  start_samples(object, hertz);
  const int fd = bpf_object__find_map_fd_by_name(object, "stacks");
  struct ring_buffer* ring = ring_buffer__new(fd, take_stack, NULL, NULL);
  if (!ring) fail("ring buffer", strerror(errno));
  for (const time_t end = time(NULL) + seconds; stacks < limit && time(NULL) < end && kill(pid, 0) == 0;) {
    sframe_bpf_tables_serve(tables, 20);
    ring_buffer__consume(ring);
  }
  print_summary(tables);
  return fflush(stdout) != 0;
}
