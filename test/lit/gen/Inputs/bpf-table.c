// bpf-table TABLE FILE: looks up every address of the functions in FILE's sections, and those around them, in
// a table of sframe-gen --emit=bpf-table by the code that BPF programs use, and in the sections by
// sframe_section_find(). Padding may have the rule of the address before it.
#include <sframe/bpf/table.h>
#include <sframe/c/section.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long compared, padding, unequal;

static struct sframe_bpf_value to_value(const sframe_rule* rule, int fixed_offset) {
  switch (rule->kind) {
  case SFRAME_RULE_SAME: return (struct sframe_bpf_value){SFRAME_BPF_SAME, 0, 0};
  case SFRAME_RULE_FIXED:
    return (struct sframe_bpf_value){SFRAME_BPF_STORED, SFRAME_BPF_CFA_IN_WIDE, fixed_offset};
  case SFRAME_RULE_VALUE:
  case SFRAME_RULE_STORED:
    return (struct sframe_bpf_value){
        rule->kind == SFRAME_RULE_VALUE ? SFRAME_BPF_SUM : SFRAME_BPF_STORED,
        rule->base == SFRAME_BASE_CFA ? SFRAME_BPF_CFA_IN_WIDE : (unsigned short)rule->base, rule->offset};
  default: return (struct sframe_bpf_value){SFRAME_BPF_UNKNOWN, 0, 0};
  }
}

static struct sframe_bpf_rule expected_at(const sframe_section* section, uint64_t pc) {
  struct sframe_bpf_rule rule = {0};
  sframe_section_info info = {.size = sizeof info};
  sframe_function function = {.size = sizeof function};
  sframe_row row = {.size = sizeof row};
  sframe_section_get_info(section, &info);
  if (sframe_section_find(section, pc, &function, &row, NULL) != SFRAME_OK) return rule;
  rule.kind = row.ra.kind == SFRAME_RULE_UNDEFINED ? SFRAME_BPF_OUTERMOST : SFRAME_BPF_ROW;
  if (rule.kind == SFRAME_BPF_OUTERMOST) return rule;
  rule.signal_frame = function.signal_frame != 0;
  rule.ra_signed = row.ra_signed != 0;
  rule.key_b = row.ra_signed && function.pauth_key_b;
  rule.cfa = to_value(&row.cfa, 0);
  rule.ra = to_value(&row.ra, info.fixed_ra_offset);
  rule.fp = to_value(&row.fp, info.fixed_fp_offset);
  return rule;
}

static void compare(sframe_bpf_words words, const struct sframe_bpf_table* table,
                    const sframe_section* section, uint64_t pc) {
  struct sframe_bpf_rule found, before;
  const struct sframe_bpf_rule expected = expected_at(section, pc);
  sframe_bpf_find(words, table, pc, &found);
  sframe_bpf_find(words, table, pc - 1, &before);
  ++compared;
  if (memcmp(&found, &expected, sizeof found) == 0) return;
  if (expected.kind == SFRAME_BPF_NONE && memcmp(&found, &before, sizeof found) == 0)
    ++padding;
  else if (unequal++ < 10)
    printf("0x%llx: unequal\n", (unsigned long long)pc);
}

int main(int argc, char** argv) {
  static unsigned char bytes[1 << 24];
  struct sframe_bpf_table table;
  FILE* input = argc == 3 ? fopen(argv[1], "rb") : NULL;
  sframe_file* file = argc == 3 ? sframe_file_open(argv[2], NULL) : NULL;
  if (!input || !file) return 2;
  sframe_bpf_words words = {.bytes = bytes, .count = fread(bytes, 1, sizeof bytes, input) / 8};
  if (!sframe_bpf_open(words, words.count, &table)) words.big_endian = 1;
  if (!sframe_bpf_open(words, words.count, &table)) return 2;
  for (size_t s = 0; s < sframe_file_num_sections(file); ++s) {
    const sframe_section* section = sframe_file_section(file, s);
    sframe_section_info info = {.size = sizeof info};
    sframe_section_get_info(section, &info);
    for (uint32_t i = 0; i < info.num_functions; ++i) {
      sframe_function function = {.size = sizeof function};
      if (sframe_section_function(section, i, &function, NULL) != SFRAME_OK) continue;
      for (uint64_t pc = function.start; pc < function.start + function.length; ++pc)
        compare(words, &table, section, pc);
      if (sframe_file_num_sections(file) != 1) continue; // another one may describe these
      for (uint64_t i = 0; i < 20; ++i) {
        compare(words, &table, section, function.start - 20 + i);
        compare(words, &table, section, function.start + function.length + i);
      }
    }
  }
  printf("abi %u, base 0x%llx, build ID of %u bytes, %u rows, %u rules\n", table.abi,
         (unsigned long long)table.base, table.build_id_size, table.num_rows, table.num_rules);
  printf("%llu addresses, %llu in padding, %llu unequal\n", compared, padding, unequal);
  sframe_file_close(file);
  return 0;
}
