// bpf-code-walk OBJECT SFRAME_GEN STACKS TARGET MODE: starts the process of bpf-code.c, samples it by the BPF
// program of the example, and looks at each stack: what is below and above generated frames has to be what
// the source says. Ends when as many stacks with three generated frames are complete.
#define _GNU_SOURCE
#include <errno.h>
#include <sframe/bpf/tables.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf-sampling.h"

enum { ROOM = 64 };
static unsigned long long caller, after_caller, code;
static unsigned long total, complete, wrong, unfinished;

/* The generated functions by their addresses: 0 outer, 1 middle, 2 inner; -1 none. */
static int which(unsigned long long pc) {
  return pc - code < 3 * ROOM ? (int)((pc - code) / ROOM) : -1;
}

static int take_stack(void* context, void* data, size_t size) {
  const struct sframe_bpf_stack* const stack = data;
  (void)context, (void)size;
  ++total;
  int bad = 0, generated = 0;
  for (unsigned i = 0; i < stack->depth; ++i) {
    const int function = which(stack->pcs[i]);
    if (function < 0) continue;
    ++generated;
    if (i + 1 == stack->depth) break;
    const unsigned long long above = stack->pcs[i + 1];
    bad |= function == 0 ? above - caller >= after_caller - caller : which(above) != function - 1;
  }
  if (stack->end != SFRAME_BPF_END_OUTERMOST)
    ++unfinished;
  else if (generated != 0)
    complete += generated == 3 || !bad; /* before the innermost one is called there are fewer */
  wrong += (unsigned)bad;
  return 0;
}

/* An SFrame section of version 3 for `sub $frame,%rsp; movabs; call; add; ret`: header, index of one
   function, its attributes, three rows (start, info: one offset of a byte from SP, offset). */
static size_t make_section(unsigned char* to, unsigned char frame) {
  static const unsigned char bytes[] = {
      0xe2, 0xde, 3, 0, 3, 0, 0xf8, 0,  1, 0, 0, 0, 3, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0,  0, 0,
      0,    0,    0, 0, 0, 0, 0,    27, 0, 0, 0, 0, 0, 0, 0, 3, 0,  0, 0, 0, 0, 3, 8, 7, 3,  8, 26, 3, 8};
  memcpy(to, bytes, sizeof bytes);
  to[sizeof bytes - 4] = (unsigned char)(8 + frame);
  return sizeof bytes;
}

/* The three functions, by rows that are given. */
static int set_code(sframe_bpf_tables* tables, int pid) {
  static const unsigned char frames[] = {8, 24, 40};
  unsigned char sections[3][64];
  sframe_bpf_region regions[3];
  for (int i = 0; i < 3; ++i)
    regions[i] =
        (sframe_bpf_region){code + (unsigned)i * ROOM, 27, sections[i], make_section(sections[i], frames[i])};
  if (sframe_bpf_tables_set_code(tables, pid, regions, 3) != 3) return -1;
  regions[1].start = regions[0].start; /* they overlap: refused, and nothing changes */
  return sframe_bpf_tables_set_code(tables, pid, regions, 3) == -1 && errno == EINVAL ? 0 : -1;
}

static int fail(const char* what) {
  perror(what);
  return 2;
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  int ends[2];
  if (pipe(ends) != 0) return fail("pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], 1);
    execl(argv[4], argv[4], argv[5], (char*)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE* const from = fdopen(ends[0], "r");
  char ready[8];
  if (fscanf(from, "%llx %llx %llx %7s", &caller, &after_caller, &code, ready) != 4) return fail(argv[4]);
  const unsigned long wanted = strtoul(argv[3], NULL, 0);
  struct bpf_object* object = load_for_process(argv[1], (__u32)pid);
  if (!object) return fail("BPF program");
  const sframe_bpf_options options = {.size = sizeof options, .generator = argv[2]};
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  if (!tables || sframe_bpf_tables_add(tables, pid) < 0) return fail("tables");
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu)
    if (sample(object, -1, cpu) == NO_PROGRAM) return fail("perf event");
  struct ring_buffer* ring =
      ring_buffer__new(bpf_object__find_map_fd_by_name(object, "stacks"), take_stack, NULL, NULL);
  if (!ring) return fail("ring buffer");
  if (strcmp(argv[5], "unlisted") == 0 && set_code(tables, pid) != 0) return fail("set_code");
  kill(pid, SIGUSR1);
  const int hostile = strcmp(argv[5], "hostile") == 0;
  while ((hostile ? total : complete) < wanted && total < 200000 && waitpid(pid, NULL, WNOHANG) == 0) {
    sframe_bpf_tables_serve(tables, 10);
    ring_buffer__consume(ring);
  }
  sframe_bpf_counts counts = {.size = sizeof counts};
  sframe_bpf_tables_count(tables, &counts);
  const unsigned long long regions = counts.regions, tables_before = counts.tables;
  sframe_bpf_tables_remove_code(tables, pid);
  sframe_bpf_tables_count(tables, &counts);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fprintf(stderr, "%lu stacks, %lu unfinished, %ld KiB\n", total, unfinished, usage.ru_maxrss);
  printf("%s, %lu wrong, %llu regions, then %llu, %d tables fewer, %s\n",
         (hostile ? total : complete) >= wanted ? "enough stacks" : "too few complete stacks", wrong, regions,
         (unsigned long long)counts.regions, (int)(tables_before - counts.tables),
         usage.ru_maxrss < 400 << 10 ? "memory bounded" : "too much memory");
  return 0;
}
