// How often each stack of one process was seen, by its id.
#define SFRAME_BPF_STACK_IDS 4096
#include <sframe/bpf/stack.bpf.h>

char LICENSE[] SEC("license") = "GPL";
const volatile __u32 process SEC(".rodata.process");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u64);
  __type(value, __u64);
} counts SEC(".maps");

__u64 failed;

SEC("perf_event")
int sample(struct bpf_perf_event_data* event) {
  const __u64 zero = 0;
  if (bpf_get_current_pid_tgid() >> 32 != process) return 0;
  const long id = sframe_stackid(event, 0);
  if (id < 0) {
    __sync_fetch_and_add(&failed, 1);
    return 0;
  }
  const __u64 key = (__u64)id;
  bpf_map_update_elem(&counts, &key, &zero, BPF_NOEXIST);
  __u64* const count = bpf_map_lookup_elem(&counts, &key);
  if (count) __sync_fetch_and_add(count, 1);
  return 0;
}
