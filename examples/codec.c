/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * SFrame sections in C:
 *
 *   cc -std=c11 examples/codec.c -o codec -Iinterfaces/c/include -Lbuild/release/lib -lsframe-c
 *
 *   codec dump FILE              functions and rows of the sections of an ELF file, or of a raw section
 *   codec find FILE PC           the row for an address
 *   codec convert FILE VERSION OUTPUT   the first section in another version
 *   codec make OUTPUT            a section with one function
 */
#include <sframe/c/builder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const sframe_error* error) {
  fprintf(stderr, "%s\n", error->message);
  return 1;
}

static const char* text(const char* abi, const sframe_rule* rule, int is_cfa, char* buffer, size_t size) {
  return sframe_rule_text(abi, rule, is_cfa, buffer, size) == SFRAME_OK ? buffer : "?";
}

static int print_row(const sframe_row* row, void* abi) {
  char cfa[32], ra[32], fp[32];
  printf("    +0x%x  %s  %s  %s\n", (unsigned)row->offset, text(abi, &row->cfa, 1, cfa, sizeof cfa),
         text(abi, &row->ra, 0, ra, sizeof ra), text(abi, &row->fp, 0, fp, sizeof fp));
  return 0;
}

static void print_function(const sframe_function* function) {
  printf("  0x%llx, %u bytes\n", (unsigned long long)function->start, (unsigned)function->length);
}

static int dump(const sframe_section* section) {
  sframe_error error = {.size = sizeof error};
  sframe_section_info info = {.size = sizeof info};
  sframe_section_get_info(section, &info);
  printf("version %d, %s, %u functions\n", info.version, info.abi, (unsigned)info.num_functions);
  for (uint32_t i = 0; i < info.num_functions; ++i) {
    sframe_function function = {.size = sizeof function};
    if (sframe_section_function(section, i, &function, &error) != SFRAME_OK) return fail(&error);
    print_function(&function);
    if (sframe_section_rows(section, i, print_row, (void*)info.abi, &error) != SFRAME_OK) return fail(&error);
  }
  return 0;
}

static int find(const sframe_section* section, uint64_t pc) {
  sframe_section_info info = {.size = sizeof info};
  sframe_error error = {.size = sizeof error};
  sframe_function function = {.size = sizeof function};
  sframe_row row = {.size = sizeof row};
  sframe_section_get_info(section, &info);
  if (sframe_section_find(section, pc, &function, &row, &error) != SFRAME_OK) return fail(&error);
  print_function(&function);
  print_row(&row, (void*)info.abi);
  return 0;
}

/* Takes the bytes. */
static int write_bytes(const char* path, void* bytes, size_t length) {
  FILE* file = fopen(path, "wb");
  const int failed = !file || fwrite(bytes, 1, length, file) != length;
  if (file) fclose(file);
  sframe_free(bytes);
  if (failed) perror(path);
  return failed;
}

static int print_refusal(const sframe_refusal* refusal, void* data) {
  (void)data;
  printf("left out: 0x%llx: %s\n", (unsigned long long)refusal->start, refusal->text);
  return 0;
}

static int convert(const sframe_section* section, const char* version, const char* output) {
  const sframe_build_options options = {
      .size = sizeof options, .version = (uint32_t)atoi(version), .share_rows = 1};
  sframe_section_info info = {.size = sizeof info};
  sframe_error error = {.size = sizeof error};
  void* bytes;
  size_t length;
  sframe_section_get_info(section, &info);
  if (sframe_convert(&section, 1, &options, info.address, print_refusal, NULL, &bytes, &length, &error) !=
      SFRAME_OK)
    return fail(&error);
  return write_bytes(output, bytes, length);
}

/* A function at 0x1000: push %rbp; mov %rsp,%rbp; ...; pop %rbp; ret. */
static int make(const char* output) {
  enum { fp = 6, sp = 7 };
  const sframe_rule fixed = {.kind = SFRAME_RULE_FIXED}, same = {.kind = SFRAME_RULE_SAME};
  const sframe_rule saved = {.kind = SFRAME_RULE_STORED, .base = SFRAME_BASE_CFA, .offset = -16};
  const sframe_row rows[] = {
      {sizeof rows[0], 0, 0, {.kind = SFRAME_RULE_VALUE, .base = sp, .offset = 8}, fixed, same},
      {sizeof rows[0], 1, 0, {.kind = SFRAME_RULE_VALUE, .base = sp, .offset = 16}, fixed, saved},
      {sizeof rows[0], 4, 0, {.kind = SFRAME_RULE_VALUE, .base = fp, .offset = 16}, fixed, saved},
      {sizeof rows[0], 31, 0, {.kind = SFRAME_RULE_VALUE, .base = sp, .offset = 8}, fixed, same},
  };
  const sframe_function function = {.size = sizeof function, .start = 0x1000, .length = 32};
  const sframe_build_options options = {.size = sizeof options, .abi = "amd64"};
  sframe_error error = {.size = sizeof error};
  void* bytes;
  size_t length;
  sframe_builder* builder = sframe_builder_make(&options, &error);
  int code = 0;
  if (!builder) return fail(&error);
  if (sframe_builder_add(builder, &function, rows, sizeof rows / sizeof rows[0], &error) != SFRAME_OK ||
      sframe_builder_finish(builder, 0, &bytes, &length, &error) != SFRAME_OK)
    code = fail(&error);
  else
    code = write_bytes(output, bytes, length);
  sframe_builder_free(builder);
  return code;
}

int main(int argc, char** argv) {
  sframe_error error = {.size = sizeof error};
  sframe_file* file;
  int code = 2;
  if (argc == 3 && !strcmp(argv[1], "make")) return make(argv[2]);
  if (argc < 3) {
    fputs("usage: codec dump FILE | find FILE PC | convert FILE VERSION OUTPUT | make OUTPUT\n", stderr);
    return 2;
  }
  file = sframe_file_open(argv[2], &error);
  if (!file) return fail(&error);
  for (size_t i = 0; i < sframe_file_num_sections(file); ++i) {
    const sframe_section* section = sframe_file_section(file, i);
    if (!strcmp(argv[1], "dump"))
      code = dump(section);
    else if (!strcmp(argv[1], "find") && argc == 4)
      code = find(section, strtoull(argv[3], NULL, 0));
    else if (!strcmp(argv[1], "convert") && argc == 5)
      code = convert(section, argv[3], argv[4]);
    if (code != 0 || strcmp(argv[1], "dump") != 0) break;
  }
  sframe_file_close(file);
  return code;
}
