/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading SFrame sections: versions 1, 2 and 3, every ABI, either byte order, on any host.
 *
 *   sframe_section* section = sframe_section_open(bytes, size, address, &error);
 *   sframe_row row = {.size = sizeof row};
 *   if (sframe_section_find(section, pc, NULL, &row, NULL) == SFRAME_OK) ... row.cfa, row.ra, row.fp
 *   sframe_section_close(section);
 *
 * The bytes may be hostile: every read is checked. The header is checked when the section is opened,
 * functions and rows when they are decoded. A malformed part is SFRAME_BAD_TABLE with its offset; what comes
 * before it can be read. Section numbers in comments are those of the SFrame specification, version 3.
 */
#ifndef SFRAME_C_SECTION_H
#define SFRAME_C_SECTION_H

#include "sframe/c/common.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Sections --- */

typedef struct sframe_section sframe_section;

/* Opens the section at the start of `bytes`, which may be followed by others: the next one starts at the
   section's length (sframe_section_info), rounded up to 8. Copies nothing: the bytes must stay as they are
   until sframe_section_close(). `address` is that of the first byte in the target; functions' addresses are
   relative to it. Checks magic, version, ABI, and that both sub-sections fit (section 2.2). Constant cost. */
sframe_section* sframe_section_open(const void* bytes, size_t size, uint64_t address, sframe_error* error);

/* NULL is allowed. Not for sections of an sframe_file. */
void sframe_section_close(sframe_section* section);

typedef enum sframe_byte_order {
  SFRAME_BYTE_ORDER_OF_ABI = 0, /* for building: the usual one */
  SFRAME_BYTE_ORDER_LITTLE,
  SFRAME_BYTE_ORDER_BIG
} sframe_byte_order;

/* The header (section 2.2) and what follows from it. */
typedef struct sframe_section_info {
  size_t size;
  uint64_t address;       /* as passed to sframe_section_open() */
  uint64_t length;        /* bytes of the section */
  const char* abi;        /* static */
  const void* bytes;      /* its first byte */
  const void* aux_header; /* in the section's bytes */
  uint32_t aux_header_size;
  sframe_byte_order byte_order;
  uint32_t num_functions;
  uint32_t num_rows;      /* sfh_num_fres: as stored, not checked */
  uint8_t version;        /* 1, 2 or 3 */
  uint8_t flags;          /* sfh_flags */
  int8_t fixed_fp_offset; /* from the CFA; 0 if FP is tracked per row */
  int8_t fixed_ra_offset; /* from the CFA; 0 if RA is tracked per row */
  uint32_t reserved;      /* 0 */
} sframe_section_info;

/* Constant cost. */
sframe_status sframe_section_get_info(const sframe_section* section, sframe_section_info* info);

/* Checks all entries of the index. Linear in the number of functions. */
sframe_status sframe_section_check(const sframe_section* section, sframe_error* error);

/* --- Functions and rows --- */

/* A function: the range of addresses of an FDE (section 2.3). For sframe_builder_add(), the members up to
   `signal_frame` are input, and the others are ignored: the builder chooses the encoding. */
typedef struct sframe_function {
  size_t size;
  uint64_t start;      /* address of the first byte; in a relocatable object, offset in the text section */
  uint32_t length;     /* bytes */
  uint32_t block_size; /* PCMASK: bytes of the repeating block, to which row offsets are relative; else 0 */
  int pauth_key_b;     /* AArch64: return addresses are signed with key B, not A */
  int signal_frame;    /* made by signal delivery: its pc is exact (version 3) */
  int flexible;        /* rows are encoded with control words (FDE type flex) */
  int outermost;       /* has no rows, which means: no caller, throughout (version 3) */
  uint32_t number;     /* position in the index */
  uint32_t num_rows;
  uint32_t offset_size;  /* bytes of a row's offset: 1, 2 or 4 */
  uint32_t reserved;     /* 0 */
  uint64_t index_offset; /* of the index entry, from the section's start */
  uint64_t rows_offset;  /* of the first row, from the section's start */
} sframe_function;

/* Kinds of rules. */
enum {
  SFRAME_RULE_SAME,      /* unchanged: still in its own register, or not saved */
  SFRAME_RULE_UNDEFINED, /* cannot be found; of RA: the outermost frame */
  SFRAME_RULE_FIXED,     /* stored at the offset from the CFA that the header has (RA on AMD64) */
  SFRAME_RULE_VALUE,     /* the value is base + offset */
  SFRAME_RULE_STORED     /* the value is the 8-byte word stored at base + offset */
};

/* The base of a rule that means the CFA; any other is a DWARF register number. */
#define SFRAME_BASE_CFA 0xffff

/* How one value of the caller is found. */
typedef struct sframe_rule {
  uint8_t kind;     /* SFRAME_RULE_SAME, ... */
  uint8_t reserved; /* 0 */
  uint16_t base;    /* for VALUE and STORED; else 0 */
  int32_t offset;   /* for VALUE and STORED: bytes; else 0 */
} sframe_rule;

/* The rules from `offset` to the next row, or to the function's end (section 2.4). */
typedef struct sframe_row {
  size_t size;
  uint32_t offset; /* bytes from the function's start; PCMASK: from the block's start */
  int ra_signed;   /* AArch64: the return address has an authentication code */
  sframe_rule cfa, ra, fp;
} sframe_row;

/* Function `number` of the index: 0 to num_functions - 1. Constant cost. */
sframe_status sframe_section_function(const sframe_section* section, uint32_t number,
                                      sframe_function* function, sframe_error* error);

/* Receives a row; any result but 0 ends the iteration, whose status then is SFRAME_STOP. */
typedef int (*sframe_row_callback)(const sframe_row* row, void* data);

/* The rows of function `number`, in the order of offsets. At a malformed one the iteration ends with
   SFRAME_BAD_TABLE. Linear in their number, which is that of the function: hostile sections may have
   functions that share very many rows. */
sframe_status sframe_section_rows(const sframe_section* section, uint32_t number,
                                  sframe_row_callback callback, void* data, sframe_error* error);

/* The same into an array: the first rows, as many as fit. `count` is set to their number, also on an error.
   rows[0].size is the size of an element. */
sframe_status sframe_section_rows_into(const sframe_section* section, uint32_t number, sframe_row* rows,
                                       size_t capacity, size_t* count, sframe_error* error);

/* The function and row for a pc; each is optional. For a return address pass the pc minus 1, which is in the
   call. SFRAME_NO_INFO if no function contains it, or its first row starts later. Logarithmic in the number
   of functions if the section is sorted, else linear; and linear in the function's rows before the pc. */
sframe_status sframe_section_find(const sframe_section* section, uint64_t pc, sframe_function* function,
                                  sframe_row* row, sframe_error* error);

/* A rule as text: "sp+16", "[cfa-8]", "r14", "same", "undefined", "fixed". `is_cfa`: the rule is that of a
   CFA, which shows its offset even if it is 0. SFRAME_NO_MEMORY if the text was truncated (it is still
   zero-terminated); 32 bytes are enough. */
sframe_status sframe_rule_text(const char* abi, const sframe_rule* rule, int is_cfa, char* buffer,
                               size_t size);

/* --- Files --- */

typedef struct sframe_file sframe_file;

/* All SFrame sections of a file: an ELF file (in a relocatable object, with relocations applied), or a raw
   section. Addresses are those of the file, 0 for a raw section. Archives and cores are SFRAME_INVALID. The
   file is mapped: it must not be truncated until sframe_file_close(). Time and memory are limited by the
   size of the file. */
sframe_file* sframe_file_open(const char* path, sframe_error* error);

/* NULL is allowed. */
void sframe_file_close(sframe_file* file);

/* One ELF section holds several SFrame sections if the linker only concatenated them; 0 is not an error. */
size_t sframe_file_num_sections(const sframe_file* file);

/* NULL if there is no such section. Owned by the file: valid until sframe_file_close(). */
const sframe_section* sframe_file_section(const sframe_file* file, size_t number);

/* The range of the function that the file's DWARF call frame information has for a pc: in .eh_frame, else in
   .debug_frame. `start` and `length` are optional. SFRAME_NO_INFO if no function contains it, or if the
   information cannot be read; also in relocatable objects and raw sections. The first call opens the
   information; then logarithmic in the number of functions with .eh_frame_hdr, else with an index that the
   first lookup makes. */
sframe_status sframe_file_find_cfi(const sframe_file* file, uint64_t pc, uint64_t* start, uint64_t* length,
                                   sframe_error* error);

/* --- Indexes, for frequent lookups --- */

typedef struct sframe_index sframe_index;

/* The rules for an address. */
typedef struct sframe_index_match {
  size_t size;
  int signal_frame, pauth_key_b; /* as in sframe_function */
  int ra_signed;                 /* as in sframe_row */
  uint32_t reserved;             /* 0 */
  sframe_rule cfa, ra, fp;
} sframe_index_match;

/* An index of all rows of one or several sections, of which it keeps nothing: they may be closed. The span of
   their addresses must be below 4 GiB. About 6 bytes per row and 36 per distinct row; linear in the rows. */
sframe_index* sframe_index_make(const sframe_section* const* sections, size_t count, sframe_error* error);

/* NULL is allowed. */
void sframe_index_free(sframe_index* index);

/* The rules at `pc`; SFRAME_NO_INFO if no function covers it. One table lookup and a short search; allocates
   nothing. */
sframe_status sframe_index_find(const sframe_index* index, uint64_t pc, sframe_index_match* match);

#ifdef __cplusplus
}
#endif

#endif
