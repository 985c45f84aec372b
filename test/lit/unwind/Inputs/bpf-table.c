// bpf-table FILE...: makes the tables of the BPF example for each file, and compares what its search finds
// with sframe_section_find(), at the first and last address of each row and in each gap. Compiled with
// -Dmain=profiler -include sframe_stacks.c.
#undef main

static uint64_t compared, unequal;

// As find_rule() of sframe_stacks.bpf.c.
static uint32_t rule_at(const struct mapping* mapping, uint64_t pc) {
  const uint64_t offset = pc - mapping->base, number = offset >> mapping->shift;
  if (number >= mapping->num_buckets) return RULE_NONE;
  uint32_t first = buckets[mapping->first + number].first, count = buckets[mapping->first + number].count;
  while (count > 1) {
    const uint32_t half = count / 2;
    if (rows[first + half].start <= offset) {
      first += half;
      count -= half;
    } else {
      count = half;
    }
  }
  return rows[first].start <= offset ? rows[first].rule : RULE_NONE;
}

static void compare(const struct mapping* mapping, const sframe_section* section,
                    const sframe_section_info* info, uint64_t pc) {
  sframe_function found = {.size = sizeof found};
  sframe_row row = {.size = sizeof row};
  struct rule expected = no_rule;
  if (sframe_section_find(section, pc, &found, &row, NULL) == SFRAME_OK) {
    const struct function function = {.info = info, .signal_frame = found.signal_frame};
    expected = to_rule(&function, &row);
  }
  ++compared;
  if (memcmp(&rules[rule_at(mapping, pc)], &expected, sizeof expected) == 0) return;
  if (unequal++ < 10) printf("0x%llx: unequal\n", (unsigned long long)pc);
}

struct visit {
  const struct mapping* mapping;
  const sframe_section* section;
  const sframe_section_info* info;
  const sframe_function* function;
  uint64_t start;
};

static int visit_row(const sframe_row* row, void* data) {
  const struct visit* visit = data;
  const uint64_t end = visit->function->start + visit->function->length, pc = visit->start + row->offset;
  if (pc > visit->function->start) compare(visit->mapping, visit->section, visit->info, pc - 1);
  if (pc < end) compare(visit->mapping, visit->section, visit->info, pc);
  return 0;
}

static void compare_function(struct visit* visit, const sframe_function* function) {
  visit->function = function;
  const uint64_t end = function->start + function->length;
  compare(visit->mapping, visit->section, visit->info, function->start - 1);
  compare(visit->mapping, visit->section, visit->info, function->start);
  compare(visit->mapping, visit->section, visit->info, end - 1);
  compare(visit->mapping, visit->section, visit->info, end);
  for (visit->start = function->start; visit->start < end; visit->start += function->block_size) {
    sframe_section_rows(visit->section, function->number, visit_row, visit, NULL);
    if (function->block_size == 0) break;
  }
}

static sframe_status refuse_word(uint64_t address, uint64_t* value, void* data) {
  (void)address, (void)value, (void)data;
  return SFRAME_UNREADABLE;
}

static sframe_status refuse_register(uint16_t reg, uint64_t* value, void* data) {
  (void)reg, (void)value, (void)data;
  return SFRAME_BAD_REGISTER;
}

int main(int argc, char** argv) {
  const sframe_callbacks callbacks = {
      .size = sizeof callbacks, .read_word = refuse_word, .read_register = refuse_register};
  process = checked(sframe_open_callbacks("amd64", &callbacks, NULL, NULL)); // add_file() asks for its ABI
  rules = checked(calloc(MAX_RULES, sizeof *rules));
  for (int i = 1; i < argc; ++i) {
    sframe_file* file = sframe_file_open(argv[i], NULL);
    if (!file || sframe_file_num_sections(file) != 1) continue;
    rows = checked(realloc(rows, max_rows * sizeof *rows)); // each file has all the room
    buckets = checked(realloc(buckets, max_rows * sizeof *buckets));
    num_rows = num_buckets = 0;
    struct mapping mapping = {0};
    add_file(&mapping, file, 0);
    const sframe_section* section = sframe_file_section(file, 0);
    sframe_section_info info = {.size = sizeof info};
    sframe_section_get_info(section, &info);
    compared = unequal = 0;
    struct visit visit = {.mapping = &mapping, .section = section, .info = &info};
    for (uint32_t number = 0; mapping.num_buckets && number < info.num_functions; ++number) {
      sframe_function function = {.size = sizeof function};
      if (sframe_section_function(section, number, &function, NULL) == SFRAME_OK && function.length != 0)
        compare_function(&visit, &function);
    }
    printf("%s: version %d, %u rows, %llu addresses, %llu unequal\n", strrchr(argv[i], '/') + 1, info.version,
           num_rows, (unsigned long long)compared, (unsigned long long)unequal);
    sframe_file_close(file);
  }
  printf("%u functions malformed\n", made.unusable);
  sframe_close(process);
  return 0;
}
