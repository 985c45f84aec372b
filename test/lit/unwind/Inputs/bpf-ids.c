// bpf-ids OBJECT SFRAME_GEN STACKS PID: samples a process, and looks at the stacks by their ids: each id has
// one, no two are equal, and the counts are those of the ends.
#define _GNU_SOURCE
#include <sframe/bpf/tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf-sampling.h"

static int fail(const char* what) {
  perror(what);
  return 2;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const __u64 wanted = strtoull(argv[3], NULL, 0);
  const __u32 pid = (__u32)atoi(argv[4]);
  struct bpf_object* object = load_for_process(argv[1], pid);
  if (!object) return fail("BPF program");
  const sframe_bpf_options options = {.size = sizeof options, .generator = argv[2]};
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  if (!tables || sframe_bpf_tables_add(tables, (int)pid) < 0) return fail("tables");
  int events[1024], num_events = 0;
  for (int cpu = 0; cpu < libbpf_num_possible_cpus() && cpu < 1024; ++cpu) {
    const int event = sample(object, -1, cpu);
    if (event == NO_PROGRAM) return fail("perf event");
    if (event >= 0) events[num_events++] = event;
  }
  uint64_t ends[SFRAME_BPF_NUM_ENDS], all = 0;
  while (all < wanted) {
    sframe_bpf_tables_serve(tables, 10);
    if (sframe_bpf_tables_ends(tables, ends) != 0) return fail("ends");
    all = 0;
    for (int i = 0; i < SFRAME_BPF_NUM_ENDS; ++i) all += ends[i];
  }
  while (num_events) close(events[--num_events]); /* no more samples */
  sframe_bpf_tables_ends(tables, ends);
  all = 0;
  for (int i = 0; i < SFRAME_BPF_NUM_ENDS; ++i) all += ends[i];

  static struct sframe_bpf_stack stacks[4096];
  const int counts = bpf_object__find_map_fd_by_name(object, "counts");
  const int by_id = bpf_object__find_map_fd_by_name(object, "sframe_stacks");
  __u64 sum = 0, complete = 0;
  unsigned num = 0, bad = 0;
  for (__u64 id = 0, *last = NULL; num < 4096 && bpf_map_get_next_key(counts, last, &id) == 0; last = &id) {
    __u64 count = 0;
    struct sframe_bpf_stack* const stack = &stacks[num];
    if (bpf_map_lookup_elem(counts, &id, &count) != 0 || bpf_map_lookup_elem(by_id, &id, stack) != 0)
      return fail("map");
    bad += stack->id != id;
    for (unsigned i = 0; i < num; ++i)
      bad += stacks[i].depth == stack->depth && stacks[i].end == stack->end &&
             memcmp(stacks[i].pcs, stack->pcs, stack->depth * sizeof stack->pcs[0]) == 0;
    sum += count;
    if (stack->end == SFRAME_BPF_END_OUTERMOST) complete += count;
    ++num;
  }
  fprintf(stderr, "%u ids, %lu samples\n", num, (unsigned long)all);
  printf("%s, %u bad, counts %s, %s\n", num > 3 && num < all ? "fewer ids than samples" : "odd ids", bad,
         sum == all ? "are those of the ends" : "differ",
         complete == ends[SFRAME_BPF_END_OUTERMOST] ? "complete" : "not complete");
  return 0;
}
