// bpf-truth OBJECT SFRAME_GEN SAMPLES PID [cold]: walks samples of a process by libdw, from the same
// registers and the copy of the stack, and compares with the stacks of the BPF program. "cold": no table is
// loaded before; what the BPF program leaves to user space is finished there.
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <sframe/bpf/tables.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf-sampling.h"
#include "bpf-truth.h"

static Dwfl* dwfl;
static const struct sample* current;
static __u64 pcs[1024];
static unsigned depth;
static int copy_ended;
static struct sample* waiting[4096]; /* whose stacks are not finished */
static unsigned num_waiting;
static unsigned long excluded, guesses, deferred, total, equal, copy_short, incomplete, different, shorter,
    longer;

static pid_t next_thread(Dwfl* of, void* data, void** thread) {
  (void)of;
  if (*thread) return 0;
  *thread = data;
  return (pid_t)current->tid;
}

static bool get_thread(Dwfl* of, pid_t tid, void* data, void** thread) {
  (void)of, (void)tid;
  *thread = data;
  return true;
}

static bool read_memory(Dwfl* of, Dwarf_Addr address, Dwarf_Word* result, void* data) {
  (void)of, (void)data;
  const __u64 size = (__u64)current->pages * PAGE;
  if (size != 0 && address - current->first <= size - 8) {
    memcpy(result, current->copy + (address - current->first), 8);
    return true;
  }
  copy_ended = 1;
  return false;
}

static bool set_registers(Dwfl_Thread* thread, void* data) {
  (void)data;
  return dwfl_thread_state_registers(thread, 0, 17, (const Dwarf_Word*)current->registers);
}

static int take_frame(Dwfl_Frame* frame, void* data) {
  Dwarf_Addr pc = 0;
  bool exact = false;
  (void)data;
  if (!dwfl_frame_pc(frame, &pc, &exact) || pc == 0 || depth == 1024) return DWARF_CB_ABORT;
  pcs[depth++] = pc - !exact;
  return DWARF_CB_OK;
}

// Where there is no CFI, as in the PLT of lld's files, libdw follows the frame pointer, wherever that leads.
static int has_cfi(__u64 pc) {
  Dwfl_Module* const module = dwfl_addrmodule(dwfl, pc);
  Dwarf_Addr bias = 0;
  Dwarf_CFI* const cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
  Dwarf_Frame* frame = NULL;
  const int found = cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0;
  free(frame);
  return found;
}

static void compare(const struct sample* sample) {
  current = sample;
  const struct sframe_bpf_stack* stack = &current->stack;
  if (stack->end == SFRAME_BPF_END_PENDING || stack->end == SFRAME_BPF_END_NO_TABLE) {
    ++excluded;
    return;
  }
  depth = 0;
  copy_ended = 0;
  dwfl_getthread_frames(dwfl, (pid_t)current->tid, take_frame, NULL);
  ++total;
  unsigned same = 0; // signal trampolines have the return address or the one before
  while (same < depth && same < stack->depth && pcs[same] - stack->pcs[same] + 1 <= 2) ++same;
  if (same == stack->depth && same == depth && stack->end == SFRAME_BPF_END_OUTERMOST)
    ++equal;
  else if (same > 0 && same < stack->depth && !has_cfi(pcs[same - 1]))
    ++guesses;
  else if (same == depth && same < stack->depth && copy_ended)
    ++copy_short;
  else if (same == stack->depth && stack->end != SFRAME_BPF_END_OUTERMOST)
    ++incomplete;
  else if (same == depth)
    ++shorter;
  else if (same == stack->depth)
    ++longer;
  else
    ++different;
  if (same != stack->depth || same != depth) {
    printf("%s; equal %u of %u, libdw %u:", sframe_bpf_end_text(stack->end), same, stack->depth, depth);
    for (unsigned i = same ? same - 1 : 0; i < stack->depth && i < same + 2; ++i)
      printf(" %llx", stack->pcs[i]);
    printf(" libdw");
    for (unsigned i = same ? same - 1 : 0; i < depth && i < same + 2; ++i) printf(" %llx", pcs[i]);
    puts("");
  }
}

static int take_sample(void* context, void* data, size_t size) {
  const struct sample* const sample = data;
  (void)context, (void)size;
  if (sample->stack.ticket == 0) {
    compare(sample);
  } else if (num_waiting < 4096 && (waiting[num_waiting] = malloc(sizeof *sample))) {
    memcpy(waiting[num_waiting++], sample, sizeof *sample);
  }
  return 0;
}

static void finish(sframe_bpf_tables* tables) {
  unsigned kept = 0;
  for (unsigned i = 0; i < num_waiting; ++i) {
    if (sframe_bpf_tables_finish(tables, &waiting[i]->stack) == 1) {
      waiting[kept++] = waiting[i];
      continue;
    }
    deferred += waiting[i]->stack.end == SFRAME_BPF_END_OUTERMOST;
    compare(waiting[i]);
    free(waiting[i]);
  }
  num_waiting = kept;
}

static int fail(const char* what) {
  perror(what);
  return 2;
}

int main(int argc, char** argv) {
  const int cold = argc == 6 && strcmp(argv[5], "cold") == 0;
  if (argc != 5 + cold) return 2;
  const unsigned long wanted = strtoul(argv[3], NULL, 0);
  const __u32 pid = (__u32)atoi(argv[4]);
  static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
  static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                .get_thread = get_thread,
                                                .memory_read = read_memory,
                                                .set_initial_registers = set_registers};
  dwfl = dwfl_begin(&callbacks);
  if (!dwfl || dwfl_linux_proc_report(dwfl, (pid_t)pid) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
      !dwfl_attach_state(dwfl, NULL, (pid_t)pid, &threads, &dwfl))
    return fail("libdw");
  struct bpf_object* object = load_for_process(argv[1], pid);
  if (!object) return fail("BPF program");
  const sframe_bpf_options options = {.size = sizeof options, .generator = argv[2]};
  sframe_bpf_tables* tables = sframe_bpf_tables_new(object, &options);
  if (!tables || (!cold && sframe_bpf_tables_add(tables, (int)pid) < 0)) return fail("tables");
  for (int cpu = 0; cpu < libbpf_num_possible_cpus(); ++cpu)
    if (sample(object, -1, cpu) == NO_PROGRAM) return fail("perf event");
  struct ring_buffer* ring =
      ring_buffer__new(bpf_object__find_map_fd_by_name(object, "samples"), take_sample, NULL, NULL);
  if (!ring) return fail("ring buffer");
  while ((total < wanted || num_waiting) && kill((pid_t)pid, 0) == 0) {
    sframe_bpf_tables_serve(tables, 10);
    if (total < wanted) ring_buffer__consume(ring);
    finish(tables);
  }
  if (cold) printf("%s\n", deferred ? "some were finished" : "none was finished");
  printf("%lu samples: %lu equal, %lu equal as far as the copy reaches, %lu equal but not complete, "
         "%lu where libdw ends earlier, %lu later, %lu different; %lu without CFI, where libdw guesses; "
         "%lu without table are not compared\n",
         total, equal, copy_short, incomplete, shorter, longer, different, guesses, excluded);
  return different != 0 || longer != 0;
}
