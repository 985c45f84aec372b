/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   many-rows: reads a function of very many rows as objdump and ld do, one row after the other by its number;
   then rows of two functions in other orders, and from two threads at once. */

#include <sframe-api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A version 3 function has at most 65,535 rows. */
enum { num_rows = 300000, num_functions = 2, row_size = 6 };

static char* make_section(size_t* size) {
  const sframe_header header = {.sfh_preamble = {SFRAME_MAGIC, SFRAME_VERSION_2, 0},
                                .sfh_abi_arch = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
                                .sfh_cfa_fixed_ra_offset = -8,
                                .sfh_num_fdes = num_functions,
                                .sfh_num_fres = num_functions * num_rows,
                                .sfh_fre_len = num_rows * row_size,
                                .sfh_freoff = num_functions * sizeof(sframe_func_desc_entry_v2)};
  *size = sizeof header + header.sfh_freoff + header.sfh_fre_len;
  char* bytes = calloc(1, *size);
  char* to = bytes;
  memcpy(to, &header, sizeof header);
  to += sizeof header;
  for (int i = 0; i < num_functions; ++i, to += sizeof(sframe_func_desc_entry_v2)) {
    const sframe_func_desc_entry_v2 function = {
        .sfde_func_start_address = i * num_rows,
        .sfde_func_size = num_rows,
        .sfde_func_num_fres = num_rows,
        .sfde_func_info = sframe_fde_create_func_info(SFRAME_FRE_TYPE_ADDR4, SFRAME_V3_FDE_PCTYPE_INC)};
    memcpy(to, &function, sizeof function);
  }
  for (uint32_t i = 0; i < num_rows; ++i, to += row_size) {
    memcpy(to, &i, sizeof i);
    to[4] = 1 << 1 | SFRAME_BASE_REG_SP; /* one data word of a byte */
    to[5] = (char)(i % 100);
  }
  return bytes;
}

/* Whether the row is the one that make_section() wrote. */
static int is_right(const sframe_decoder_ctx* decoder, unsigned function, unsigned number) {
  sframe_frame_row_entry row;
  return !sframe_decoder_get_fre(decoder, function, number, &row) && row.fre_start_addr == number &&
         row.fre_datawords[0] == number % 100;
}

static void* read_in_turn(void* decoder) {
  size_t wrong = 0;
  for (unsigned i = 0; i < 2000; ++i) wrong += !is_right(decoder, i % num_functions, i);
  return (void*)wrong;
}

int main(void) {
  size_t size, wrong = 0;
  int error = 0;
  char* bytes = make_section(&size);
  sframe_decoder_ctx* decoder = sframe_decode(bytes, size, &error);
  free(bytes);
  if (!decoder) return printf("not decoded: %s\n", sframe_errmsg(error)), 1;
  for (unsigned i = 0; i < num_rows; ++i)
    for (int again = 0; again < 2; ++again) wrong += !is_right(decoder, 0, i);
  sframe_frame_row_entry row;
  wrong += sframe_decoder_get_fre(decoder, 0, num_rows, &row) != SFRAME_ERR;
  printf("in turn: %zu wrong\n", wrong);

  wrong = 0;
  const unsigned numbers[] = {num_rows - 1, num_rows - 1, 0, 7, 6, 6, num_rows, 1, 0, 300, 2};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    for (unsigned function = 0; function < num_functions; ++function)
      for (int again = 0; again < 2; ++again)
        wrong += is_right(decoder, function, numbers[i]) != (numbers[i] < num_rows);
  printf("in other orders: %zu wrong\n", wrong);

  pthread_t thread;
  void* of_thread = NULL;
  if (pthread_create(&thread, NULL, read_in_turn, decoder)) return 1;
  wrong = (size_t)read_in_turn(decoder);
  pthread_join(thread, &of_thread);
  printf("by two threads: %zu wrong\n", wrong + (size_t)of_thread);
  sframe_decoder_free(&decoder);
  return 0;
}
