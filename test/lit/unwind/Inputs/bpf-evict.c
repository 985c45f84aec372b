// bpf-evict OBJECT SFRAME_GEN PID OTHER: loads the tables of the process PID with just as much memory as they
// need; then takes stacks of OTHER, whose tables have no room beside them, until 50 are complete.
#define _GNU_SOURCE
#include <sframe/bpf/tables.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bpf-sampling.h"

static sframe_bpf_counts counts = {.size = sizeof counts};

static int take_stack(void* context, void* data, size_t size) {
  const struct sframe_bpf_stack* const stack = data;
  (void)size;
  *(unsigned*)context += stack->end == SFRAME_BPF_END_OUTERMOST;
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  sframe_bpf_options options = {.size = sizeof options, .generator = argv[2]};
  const __u32 pid = (__u32)atoi(argv[3]), other = (__u32)atoi(argv[4]);
  struct bpf_object* object = load_for_process(argv[1], pid);
  if (!object) return 2;
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  if (!tables || sframe_bpf_tables_add(tables, (int)pid) < 0) return 2;
  sframe_bpf_tables_count(tables, &counts);
  sframe_bpf_tables_free(tables);
  bpf_object__close(object);

  options.max_bytes = counts.bytes;
  object = load_for_process(argv[1], other);
  if (!object) return 2;
  tables = sframe_bpf_tables_new(object, &options);
  if (!tables || sframe_bpf_tables_add(tables, (int)pid) < 0) return 2;
  sframe_bpf_tables_count(tables, &counts);
  printf("%s, %llu evicted\n", counts.bytes == options.max_bytes ? "full" : "not full",
         (unsigned long long)counts.evicted);
  if (sample(object, (pid_t)other, -1) < 0) return 2;
  unsigned complete = 0;
  struct ring_buffer* ring =
      ring_buffer__new(bpf_object__find_map_fd_by_name(object, "stacks"), take_stack, &complete, NULL);
  int bounded = 1;
  while (complete < 50) {
    sframe_bpf_tables_serve(tables, 10);
    ring_buffer__consume(ring);
    sframe_bpf_tables_count(tables, &counts);
    bounded &= counts.bytes <= options.max_bytes;
  }
  printf("complete stacks, %s, %s\n", counts.evicted ? "some evicted" : "none evicted",
         bounded ? "within the limit" : "more than the limit");
  return 0;
}
