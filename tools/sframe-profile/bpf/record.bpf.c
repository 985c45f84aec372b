// SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only
//
// The BPF programs of sframe-profile: stacks to a ring buffer, of the processes that are wanted, and which
// processes these are. User space loads those programs that an event needs.

#define SFRAME_BPF_DEFERRED_BYTES (8 << 20)
#define SFRAME_BPF_TASKS 8
#include <sframe/bpf/stack.bpf.h>

#include "record.h"

_Static_assert(SFRAME_BPF_TASKS == RECORD_SEARCHES, "each has its own");

char LICENSE[] SEC("license") = "GPL";

const volatile struct record_settings settings SEC(".rodata.settings");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 << 20);
} records SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, __u32);
} targets SEC(".maps");

/* Threads that are off a CPU, and whose RECORD_LEFT was written, or their RECORD_WAITED is about to be. */
enum { HAS_LEFT = 1, HAS_WAITED };
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 32768);
  __type(key, __u32);
  __type(value, __u32);
} blocked SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, RECORD_NUM_LOST);
  __type(key, __u32);
  __type(value, __u64);
} lost SEC(".maps");

struct signal_struct___record {
  struct {
    int counter;
  } live;
} SFRAME_BPF_KERNEL;
struct sched_entity___record {
  __u64 sum_exec_runtime;
} SFRAME_BPF_KERNEL;
struct thread_info___record {
  __u32 cpu;
} SFRAME_BPF_KERNEL;
struct task_struct___record {
  struct thread_info___record thread_info;
  unsigned __state;
  int on_cpu, exit_state;
  unsigned flags;
  struct sched_entity___record se;
  int pid, tgid;
  char comm[16];
  struct task_struct___record *group_leader, *real_parent;
  struct signal_struct___record* signal;
} SFRAME_BPF_KERNEL;
struct seq_file;
struct bpf_iter_meta___record {
  struct seq_file* seq;
} SFRAME_BPF_KERNEL;
struct bpf_iter__task___record {
  struct bpf_iter_meta___record* meta;
  struct task_struct___record* task;
} SFRAME_BPF_KERNEL;

static __attribute__((noinline)) void lose(__u32 cause) {
  __u64* const count = bpf_map_lookup_elem(&lost, &cause);
  if (count) ++*count;
}

static __u64 wake(void) {
  return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) >= settings.wake_bytes ? BPF_RB_FORCE_WAKEUP
                                                                               : BPF_RB_NO_WAKEUP;
}

/* The recorder, or what makes tables for it. */
static int is_own(struct task_struct___record* task, __u32 pid) {
  if (pid == settings.recorder) return 1;
  return pid != settings.program &&
         (__u32)BPF_CORE_READ(task, group_leader, real_parent, tgid) == settings.recorder;
}

static int is_wanted(struct task_struct___record* task, __u32 pid) {
  if (pid == 0) return 0;
  if (settings.all) return !is_own(task, pid);
  const __u32* const state = bpf_map_lookup_elem(&targets, &pid);
  return state && *state == RECORD_NOW;
}

/* Records that are being made: one program may interrupt another one. */
struct made_record {
  __u64 busy;
  struct record_sample sample;
};
enum { NUM_MADE = 4 };
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, NUM_MADE);
  __type(key, __u32);
  __type(value, struct made_record);
} made_records SEC(".maps");

static __attribute__((noinline)) struct made_record* find_unused(void) {
  SFRAME_BPF_TAKE_UNUSED(struct made_record, made_records, NUM_MADE);
}

enum { PF_KTHREAD = 0x200000 };

/* A record of the current thread, without its stack; 0 if it is not wanted, or there is no room. */
static __attribute__((noinline)) struct made_record* begin(__u32 kind) {
  const __u64 both = bpf_get_current_pid_tgid();
  struct task_struct___record* const task = (void*)bpf_get_current_task();
  if (!is_wanted(task, both >> 32)) return 0;
  struct made_record* made = 0;
  if (bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) + sizeof made->sample <
      bpf_ringbuf_query(&records, BPF_RB_RING_SIZE))
    made = find_unused();
  if (!made) {
    lose(RECORD_LOST_FULL);
    return 0;
  }
  struct record_sample* const to = &made->sample;
  to->kind = kind;
  to->tid = (__u32)both;
  to->pid = both >> 32;
  to->time = bpf_ktime_get_ns();
  to->cpu = bpf_get_smp_processor_id();
  to->used = BPF_CORE_READ(task, se.sum_exec_runtime);
  to->is_kernel_thread = (BPF_CORE_READ(task, flags) & PF_KTHREAD) != 0;
  bpf_get_current_comm(to->name, sizeof to->name);
  return made;
}

/* Takes the stacks, and writes the record. */
#define FINISH(context, made)                                                                                \
  do {                                                                                                       \
    struct record_sample* const to = &(made)->sample;                                                        \
    sframe_stack((context), &to->stack, SFRAME_BPF_DEFER | SFRAME_BPF_FRAME_POINTERS);                       \
    __u64* const kernel = to->stack.pcs + (to->stack.depth & SFRAME_BPF_MAX_FRAMES);                         \
    write_record(made, bpf_get_stack((context), kernel, sizeof to->kernel, 0));                              \
  } while (0)

/* As the helpers return their bytes. */
static __attribute__((always_inline)) __u32 to_frames(long bytes) {
  return bytes > 0 && bytes <= RECORD_KERNEL_FRAMES * 8 ? (__u32)bytes / 8 : 0;
}

static __attribute__((noinline)) int write_record(struct made_record* made, long kernel_bytes) {
  if (!made) return 0;
  struct record_sample* const to = &made->sample;
  __u32 kernel_frames = to_frames(kernel_bytes);
  to->kernel_frames = kernel_frames;
  SFRAME_BPF_KEEP(kernel_frames); /* the mask is for the verifier */
  const __u32 frames = (to->stack.depth & SFRAME_BPF_MAX_FRAMES) + (kernel_frames & RECORD_KERNEL_FRAMES);
  const __u32 size = __builtin_offsetof(struct record_sample, stack.pcs) + frames * 8;
  if (bpf_ringbuf_output(&records, to, size, wake()) != 0) lose(RECORD_LOST_FULL);
  made->busy = 0;
  return 0;
}

#define TAKE_SAMPLE(context)                                                                                 \
  do {                                                                                                       \
    struct made_record* const made = begin(RECORD_SAMPLE);                                                   \
    if (!made) return 0;                                                                                     \
    FINISH(context, made);                                                                                   \
  } while (0)

SEC("perf_event")
int on_clock(struct bpf_perf_event_data* context) {
  TAKE_SAMPLE(context);
  return 0;
}

SEC("kprobe")
int on_probe(struct pt_regs* context) {
  TAKE_SAMPLE(context);
  return 0;
}

SEC("raw_tracepoint")
int on_raw_tracepoint(struct bpf_raw_tracepoint_args* context) {
  TAKE_SAMPLE(context);
  return 0;
}

SEC("tracepoint")
int on_tracepoint(void* context) {
  TAKE_SAMPLE(context);
  return 0;
}

static __attribute__((noinline)) void end_wait(struct task_struct___record* next) {
  const __u32 tid = (__u32)BPF_CORE_READ(next, pid);
  if (bpf_map_delete_elem(&blocked, &tid) != 0) return;
  struct record_came* const to = bpf_ringbuf_reserve(&records, sizeof *to, 0);
  if (!to) return; /* the next RECORD_LEFT of the thread tells when it came */
  to->kind = RECORD_CAME;
  to->tid = tid;
  to->time = bpf_ktime_get_ns();
  bpf_ringbuf_submit(to, wake());
}

/* Bits of a thread's state. */
enum { TASK_DEAD = 0x80, TASK_WAKING = 0x200, TASK_NEW = 0x800 };

/* preempted, previous thread (which is still the current one), next one, state of the previous one */
SEC("tp_btf/sched_switch")
int on_switch(__u64* context) {
  const __u32 state = (__u32)context[3];
  end_wait((struct task_struct___record*)context[2]);
  if (state & TASK_DEAD) return 0;
  if (settings.blocked_only && ((context[0] & 1) || state == 0)) return 0;
  struct made_record* const made = begin(RECORD_LEFT);
  if (!made) return 0;
  const __u32 tid = made->sample.tid, left = HAS_LEFT;
  if (bpf_map_update_elem(&blocked, &tid, &left, BPF_ANY) != 0) {
    made->busy = 0;
    lose(RECORD_LOST_BLOCKED);
    return 0;
  }
  FINISH(context, made);
  return 0;
}

/* --- Threads that are off their CPUs when the recording begins --- */

/* Whether it is, as on_switch() would have recorded it. */
static int is_off(struct task_struct___record* task) {
  const __u32 state = BPF_CORE_READ(task, __state);
  if (BPF_CORE_READ(task, exit_state) != 0 || state & (TASK_DEAD | TASK_NEW)) return 0;
  if (bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ(task, on_cpu) != 0) return 0;
  return !settings.blocked_only || (state != 0 && !(state & TASK_WAKING));
}

/* The records that are being made, not for each CPU, since the program may have to wait: then another search
   goes on. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, RECORD_SEARCHES);
  __type(key, __u32);
  __type(value, struct made_record);
} waited SEC(".maps");

static __attribute__((noinline)) struct made_record* find_unused_waited(void) {
  SFRAME_BPF_TAKE_UNUSED(struct made_record, waited, RECORD_SEARCHES);
}

/* Processes whose memory a search still waits for. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, RECORD_SEARCHES);
  __type(key, __u32);
  __type(value, __u32);
} unread SEC(".maps");

/* Writes the record, unless the thread has come meanwhile: end_wait() then has found its element of
   `blocked`, and nothing would end this wait. If it comes from now on, its RECORD_CAME follows in the ring
   buffer. */
static __attribute__((noinline)) int write_waited(struct record_sample* from) {
  if (!from) return 0;
  struct record_sample* const to = bpf_ringbuf_reserve(&records, sizeof *to, 0);
  if (!to) {
    lose(RECORD_LOST_FULL);
    return 0;
  }
  const __u32 tid = from->tid;
  const __u32* const known = bpf_map_lookup_elem(&blocked, &tid);
  if (!known || *known != HAS_WAITED || bpf_probe_read_kernel(to, sizeof *to, from) != 0)
    bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
  else
    bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP); /* the reader looks after each read() of the iterator */
  return 0;
}

/* The record of a thread that is off its CPU, unless it has come. */
static __attribute__((noinline)) int record_waiting(struct task_struct___record* task,
                                                    struct made_record* made) {
  if (!task || !made) return 0;
  struct record_sample* const to = &made->sample;
  to->kind = RECORD_WAITED;
  to->tid = (__u32)BPF_CORE_READ(task, pid);
  to->pid = (__u32)BPF_CORE_READ(task, tgid);
  to->time = bpf_ktime_get_ns();
  to->cpu = bpf_core_field_exists(task->thread_info.cpu) ? BPF_CORE_READ(task, thread_info.cpu) : 0;
  to->used = BPF_CORE_READ(task, se.sum_exec_runtime);
  to->is_kernel_thread = (BPF_CORE_READ(task, flags) & PF_KTHREAD) != 0;
  bpf_probe_read_kernel(to->name, sizeof to->name, task->comm);
  if (!is_off(task) || sframe_stack_of_task(task, &to->stack, SFRAME_BPF_FRAME_POINTERS) < 0) return 0;
  __u64* const kernel = to->stack.pcs + (to->stack.depth & SFRAME_BPF_MAX_FRAMES);
  to->kernel_frames = to_frames(bpf_get_task_stack((void*)task, kernel, sizeof to->kernel, 0));
  return write_waited(to);
}

/*
 * For each thread. Before anything is known of it, it is in `blocked`, so that on_switch() tells if it comes.
 * An element that is left there, of a thread that ran already, does nothing: a RECORD_CAME of a thread that
 * is not known to be off.
 */
SEC("iter.s/task")
int on_waiting(struct bpf_iter__task___record* context) {
  struct task_struct___record* const task = context->task;
  if (!task) return 0;
  const __u32 mark = HAS_WAITED, tid = (__u32)BPF_CORE_READ(task, pid);
  const __u32 pid = (__u32)BPF_CORE_READ(task, tgid);
  if (!is_wanted(task, pid) || pid == settings.program || !is_off(task)) return 0;
  /* Before Linux 6.4 its upper half is not that of the sign. */
  const int error = (int)bpf_map_update_elem(&blocked, &tid, &mark, BPF_NOEXIST);
  if (error) {
    if (error != -17 /* EEXIST */) lose(RECORD_LOST_BLOCKED);
    return 0;
  }
  struct made_record* const made = bpf_map_lookup_elem(&unread, &pid) ? 0 : find_unused_waited();
  if (!made) {
    lose(RECORD_LOST_UNREAD);
    return 0;
  }
  record_waiting(task, made);
  made->busy = 0;
  bpf_seq_write(context->meta->seq, &tid, sizeof tid); /* a read() ends after some */
  return 0;
}

/* --- Which processes are wanted --- */

SEC("tp_btf/sched_process_fork")
int on_fork(__u64* context) {
  const __u32 parent = (__u32)BPF_CORE_READ((struct task_struct___record*)context[0], tgid);
  const __u32 child = (__u32)BPF_CORE_READ((struct task_struct___record*)context[1], tgid);
  const __u32* const state = bpf_map_lookup_elem(&targets, &parent);
  if (!state || parent == child) return 0;
  const __u32 copy = *state;
  bpf_map_update_elem(&targets, &child, &copy, BPF_ANY);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64* context) {
  const __u32 pid = (__u32)BPF_CORE_READ((struct task_struct___record*)context[0], tgid);
  const __u32 now = RECORD_NOW;
  bpf_map_update_elem(&targets, &pid, &now, BPF_EXIST);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64* context) {
  struct task_struct___record* const task = (void*)context[0];
  const __u32 pid = (__u32)BPF_CORE_READ(task, tgid);
  if (BPF_CORE_READ(task, signal, live.counter) == 0) bpf_map_delete_elem(&targets, &pid);
  return 0;
}
