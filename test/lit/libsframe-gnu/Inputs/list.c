/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   list [-a] SECTION...: all that the interface of libsframe returns for raw sections, as text: the header,
   functions, rows and their offsets, lookups, the listing; and, of version 3, the bytes that an encoder makes
   of the same functions, which must decode to the same. Two libraries are compared by the text. With -a, it
   also has what is wrong with GNU's library: lookups in sections without FUNC_START_PCREL (it takes all
   starts as relative to their field), and version 2's buffers of rows (too long). */

#include <sframe-api.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults = 0;
static struct { int all; } options;

static void fault(const char* what) {
  printf("FAULT: %s\n", what);
  ++faults;
}

static char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char* bytes = malloc(*size + 1);
  if (fread(bytes, 1, *size, file) != *size) exit(1);
  fclose(file);
  return bytes;
}

static void print_bytes(const char* title, const char* bytes, size_t size) {
  printf("%s %zu:", title, size);
  for (size_t i = 0; i < size; ++i) printf(i % 32 ? "%02x" : "\n    %02x", (unsigned char)bytes[i]);
  putchar('\n');
}

static void print_row(const sframe_decoder_ctx* decoder, const sframe_frame_row_entry* row,
                      uint32_t fde_type) {
  int errors[3] = {-1, -1, -1}, word_error = 0, base_error = 0, mangled_error = 0, undefined_error = 0;
  const int32_t cfa = sframe_fre_get_cfa_offset(decoder, row, fde_type, &errors[0]);
  const int32_t fp = sframe_fre_get_fp_offset(decoder, row, fde_type, &errors[1]);
  const int32_t ra = sframe_fre_get_ra_offset(decoder, row, fde_type, &errors[2]);
  printf("    +0x%" PRIx32
         " info 0x%x base %u mangled %d undefined %d cfa %d (%d) fp %d (%d) ra %d (%d) words",
         row->fre_start_addr, row->fre_info, sframe_fre_get_base_reg_id(row, &base_error),
         sframe_fre_get_ra_mangled_p(decoder, row, &mangled_error),
         sframe_fre_get_ra_undefined_p(decoder, row, &undefined_error), cfa, errors[0], fp, errors[1], ra,
         errors[2]);
  for (int i = 0; !word_error; ++i) {
    const uint32_t word = sframe_get_fre_udata(row, i, &word_error);
    if (!word_error) printf(" %" PRIx32, word);
  }
  printf(" end %d, errors %d %d %d\n", word_error, base_error, mangled_error, undefined_error);
}

/* The function's fields by the newest call that the version has, and its start as an offset from the section.
 */
typedef struct {
  uint32_t num_fres, size;
  int64_t start, offset;
  unsigned char info, info2;
  uint8_t rep_size;
} function;

static int get_function(const sframe_decoder_ctx* decoder, uint32_t number, function* out) {
  int32_t start = 0;
  memset(out, 0, sizeof *out);
  int status = sframe_decoder_get_funcdesc_v3(decoder, number, &out->num_fres, &out->size, &out->start,
                                              &out->info, &out->info2, &out->rep_size);
  if (status) {
    status = sframe_decoder_get_funcdesc_v2(decoder, number, &out->num_fres, &out->size, &start, &out->info,
                                            &out->rep_size);
    out->start = start;
  }
  const int pcrel = sframe_decoder_get_flags(decoder) & SFRAME_F_FDE_FUNC_START_PCREL;
  out->offset = out->start + (pcrel ? sframe_decoder_get_offsetof_fde_start_addr(decoder, number, NULL) : 0);
  return status;
}

/* Whether lookups in the function have one right answer: it is not empty, and no other starts in it or
   contains its start. (Empty functions do start there, and unlinked sections have all functions at the same
   place.) */
static int is_alone(const sframe_decoder_ctx* decoder, uint32_t number) {
  function f, other;
  if (get_function(decoder, number, &f) || f.size == 0) return 0;
  for (uint32_t i = 0; i < sframe_decoder_get_num_fidx(decoder); ++i) {
    if (i == number) continue;
    if (get_function(decoder, i, &other)) return 0;
    if (other.offset >= f.offset && other.offset < f.offset + f.size) return 0;
    if (f.offset >= other.offset && f.offset < other.offset + other.size) return 0;
  }
  return 1;
}

/* Whether lookups are printed. */
static int is_searchable(const sframe_decoder_ctx* decoder) {
  const uint8_t flags = sframe_decoder_get_flags(decoder);
  return flags & SFRAME_F_FDE_SORTED && (flags & SFRAME_F_FDE_FUNC_START_PCREL || options.all);
}

/* binutils' library leaves the bytes after a row's last word as they were in memory. */
static int same_row(const sframe_frame_row_entry* a, const sframe_frame_row_entry* b) {
  const size_t size = (size_t)SFRAME_V1_FRE_OFFSET_COUNT(a->fre_info)
                      << SFRAME_V1_FRE_OFFSET_SIZE(a->fre_info);
  return a->fre_start_addr == b->fre_start_addr && a->fre_info == b->fre_info &&
         !memcmp(a->fre_datawords, b->fre_datawords,
                 size < sizeof a->fre_datawords ? size : sizeof a->fre_datawords);
}

/* The lookup at `place` in a function gives the row that a walk over the rows gives. */
static void check_lookup(const sframe_decoder_ctx* decoder, uint32_t number, uint32_t place) {
  function f;
  sframe_frame_row_entry expected, row, found;
  get_function(decoder, number, &f);
  const uint32_t wanted =
      SFRAME_V3_FDE_PC_TYPE(f.info) == SFRAME_V3_FDE_PCTYPE_MASK ? place % f.rep_size : place;
  int any = 0;
  for (uint32_t i = 0; i < f.num_fres && !sframe_decoder_get_fre(decoder, number, i, &row); ++i)
    if (row.fre_start_addr <= wanted) {
      expected = row;
      any = 1;
    }
  const int status = sframe_find_fre(decoder, f.offset + place, &found);
  if (status != (any ? 0 : SFRAME_ERR)) fault("a lookup finds a row that is not there, or none");
  if (!status && !same_row(&expected, &found)) fault("a lookup finds another row");
}

static void look_up(const sframe_decoder_ctx* decoder, uint32_t number, int64_t place) {
  function f;
  sframe_frame_row_entry row;
  get_function(decoder, number, &f);
  check_lookup(decoder, number, (uint32_t)place);
  const int status = sframe_find_fre(decoder, f.offset + place, &row);
  printf("    find %" PRId64 ": %d\n", f.offset + place, status);
  if (!status) print_row(decoder, &row, SFRAME_V3_FDE_TYPE(f.info2));
}

/* False, at once, if something of it cannot be read: malformed sections. */
static int print_function(const sframe_decoder_ctx* decoder, uint32_t number) {
  function f;
  sframe_frame_row_entry row;
  if (get_function(decoder, number, &f)) return 0;
  printf("  [%" PRIu32 "] start %" PRId64 " offset %" PRId64 " size %" PRIu32 " rows %" PRIu32
         " info 0x%x 0x%x block %u\n",
         number, f.start, f.offset, f.size, f.num_fres, f.info, f.info2, f.rep_size);
  const uint32_t fde_type = SFRAME_V3_FDE_TYPE(f.info2);
  for (uint32_t i = 0; i < f.num_fres; ++i) {
    if (sframe_decoder_get_fre(decoder, number, i, &row)) return 0;
    print_row(decoder, &row, fde_type);
  }
  printf("    after the last: %d\n", sframe_decoder_get_fre(decoder, number, f.num_fres, &row));
  if (is_searchable(decoder) && is_alone(decoder, number)) {
    const int64_t size = f.size, places[] = {0, 1 % size, size / 2, size - 1};
    for (unsigned i = 0; i < sizeof places / sizeof *places; ++i) look_up(decoder, number, places[i]);
  }
  if (sframe_decoder_get_version(decoder) != SFRAME_VERSION_3 && !options.all) return 1;
  char* bytes;
  size_t size;
  uint32_t num_fres;
  if (sframe_decoder_get_fres_buf(decoder, number, &bytes, &size, &num_fres)) return 0;
  printf("    rows in the buffer: %" PRIu32 "\n", num_fres);
  print_bytes("    bytes", bytes, size);
  return 1;
}

static int print_section(const sframe_decoder_ctx* decoder) {
  int error = -1;
  printf("  version %u flags 0x%x abi %u fp %d ra %d header %u functions %u\n",
         sframe_decoder_get_version(decoder), sframe_decoder_get_flags(decoder),
         sframe_decoder_get_abi_arch(decoder), sframe_decoder_get_fixed_fp_offset(decoder),
         sframe_decoder_get_fixed_ra_offset(decoder), sframe_decoder_get_hdr_size(decoder),
         sframe_decoder_get_num_fidx(decoder));
  const uint32_t functions = sframe_decoder_get_num_fidx(decoder);
  for (uint32_t i = 0; i <= functions; ++i) {
    printf("  field %" PRIu32 " at %" PRIu32, i,
           sframe_decoder_get_offsetof_fde_start_addr(decoder, i, &error));
    printf(" (%d)\n", error);
  }
  int readable = 1;
  for (uint32_t i = 0; i < functions; ++i)
    if (!print_function(decoder, i)) {
      printf("  [%" PRIu32 "] cannot be read\n", i);
      readable = 0;
    }
  sframe_frame_row_entry row;
  const int64_t nowhere[] = {INT32_MIN, -0x7ffffff, 0, 0x7ffffff, INT32_MAX};
  for (unsigned i = 0; is_searchable(decoder) && i < sizeof nowhere / sizeof *nowhere; ++i)
    printf("  find %" PRId64 ": %d\n", nowhere[i], sframe_find_fre(decoder, nowhere[i], &row));
  dump_sframe(decoder, 0);
  dump_sframe(decoder, 0xffffffff80000000);
  return readable;
}

/* GNU's library cannot write a function that has no rows unless it has added an empty buffer of them. */
static int has_empty_function(const sframe_decoder_ctx* decoder) {
  function f;
  for (uint32_t i = 0; i < sframe_decoder_get_num_fidx(decoder); ++i)
    if (get_function(decoder, i, &f) || f.num_fres == 0) return 1;
  return 0;
}

/* Adds function `number`: its rows as one buffer, or one by one. */
static void add_function(sframe_encoder_ctx* encoder, const sframe_decoder_ctx* decoder, uint32_t number,
                         int by_row) {
  function f;
  get_function(decoder, number, &f);
  if (sframe_encoder_add_funcdesc_v3(encoder, f.start, f.size, f.info, f.info2, f.rep_size, f.num_fres))
    fault("add_funcdesc_v3");
  if (by_row) {
    for (uint32_t i = 0; i < f.num_fres; ++i) {
      sframe_frame_row_entry row;
      if (sframe_decoder_get_fre(decoder, number, i, &row)) fault("no such row");
      if (sframe_encoder_add_fre(encoder, number, &row)) fault("add_fre");
    }
    return;
  }
  char* bytes;
  size_t size;
  uint32_t num_fres;
  if (sframe_decoder_get_fres_buf(decoder, number, &bytes, &size, &num_fres)) fault("get_fres_buf");
  if (sframe_encoder_add_fres_buf(encoder, number, num_fres, bytes, size)) fault("add_fres_buf");
}

static void encode(const sframe_decoder_ctx* decoder, int by_row, int sort) {
  int error = 0;
  size_t size = 0;
  const uint8_t flags = sframe_decoder_get_flags(decoder) & (uint8_t)~SFRAME_F_FDE_SORTED;
  sframe_encoder_ctx* encoder = sframe_encode(SFRAME_VERSION_3, flags, sframe_decoder_get_abi_arch(decoder),
                                              sframe_decoder_get_fixed_fp_offset(decoder),
                                              sframe_decoder_get_fixed_ra_offset(decoder), &error);
  printf("  encode, by row %d, sorted %d: %s (%d)\n", by_row, sort, encoder ? "made" : "none", error);
  if (!encoder) return;
  const uint32_t functions = sframe_decoder_get_num_fidx(decoder);
  for (uint32_t i = 0; i < functions; ++i) add_function(encoder, decoder, i, by_row);
  printf("  header %u version %u abi %u flags 0x%x functions %u field %" PRIu32,
         sframe_encoder_get_hdr_size(encoder), sframe_encoder_get_version(encoder),
         sframe_encoder_get_abi_arch(encoder), sframe_encoder_get_flags(encoder),
         sframe_encoder_get_num_fidx(encoder),
         sframe_encoder_get_offsetof_fde_start_addr(encoder, functions, &error));
  printf(" (%d)\n", error);
  error = 0;
  char* bytes = sframe_encoder_write(encoder, &size, sort, &error);
  printf("  written: %s (%d)\n", bytes ? "yes" : "no", error);
  if (bytes) {
    print_bytes("  section", bytes, size);
    sframe_decoder_ctx* again = sframe_decode(bytes, size, &error);
    if (!again) fault("what was written does not decode");
    if (!print_section(again)) fault("what was written cannot be read");
    sframe_decoder_free(&again);
  }
  sframe_encoder_free(&encoder);
  if (encoder) fault("encoder not NULL");
}

int main(int argc, char** argv) {
  int first = 1;
  if (argc > 1 && !strcmp(argv[1], "-a")) options.all = first++;
  for (int i = first; i < argc; ++i) {
    size_t size;
    int error = 0;
    char* bytes = read_file(argv[i], &size);
    sframe_decoder_ctx* decoder = sframe_decode(bytes, size, &error);
    memset(bytes, 0, size);
    free(bytes); /* the decoder has its own copy */
    printf("%s: %s (%d %s)\n", argv[i], decoder ? "decoded" : "not decoded", error, sframe_errmsg(error));
    if (!decoder) continue;
    if (print_section(decoder) && sframe_decoder_get_version(decoder) == SFRAME_VERSION_3 &&
        sframe_decoder_get_num_fidx(decoder))
      for (int way = 0; way < 4; ++way)
        if (!(way & 1 && has_empty_function(decoder))) encode(decoder, way & 1, way >> 1);
    sframe_decoder_free(&decoder);
    if (decoder) fault("decoder not NULL");
  }
  return faults != 0;
}
