// SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only
//
// A perf event's BPF program: the user stacks of one process, to a ring buffer. sframe_stacks.c loads it.

#include <sframe/bpf/stack.bpf.h>

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 process SEC(".rodata.process"); // set before loading

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 22);
} stacks SEC(".maps");

__u64 lost; // no room in the ring buffer

SEC("perf_event")
int sample(struct bpf_perf_event_data* event) {
  if (bpf_get_current_pid_tgid() >> 32 != process) return 0;
  struct sframe_bpf_stack* stack = bpf_ringbuf_reserve(&stacks, sizeof *stack, 0);
  if (!stack) {
    __sync_fetch_and_add(&lost, 1);
    return 0;
  }
  sframe_stack(event, stack, 0);
  bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP); // a wake-up per sample would take longer than the walk
  return 0;
}
