/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A sampling profiler: perf events start a BPF program (sframe_stacks.bpf.c), which walks the user stack in
 * the kernel. This program makes the tables that it needs from .sframe sections, and prints folded stacks,
 * the input of flame graphs. docs/bpf.md has how to build and use it.
 *
 *   sframe_stacks [OPTIONS] PID
 *   sframe_stacks [OPTIONS] -- COMMAND [ARGUMENT...]     ended by SIGTERM, if it still runs at the end
 *
 *   -F HERTZ     samples a second of CPU time, for each thread (99)
 *   -t SECONDS   end after this time, or
 *   -n STACKS    after that many stacks; else with the process
 *   -d DIR       sections for files that have none: DIR/.build-id/xx/yyyy.sframe, made by
 *                sframe-gen --emit=sidecar
 *   -r ROWS      room in the tables (4194304)
 *   -o FILE      for the stacks (standard output)
 */
#define _GNU_SOURCE

#include <sframe/c/section.h>
#include <sframe/c/walk.h>

#include "layout.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("sframe_stacks: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(2);
}

static void* checked(void* memory) {
  if (!memory) fail("out of memory");
  return memory;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static sframe_process* process;

/* --- The maps --- */

static struct bpf_object* object;
static struct row* rows;
static struct bucket* buckets;
static struct rule* rules;
static struct mapping* mappings;
static struct control* control;
static uint32_t num_rows, max_rows = 4 << 20, num_buckets, num_rules = 1;
static uint32_t mappings_half; /* of the two lists, the one not in use */

static int map_fd(const char* name) {
  const int fd = bpf_object__find_map_fd_by_name(object, name);
  if (fd < 0) fail("no map %s in the BPF program", name);
  return fd;
}

/* The entries of a map, in memory that this program shares with the kernel. */
static void* map_memory(const char* name, size_t size) {
  void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd(name), 0);
  if (memory == MAP_FAILED) fail("map %s: %s", name, strerror(errno));
  return memory;
}

static void load_program(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 8);
  if (length < 0) fail("/proc/self/exe: %s", strerror(errno));
  memcpy(path + length, ".bpf.o", sizeof ".bpf.o");
  object = bpf_object__open_file(path, NULL);
  if (!object) fail("%s: %s", path, strerror(errno));
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "rows"), max_rows);
  bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "buckets"), max_rows);
  if (bpf_object__load(object) != 0) fail("cannot load %s: %s", path, strerror(errno));
  rows = map_memory("rows", max_rows * sizeof *rows);
  buckets = map_memory("buckets", max_rows * sizeof *buckets);
  rules = map_memory("rules", MAX_RULES * sizeof *rules);
  mappings = map_memory("mappings", 2 * MAX_MAPPINGS * sizeof *mappings);
  control = map_memory("control", sizeof *control);
}

/* --- From sections to rows --- */

/* What could not be put into the tables. */
static struct {
  unsigned tables, without, rows_full, rules_full, unusable;
  double seconds; /* that it took */
} made;

/* Number of an equal rule, which is added if there is none. */
static uint32_t number_of_rule(const struct rule* rule) {
  static uint32_t numbers[2 * MAX_RULES]; /* an open hash table */
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < sizeof *rule; ++i) hash = (hash ^ ((const uint8_t*)rule)[i]) * 0x100000001b3;
  if (rule->kind == RULE_NONE) return 0;
  for (uint32_t slot = (uint32_t)(hash >> 20);; ++slot) {
    uint32_t* number = &numbers[slot % (2 * MAX_RULES)];
    if (*number && memcmp(&rules[*number], rule, sizeof *rule) == 0) return *number;
    if (*number) continue;
    if (num_rules == MAX_RULES) {
      ++made.rules_full;
      return 0;
    }
    rules[num_rules] = *rule;
    return *number = num_rules++;
  }
}

struct function {
  const sframe_section* section;
  const sframe_section_info* info;
  uint64_t start, end;
  uint32_t number, num_rows, block_size;
  int signal_frame, outermost;
};

static int by_start(const void* left, const void* right) {
  const struct function *a = left, *b = right;
  return (a->start > b->start) - (a->start < b->start);
}

static struct value to_value(const sframe_rule* rule, int fixed_offset) {
  struct value value = {.kind = VALUE_UNKNOWN};
  switch (rule->kind) {
  case SFRAME_RULE_SAME: value.kind = VALUE_SAME; break;
  case SFRAME_RULE_FIXED:
    value = (struct value){.kind = VALUE_STORED, .base = BASE_CFA, .offset = fixed_offset};
    break;
  case SFRAME_RULE_VALUE:
  case SFRAME_RULE_STORED:
    if (rule->base != SFRAME_BASE_CFA && rule->base >= NUM_REGISTERS) break;
    value.kind = rule->kind == SFRAME_RULE_VALUE ? VALUE_SUM : VALUE_STORED;
    value.base = rule->base == SFRAME_BASE_CFA ? BASE_CFA : (uint8_t)rule->base;
    value.offset = rule->offset;
    break;
  default: break;
  }
  return value;
}

static struct rule to_rule(const struct function* function, const sframe_row* row) {
  if (row->ra.kind == SFRAME_RULE_UNDEFINED) return (struct rule){.kind = RULE_OUTERMOST};
  return (struct rule){.kind = RULE_ROW,
                       .signal_frame = function->signal_frame != 0,
                       .ra_signed = row->ra_signed != 0,
                       .cfa = to_value(&row->cfa, 0),
                       .ra = to_value(&row->ra, function->info->fixed_ra_offset),
                       .fp = to_value(&row->fp, function->info->fixed_fp_offset)};
}

/* The rows of the file that is being read: from `first` to the last one. */
struct table {
  uint64_t base;
  uint32_t first;
};

/* Appends a row. An equal rule needs no row of its own. */
static void add_row(const struct table* table, uint64_t address, const struct rule* rule) {
  const uint32_t number = number_of_rule(rule);
  struct row* last = num_rows > table->first ? &rows[num_rows - 1] : NULL;
  if (last && last->rule == number) return;
  if (last && last->start == address - table->base) { /* the last one applies to no address */
    last->rule = number;
    return;
  }
  if (num_rows == max_rows) {
    ++made.rows_full;
    return;
  }
  rows[num_rows++] = (struct row){.start = (uint32_t)(address - table->base), .rule = number};
}

static const struct rule no_rule = {.kind = RULE_NONE}, outermost = {.kind = RULE_OUTERMOST};

static void add_function(const struct table* table, const struct function* function) {
  if (function->outermost) {
    add_row(table, function->start, &outermost);
    return;
  }
  const uint64_t length = function->end - function->start;
  const uint64_t block = function->block_size ? function->block_size : length;
  if ((length / block + 1) * (function->num_rows + 1ull) > max_rows - num_rows) {
    ++made.rows_full;
    return;
  }
  sframe_row* all = checked(calloc(function->num_rows + 1, sizeof *all));
  all->size = sizeof *all;
  size_t count = 0;
  if (sframe_section_rows_into(function->section, function->number, all, function->num_rows, &count, NULL) !=
      SFRAME_OK)
    ++made.unusable; /* the rows before the damage can be used */
  for (uint64_t start = function->start; start < function->end; start += block) {
    if (count == 0 || all[0].offset > 0) add_row(table, start, &no_rule);
    for (size_t i = 0; i < count && start + all[i].offset < function->end; ++i) {
      const struct rule rule = to_rule(function, &all[i]);
      if (all[i].offset < block) add_row(table, start + all[i].offset, &rule);
    }
    if (count == 0) break;
  }
  free(all);
}

/* There are about four rows for each. */
static void add_buckets(struct mapping* mapping, const struct table* table) {
  const uint32_t count = num_rows - table->first, span = rows[num_rows - 1].start;
  while (mapping->shift < 31 && (span >> mapping->shift) > count / 4) ++mapping->shift;
  if ((span >> mapping->shift) >= max_rows - num_buckets) {
    ++made.rows_full;
    return;
  }
  mapping->first = num_buckets;
  mapping->num_buckets = (span >> mapping->shift) + 1;
  uint32_t row = table->first;
  for (uint64_t i = 0; i < mapping->num_buckets; ++i) {
    struct bucket* bucket = &buckets[num_buckets++];
    while (row + 1 < num_rows && rows[row + 1].start <= i << mapping->shift) ++row;
    bucket->first = row;
    while (row + 1 < num_rows && rows[row + 1].start < (i + 1) << mapping->shift) ++row;
    bucket->count = row - bucket->first + 1;
  }
}

/* The rows of all functions of a file, sorted; where functions overlap, the one that starts later counts. */
static void add_file(struct mapping* mapping, sframe_file* file, uint64_t bias) {
  const size_t num_sections = sframe_file_num_sections(file);
  size_t count = 0, room = 0;
  struct function* functions = NULL;
  sframe_section_info* infos = checked(calloc(num_sections + 1, sizeof *infos));
  for (size_t s = 0; s < num_sections; ++s) {
    const sframe_section* section = sframe_file_section(file, s);
    infos[s].size = sizeof infos[s];
    if (sframe_section_get_info(section, &infos[s]) != SFRAME_OK ||
        strcmp(infos[s].abi, sframe_abi(process)) != 0)
      continue;
    room += infos[s].num_functions;
    functions = checked(realloc(functions, (room + 1) * sizeof *functions));
    for (uint32_t i = 0; i < infos[s].num_functions; ++i) {
      sframe_function function = {.size = sizeof function};
      if (sframe_section_function(section, i, &function, NULL) != SFRAME_OK) {
        ++made.unusable;
        continue;
      }
      functions[count++] = (struct function){.section = section,
                                             .info = &infos[s],
                                             .start = function.start,
                                             .end = function.start + function.length,
                                             .number = i,
                                             .num_rows = function.num_rows,
                                             .block_size = function.block_size,
                                             .signal_frame = function.signal_frame,
                                             .outermost = function.outermost};
    }
  }
  if (count != 0) {
    qsort(functions, count, sizeof *functions, by_start);
    const struct table own = {.base = functions[0].start, .first = num_rows}, *table = &own;
    uint64_t end = functions[0].start;
    for (size_t i = 0; i < count; ++i) {
      struct function* function = &functions[i];
      if (function->end < function->start || function->end - table->base > UINT32_MAX) {
        ++made.unusable;
        continue;
      }
      if (i + 1 < count && function->end > functions[i + 1].start) function->end = functions[i + 1].start;
      if (function->start > end) add_row(table, end, &no_rule);
      if (function->end > function->start) add_function(table, function);
      if (function->end > end) end = function->end;
    }
    add_row(table, end, &no_rule);
    if (num_rows > table->first) add_buckets(mapping, table);
    mapping->base = table->base + bias;
  }
  free(functions);
  free(infos);
}

/* --- The process's mappings --- */

static const char* sidecars;

/* The images seen so far, also those that are no longer mapped. */
static struct image {
  char* path;
  uint64_t bias;
  struct mapping mapping; /* without start and end */
} * images;
static size_t num_images;

static sframe_file* open_tables(const sframe_module* module) {
  char path[4096];
  sframe_file* file = NULL;
  if (sidecars && module->build_id_size > 1) {
    size_t used = (size_t)snprintf(path, sizeof path, "%s/.build-id/%02x/", sidecars, module->build_id[0]);
    for (size_t i = 1; i < module->build_id_size && used < sizeof path - 16; ++i)
      used += (size_t)snprintf(path + used, sizeof path - used, "%02x", module->build_id[i]);
    if (used < sizeof path - 16) {
      memcpy(path + used, ".sframe", sizeof ".sframe");
      file = sframe_file_open(path, NULL);
    }
  }
  if (!file && module->path[0] == '/' && !module->is_generated) file = sframe_file_open(module->path, NULL);
  if (file && sframe_file_num_sections(file) == 0) {
    sframe_file_close(file);
    file = NULL;
  }
  return file;
}

static const struct mapping* table_of(const sframe_module* module) {
  for (size_t i = 0; i < num_images; ++i)
    if (images[i].bias == module->bias && strcmp(images[i].path, module->path) == 0)
      return &images[i].mapping;
  images = checked(realloc(images, (num_images + 1) * sizeof *images));
  struct image* image = &images[num_images++];
  *image = (struct image){.path = checked(strdup(module->path)), .bias = module->bias};
  const double start = seconds();
  sframe_file* file = open_tables(module);
  if (file) {
    add_file(&image->mapping, file, module->bias);
    sframe_file_close(file);
  }
  made.seconds += seconds() - start;
  ++*(image->mapping.num_buckets ? &made.tables : &made.without);
  return &image->mapping;
}

/* What /proc/PID/maps has; to see whether it has changed. Freed by the caller. */
static char* read_maps(int pid) {
  char path[64], *text = NULL;
  size_t used = 0, room = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  for (ssize_t got = 1; fd >= 0 && got > 0; used += got > 0 ? (size_t)got : 0) {
    if (room - used < 4096) text = checked(realloc(text, (room += 1 << 16) + 1));
    got = read(fd, text + used, room - used);
  }
  if (fd >= 0) close(fd);
  if (text) text[used] = 0;
  return text;
}

static int by_address(const void* left, const void* right) {
  const struct mapping *a = left, *b = right;
  return (a->start > b->start) - (a->start < b->start);
}

/* Makes the list of mappings current. Reading them stops the process. If tables have to be made, which may
   take a second, a command waits, so that all its samples have them; another process goes on. */
static void refresh_mappings(int pid, int is_command) {
  static char* last;
  sframe_error error = {.size = sizeof error};
  char* now = read_maps(pid);
  if (!now || (last && strcmp(now, last) == 0)) {
    free(now);
    return;
  }
  free(last);
  last = now;
  if (sframe_stop(process, &error) != SFRAME_OK) return; /* it has ended */
  const size_t count = sframe_num_modules(process);
  sframe_module* modules = checked(calloc(count + 1, sizeof *modules));
  for (size_t i = 0; i < count; ++i) {
    modules[i].size = sizeof modules[i];
    if (sframe_get_module(process, i, &modules[i]) != SFRAME_OK) modules[i].end = 0;
  }
  if (!is_command) sframe_resume(process);
  const uint32_t first = mappings_half * MAX_MAPPINGS;
  uint32_t used = 0;
  for (size_t i = 0; i < count && used < MAX_MAPPINGS; ++i) {
    if (modules[i].end == 0) continue;
    struct mapping mapping = *table_of(&modules[i]);
    mapping.start = modules[i].start;
    mapping.end = modules[i].end;
    mappings[first + used++] = mapping;
  }
  free(modules);
  qsort(&mappings[first], used, sizeof *mappings, by_address);
  __atomic_store_n(&control->list, (uint64_t)first << 32 | used, __ATOMIC_RELEASE);
  mappings_half ^= 1;
  if (is_command) sframe_resume(process);
}

/* --- The stacks --- */

#define AS_TEXT(name, text) text,
static const char* const end_texts[] = {FOR_EACH_END(AS_TEXT)};
#undef AS_TEXT
static uint64_t ends[NUM_ENDS], num_stacks, num_frames;
static int misses; /* a stack had a pc in no known mapping */

struct name {
  uint64_t pc;
  char* text;
};
struct folded {
  char* text;
  uint64_t count;
};
static void *names, *folded;
static FILE* output;

static int compare_names(const void* left, const void* right) {
  const struct name *a = left, *b = right;
  return (a->pc > b->pc) - (a->pc < b->pc);
}

static int compare_folded(const void* left, const void* right) {
  return strcmp(((const struct folded*)left)->text, ((const struct folded*)right)->text);
}

/* The function's name, else file and offset. */
static const char* name_at(uint64_t pc) {
  const struct name key = {.pc = pc};
  struct name** found = tfind(&key, &names, compare_names);
  if (found) return (*found)->text;
  const sframe_frame frame = {.size = sizeof frame, .pc = pc, .lookup_pc = pc};
  sframe_module module = {.size = sizeof module};
  char text[512];
  const sframe_status status = sframe_function_name(process, &frame, text, sizeof text, NULL);
  if (status != SFRAME_OK && status != SFRAME_NO_MEMORY) {
    if (sframe_find_module(process, pc, &module) == SFRAME_OK) {
      const char* slash = strrchr(module.path, '/');
      snprintf(text, sizeof text, "%s+0x%llx", slash ? slash + 1 : module.path,
               (unsigned long long)(pc - module.bias));
    } else {
      snprintf(text, sizeof text, "0x%llx", (unsigned long long)pc);
    }
  }
  for (char* c = text; *c; ++c)
    if (*c == ';' || *c == '\n') *c = ':';
  struct name* name = checked(malloc(sizeof *name));
  *name = (struct name){.pc = pc, .text = checked(strdup(text))};
  checked(tsearch(name, &names, compare_names));
  return name->text;
}

static int take_stack(void* context, void* data, size_t size) {
  const struct stack* stack = data;
  (void)context, (void)size;
  ++ends[stack->end < NUM_ENDS ? stack->end : END_LIMIT];
  ++num_stacks;
  num_frames += stack->depth;
  misses |= stack->end == END_NO_MAPPING;
  char* text;
  size_t length;
  FILE* line = checked(open_memstream(&text, &length));
  if (stack->end != END_OUTERMOST)
    fprintf(line, "[%s]", end_texts[stack->end < NUM_ENDS ? stack->end : END_LIMIT]);
  for (uint32_t i = stack->depth; i-- > 0;)
    fprintf(line, "%s%s", ftell(line) ? ";" : "", name_at(stack->pcs[i]));
  if (fclose(line) != 0) fail("out of memory");
  struct folded key = {.text = text}, **found = tfind(&key, &folded, compare_folded);
  if (found) {
    ++(*found)->count;
    free(text);
  } else {
    struct folded* added = checked(malloc(sizeof *added));
    *added = (struct folded){.text = text, .count = 1};
    checked(tsearch(added, &folded, compare_folded));
  }
  return 0;
}

static void print_folded(const void* node, VISIT visit, int depth) {
  const struct folded* line = *(const struct folded* const*)node;
  (void)depth;
  if (visit == postorder || visit == leaf)
    fprintf(output, "%s %llu\n", line->text, (unsigned long long)line->count);
}

/* --- Events --- */

/* Samples a thread, and the threads that it starts later. */
static void sample_thread(uint32_t tid, unsigned hertz, int on_exec) {
  struct perf_event_attr attribute = {.type = PERF_TYPE_SOFTWARE,
                                      .size = sizeof attribute,
                                      .config = PERF_COUNT_SW_CPU_CLOCK,
                                      .freq = 1,
                                      .sample_freq = hertz,
                                      .inherit = 1,
                                      .inherit_thread = 1,
                                      .disabled = 1,
                                      .enable_on_exec = on_exec != 0};
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "sample"));
  const int fd = (int)syscall(SYS_perf_event_open, &attribute, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) fail("perf_event_open: %s", strerror(errno));
  if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) != 0 ||
      (!on_exec && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0))
    fail("cannot attach the BPF program: %s", strerror(errno));
}

/* No thread starts another while the process is stopped. */
static void sample_process(unsigned hertz) {
  sframe_error error = {.size = sizeof error};
  if (sframe_stop(process, &error) != SFRAME_OK) fail("%s", error.message);
  for (size_t i = 0; i < sframe_num_threads(process); ++i) {
    sframe_thread thread = {.size = sizeof thread};
    if (sframe_get_thread(process, i, &thread) == SFRAME_OK) sample_thread(thread.tid, hertz, 0);
  }
  sframe_resume(process);
}

static int start_command(char** command, unsigned hertz) {
  int go[2], failure[2], number;
  char byte = 0;
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
  const int pid = fork();
  if (pid < 0) fail("fork: %s", strerror(errno));
  if (pid == 0) {
    close(go[1]);
    if (read(go[0], &byte, 1) == 1) execvp(command[0], command);
    number = errno;
    _exit(write(failure[1], &number, sizeof number) == sizeof number ? 127 : 126);
  }
  sample_thread((uint32_t)pid, hertz, 1);
  close(failure[1]);
  if (write(go[1], &byte, 1) != 1) fail("pipe: %s", strerror(errno));
  if (read(failure[0], &number, sizeof number) == sizeof number) fail("%s: %s", command[0], strerror(number));
  return pid;
}

static volatile sig_atomic_t interrupted;
static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
}

/* Until the process ends, the time is over or there are enough stacks. Looks for stacks in intervals: if the
   BPF program woke this one for each sample, that would cost more than the walk. */
static void collect(int pid, int is_command, double duration, uint64_t limit) {
  struct ring_buffer* stacks = ring_buffer__new(map_fd("stacks"), take_stack, NULL, NULL);
  struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
  if (!stacks) fail("ring buffer: %s", strerror(errno));
  const double until = seconds() + duration;
  double looked = 0;
  while (!interrupted && num_stacks < limit && seconds() < until && end.fd >= 0 &&
         poll(&end, 1, ends[END_OUTERMOST] ? 20 : 1) == 0) {
    ring_buffer__consume(stacks);
    /* At once for a library that was just loaded; else to notice that one was replaced. */
    if (misses || seconds() - looked > 1) {
      misses = 0;
      refresh_mappings(pid, is_command);
      looked = seconds();
    }
  }
  ring_buffer__consume(stacks);
  ring_buffer__free(stacks);
  if (end.fd >= 0) close(end.fd);
}

static uint64_t counter(uint32_t number) {
  uint64_t value = 0;
  bpf_map_lookup_elem(map_fd("counters"), &number, &value);
  return value;
}

static void print_summary(void) {
  struct bpf_prog_info info = {0};
  uint32_t size = sizeof info;
  const double percent = num_stacks ? 100.0 / (double)num_stacks : 0;
  fprintf(stderr, "samples:   %llu, of these %llu without user registers, %llu lost\n",
          (unsigned long long)counter(COUNT_SAMPLES), (unsigned long long)counter(COUNT_NO_REGISTERS),
          (unsigned long long)counter(COUNT_DROPPED));
  fprintf(stderr, "complete:  %llu of %llu stacks (%.2f %%), %llu frames\n",
          (unsigned long long)ends[END_OUTERMOST], (unsigned long long)num_stacks,
          (double)ends[END_OUTERMOST] * percent, (unsigned long long)num_frames);
  for (int i = END_OUTERMOST + 1; i < NUM_ENDS; ++i)
    if (ends[i])
      fprintf(stderr, "  %llu (%.2f %%): %s\n", (unsigned long long)ends[i], (double)ends[i] * percent,
              end_texts[i]);
  fprintf(stderr,
          "tables:    %u files with a section, %u without; %u rows, %u buckets, %u rules: %zu bytes, made in "
          "%.0f ms\n",
          made.tables, made.without, num_rows, num_buckets, num_rules,
          num_rows * sizeof *rows + num_buckets * sizeof *buckets + num_rules * sizeof *rules,
          made.seconds * 1e3);
  for (size_t i = 0; i < num_images; ++i)
    if (images[i].mapping.num_buckets == 0) fprintf(stderr, "  no section: %s\n", images[i].path);
  if (made.unusable) fprintf(stderr, "  %u functions malformed\n", made.unusable);
  if (made.rows_full) fprintf(stderr, "  %u functions without room for their rows: use -r\n", made.rows_full);
  if (made.rules_full) fprintf(stderr, "  %u rows without room for their rules\n", made.rules_full);
  const int program = bpf_program__fd(bpf_object__find_program_by_name(object, "sample"));
  if (bpf_obj_get_info_by_fd(program, &info, &size) == 0 && info.run_cnt)
    fprintf(stderr, "cost:      %.0f ns a sample, %.0f ns a frame\n",
            (double)info.run_time_ns / (double)info.run_cnt,
            (double)info.run_time_ns / (double)(num_frames ? num_frames : 1));
}

int main(int argc, char** argv) {
  sframe_error error = {.size = sizeof error};
  unsigned hertz = 99;
  double duration = 1e9;
  uint64_t limit = UINT64_MAX;
  int option;
  output = stdout;
  while ((option = getopt(argc, argv, "+F:t:n:d:r:o:")) != -1) {
    switch (option) {
    case 'F': hertz = (unsigned)strtoul(optarg, NULL, 0); break;
    case 't': duration = strtod(optarg, NULL); break;
    case 'n': limit = strtoull(optarg, NULL, 0); break;
    case 'd': sidecars = optarg; break;
    case 'r': max_rows = (uint32_t)strtoul(optarg, NULL, 0); break;
    case 'o':
      output = fopen(optarg, "we");
      if (!output) fail("%s: %s", optarg, strerror(errno));
      break;
    default: return 2;
    }
  }
  const int is_command = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
  if (optind == argc || (!is_command && optind + 1 != argc))
    fail("usage: sframe_stacks [-F HERTZ] [-t SECONDS] [-n STACKS] [-d DIR] [-r ROWS] [-o FILE] "
         "PID | -- COMMAND...");
  int pid = is_command ? 0 : (int)strtol(argv[optind], NULL, 10);
  if (!is_command && pid <= 0) fail("%s: no number of a process", argv[optind]);
  load_program();
  const int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME); /* while it is open */
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);

  if (is_command) pid = start_command(argv + optind, hertz);
  /* The limits are for inputs that are not trusted; a profile takes as long as is asked for. */
  const sframe_options options = {.size = sizeof options, .sframe_dir = sidecars, .no_limits = 1};
  process = sframe_attach(pid, &options, &error);
  if (!process) fail("%s", error.message);
  refresh_mappings(pid, is_command);
  if (!is_command) sample_process(hertz);
  collect(pid, is_command, duration, limit);
  if (is_command) kill(pid, SIGTERM); /* no other process has its number before it is waited for */

  twalk(folded, print_folded);
  if (fflush(output) != 0 || ferror(output)) fail("cannot write: %s", strerror(errno));
  print_summary();
  if (statistics >= 0) close(statistics);
  sframe_close(process);
  bpf_object__close(object);
  return 0;
}
