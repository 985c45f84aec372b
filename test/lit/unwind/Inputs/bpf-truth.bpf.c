// Samples of one process with registers and the stack's memory, 64 KiB above SP.
#define SFRAME_BPF_DEFERRED_BYTES (1 << 22)
#include <sframe/bpf/stack.bpf.h>

#include "bpf-truth.h"

char LICENSE[] SEC("license") = "GPL";
const volatile __u32 process SEC(".rodata.process");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 24);
} samples SEC(".maps");

SEC("perf_event")
int sample(struct bpf_perf_event_data* event) {
  if (bpf_get_current_pid_tgid() >> 32 != process || !SFRAME_BPF_IS_USER(event->regs)) return 0;
  struct sample* const sample = bpf_ringbuf_reserve(&samples, sizeof *sample, 0);
  if (!sample) return 0;
  __u64* const r = sample->registers; // single loads: the context is not memory
#define COPY(number, name) r[number] = event->regs.name
  COPY(0, rax), COPY(1, rdx), COPY(2, rcx), COPY(3, rbx), COPY(4, rsi), COPY(5, rdi), COPY(6, rbp),
      COPY(7, rsp);
  COPY(8, r8), COPY(9, r9), COPY(10, r10), COPY(11, r11), COPY(12, r12), COPY(13, r13), COPY(14, r14),
      COPY(15, r15);
  COPY(16, rip);
  sample->tid = (__u32)bpf_get_current_pid_tgid();
  sample->first = event->regs.rsp & ~(__u64)(PAGE - 1);
  sample->pages = 0;
  for (int i = 0; i < PAGES; ++i) {
    if (bpf_probe_read_user(sample->copy + i * PAGE, PAGE, (const void*)(sample->first + (__u64)i * PAGE)) !=
        0)
      break;
    sample->pages = i + 1;
  }
  sframe_stack(event, &sample->stack, SFRAME_BPF_DEFER);
  bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
  return 0;
}
