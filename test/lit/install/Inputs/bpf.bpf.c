// A program of a user of libsframe-bpf: stacks, their ids, and what is left to user space.
#define SFRAME_BPF_DEFERRED_BYTES (1 << 20)
#define SFRAME_BPF_STACK_IDS 64
#include <sframe/bpf/stack.bpf.h>

char LICENSE[] SEC("license") = "GPL";

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 16);
} stacks SEC(".maps");

SEC("perf_event")
int sample(struct bpf_perf_event_data* event) {
  struct sframe_bpf_stack* stack = bpf_ringbuf_reserve(&stacks, sizeof *stack, 0);
  if (!stack) return 0;
  sframe_stack(event, stack, SFRAME_BPF_DEFER);
  bpf_ringbuf_submit(stack, 0);
  return 0;
}

SEC("uprobe")
int probe(struct pt_regs* registers) {
  return sframe_stackid(registers, 0) < 0;
}

SEC("tracepoint/sched/sched_switch")
int off(void* context) {
  return sframe_stackid(context, 0) < 0;
}
