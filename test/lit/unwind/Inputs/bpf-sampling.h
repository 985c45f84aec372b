// What programs have in common that sample processes by the BPF programs of these tests.
#ifndef BPF_SAMPLING_H
#define BPF_SAMPLING_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The object's programs, loaded, which look at the process only. NULL with errno. */
static inline struct bpf_object* load_for_process(const char* path, __u32 pid) {
  struct bpf_object* const object = bpf_object__open_file(path, NULL);
  if (!object ||
      bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.process"), &pid, sizeof pid) ||
      bpf_object__load(object) != 0)
    return NULL;
  return object;
}

enum { NO_EVENT = -1, NO_PROGRAM = -2 };

/* Runs the program `sample` 999 times a second of the process (-1: all) and the CPU (-1: all). Returns the
   event, NO_EVENT, or NO_PROGRAM if the event does not take it. */
static inline int sample(struct bpf_object* object, pid_t pid, int cpu) {
  struct perf_event_attr attribute = {.type = PERF_TYPE_SOFTWARE,
                                      .size = sizeof attribute,
                                      .config = PERF_COUNT_SW_CPU_CLOCK,
                                      .freq = 1,
                                      .sample_freq = 999};
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "sample"));
  const int event = (int)syscall(SYS_perf_event_open, &attribute, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  if (event < 0) return NO_EVENT;
  return ioctl(event, PERF_EVENT_IOC_SET_BPF, program) == 0 ? event : NO_PROGRAM;
}

#endif
