/* SPDX-License-Identifier: (Apache-2.0 WITH LLVM-exception) OR GPL-2.0-only */
/*
 * A table for BPF programs: the rows of one linked file, so that an address is found in a few reads at fixed
 * places. This header has its format and the lookup, in C that is compiled for BPF and for user space alike;
 * make_table.h and read_table.h make and check tables in C++. docs/bpf.md has the reasons and sizes.
 *
 * A table is an array of 64-bit words in the byte order of its ABI. Bits are counted from the least
 * significant one, so a reader that has the value of a word needs no byte order.
 *
 *   words                what
 *   ------------------   ------------------------------------------------------------------
 *   13                   header
 *   num_groups           groups: which rows 1,024 bytes of code have, in four blocks of 256
 *   (num_rows + 3) / 4   rows, four in a word, by address
 *   num_rules            rules, the most frequent ones first
 *   num_escapes          rows whose rule has a number of more than a byte
 *   3 * num_wide         rules that do not fit a word
 *
 * Header:
 *
 *   word   bits    what                                           bounds
 *   ----   -----   --------------------------------------------   ---------------------------------------
 *   0      0-31    magic number                                   SFRAME_BPF_MAGIC
 *          32-39   version of this format                         1
 *          40-47   ABI: sfh_abi_arch of a section                1 to 4
 *          48-63   number of words of the header                  13
 *   1              link address of the first group                a multiple of 1,024; the end of the last
 *                                                                 group does not wrap
 *   2      0-31    num_groups                                     at most 2^22
 *          32-63   num_rows                                       at most 256 * 4 * num_groups
 *   3      0-31    num_rules                                      1 to 2^24
 *          32-63   num_escapes                                    at most num_rows
 *   4      0-31    num_wide                                       at most num_rules
 *          32-39   bytes of the build ID, 0 for none              at most 64
 *          40-63   reserved                                       0
 *   5-12           build ID, eight bytes a word from bit 0 on     0 after its bytes
 *
 * Group: the number of its first row (bits 0-31), and how many rows each of its blocks has (bits 32-39,
 * 40-47, 48-55, 56-63). Rows are in order: the next group's first row is this one's plus its four numbers.
 *
 * Row: 16 bits, row i in word i / 4 from bit 16 * (i % 4) on: its start in its block (bits 0-7, increasing in
 * a block), and the number of its rule (bits 8-15), or 255: then its escape has it. It applies up to the next
 * row, in whichever block that is. Unused rows of the last word are 0.
 *
 * Escape: rule number (bits 0-31) and row number (bits 32-63, increasing).
 *
 * Rule number 0 is the word 0, "no rows here": between functions, and in those that have none. Others:
 *
 *   bits    what
 *   -----   -----------------------------------------------------------------------------------------
 *   0-1     kind: SFRAME_BPF_ROW, SFRAME_BPF_OUTERMOST, or 3 for a wide rule
 *   2       signal frame: the caller was interrupted, its pc is exact
 *   3       the return address has an authentication code (AArch64)
 *   4       ... signed with key B
 *   5       the CFA is the word stored at base + offset, not their sum
 *   6-7     reserved, 0
 *   8-15    CFA: base, a DWARF register number
 *   16-31   CFA: offset in bytes, signed
 *   32-47   return address: kind of its value (bits 32-33), base (34-38: a register number, or 31 for the
 *           CFA), offset in bytes (39-47, signed)
 *   48-63   frame pointer, in the same way
 *
 * Wide rule: bits 2-31 are 0, bits 32-63 are its number. Its three words:
 *
 *   0       bits 0-5 as above (kind 1); CFA base (8-23); return address: kind (24-25), base (26-41); frame
 *           pointer: kind (42-43), base (44-59). A base of 65535 is the CFA
 *   1       offsets of CFA (0-31) and return address (32-63), signed
 *   2       offset of the frame pointer (0-31)
 *
 * In an outermost row all other bits are 0.
 */
#ifndef SFRAME_BPF_TABLE_H
#define SFRAME_BPF_TABLE_H

#include <linux/types.h>

#define SFRAME_BPF_INLINE static inline __attribute__((always_inline, unused))

enum {
  SFRAME_BPF_MAGIC = 0x54426653, /* "SfBT" */
  SFRAME_BPF_VERSION = 1,
  SFRAME_BPF_HEADER_WORDS = 13,
  SFRAME_BPF_GROUP_BYTES = 1024, /* of code */
  SFRAME_BPF_BLOCK_BYTES = 256,
  SFRAME_BPF_MAX_GROUPS = 1 << 22,
  SFRAME_BPF_MAX_BLOCK_ROWS = 255,
  SFRAME_BPF_MAX_RULES = 1 << 24,
  SFRAME_BPF_ESCAPE = 255,
  SFRAME_BPF_WIDE_WORDS = 3,
  SFRAME_BPF_MAX_BUILD_ID = 64,
  SFRAME_BPF_WINDOW_BITS = 24,    /* generated code has a table for all addresses with the same bits above */
  SFRAME_BPF_CFA_IN_RULE = 31,    /* as a base */
  SFRAME_BPF_CFA_IN_WIDE = 0xffff /* as a base, and in struct sframe_bpf_value */
};

/* Kinds of rules, as in a word; a wide rule's is that of its own first word. */
enum { SFRAME_BPF_NONE, SFRAME_BPF_ROW, SFRAME_BPF_OUTERMOST, SFRAME_BPF_WIDE };

/* Kinds of values: not known; unchanged, in its own register; base + offset; the word stored there. */
enum { SFRAME_BPF_UNKNOWN, SFRAME_BPF_SAME, SFRAME_BPF_SUM, SFRAME_BPF_STORED };

/* How one value of the caller is found. */
struct sframe_bpf_value {
  __u16 kind;
  __u16 base; /* a DWARF register number, or SFRAME_BPF_CFA_IN_WIDE */
  __s32 offset;
};

/* What the lookup of an address finds. With another kind than SFRAME_BPF_ROW, all else is 0. */
struct sframe_bpf_rule {
  __u8 kind;
  __u8 signal_frame;
  __u8 ra_signed;
  __u8 key_b;
  struct sframe_bpf_value cfa, ra, fp;
};

/* The header of a table as numbers, and where its parts are, in words. */
struct sframe_bpf_table {
  __u64 base;
  __u64 num_words;
  __u32 abi;
  __u32 build_id_size;
  __u32 num_groups, num_rows, num_rules, num_escapes, num_wide;
  __u32 groups, rows, rules, escapes, wide;
};

#ifdef __bpf__
/* What was written is read again. */
#  define SFRAME_BPF_FORGET() __asm__ volatile("" ::: "memory")

/* An array map whose values are the words. A word that it does not have reads as 0. */
typedef void* sframe_bpf_words;

SFRAME_BPF_INLINE __u64 sframe_bpf_word(sframe_bpf_words words, __u32 number) {
  const __u64* word = (const __u64*)bpf_map_lookup_elem(words, &number);
  return word ? *word : 0;
}
#else
#  define SFRAME_BPF_FORGET() ((void)0)

/* The words in memory, at any alignment. */
typedef struct {
  const unsigned char* bytes;
  __u64 count;
  int big_endian;
} sframe_bpf_words;

SFRAME_BPF_INLINE __u64 sframe_bpf_word(sframe_bpf_words words, __u32 number) {
  __u64 value = 0;
  if (number >= words.count) return 0;
  for (int i = 0; i < 8; ++i)
    value |= (__u64)words.bytes[8ull * number + (unsigned)i] << 8 * (words.big_endian ? 7 - i : i);
  return value;
}
#endif

/* The bits from `first` on. */
SFRAME_BPF_INLINE __u32 sframe_bpf_bits(__u64 word, int first, int count) {
  return (__u32)(word >> first & ((1ull << count) - 1));
}

/* The same as a signed number. */
SFRAME_BPF_INLINE __s32 sframe_bpf_signed(__u64 word, int first, int count) {
  return (__s32)((__s64)(word << (64 - first - count)) >> (64 - count));
}

/*
 * Reads the header of a table of `num_words` words. False if it is not one, or its parts do not make up the
 * words exactly. What is in the parts is not checked: a lookup in any words is bounded, and reads none
 * outside the table.
 */
SFRAME_BPF_INLINE int sframe_bpf_open(sframe_bpf_words words, __u64 num_words,
                                      struct sframe_bpf_table* table) {
  const __u64 first = sframe_bpf_word(words, 0), base = sframe_bpf_word(words, 1);
  const __u64 rows = sframe_bpf_word(words, 2), rules = sframe_bpf_word(words, 3);
  const __u64 wide = sframe_bpf_word(words, 4);
  __u64 at = SFRAME_BPF_HEADER_WORDS;
  if (num_words < at || num_words >> 32 || (__u32)first != SFRAME_BPF_MAGIC) return 0;
  if (sframe_bpf_bits(first, 32, 8) != SFRAME_BPF_VERSION || first >> 48 != SFRAME_BPF_HEADER_WORDS) return 0;
  table->abi = sframe_bpf_bits(first, 40, 8);
  table->base = base;
  table->num_words = num_words;
  table->num_groups = (__u32)rows;
  table->num_rows = (__u32)(rows >> 32);
  table->num_rules = (__u32)rules;
  table->num_escapes = (__u32)(rules >> 32);
  table->num_wide = (__u32)wide;
  table->build_id_size = (__u32)(wide >> 32);
  if (base % SFRAME_BPF_GROUP_BYTES || table->num_groups > SFRAME_BPF_MAX_GROUPS ||
      table->num_rules > SFRAME_BPF_MAX_RULES || table->num_rules == 0 ||
      table->build_id_size > SFRAME_BPF_MAX_BUILD_ID)
    return 0;
  if (table->num_groups && base + ((__u64)table->num_groups * SFRAME_BPF_GROUP_BYTES - 1) < base) return 0;
  if (table->num_rows > (__u64)table->num_groups * SFRAME_BPF_GROUP_BYTES ||
      table->num_escapes > table->num_rows || table->num_wide > table->num_rules)
    return 0;
  /* Each part is below 2^32 words. */
  table->groups = (__u32)at;
  at += table->num_groups;
  table->rows = (__u32)at;
  at += ((__u64)table->num_rows + 3) / 4;
  table->rules = (__u32)at;
  at += table->num_rules;
  table->escapes = (__u32)at;
  at += table->num_escapes;
  table->wide = (__u32)at;
  at += (__u64)table->num_wide * SFRAME_BPF_WIDE_WORDS;
  return at == num_words;
}

/*
 * The state of a lookup, in memory that the verifier does not follow, such as a map's. It is read again in
 * each turn of a loop: otherwise the verifier follows the values of all turns, and from Linux 7 on gives up.
 */
struct sframe_bpf_search {
  __u32 first, count; /* elements among which it is */
  __u64 word;         /* that was read last: a search in a few rows reads the same one again and again */
  __u32 number;       /* of it; 0: none, the header's first one is not read so */
};

/* Row `number`: its 16 bits. */
SFRAME_BPF_INLINE __u32 sframe_bpf_row(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                       struct sframe_bpf_search* search, __u32 number) {
  const __u32 at = table->rows + number / 4;
  if (at != search->number) {
    search->word = sframe_bpf_word(words, at);
    search->number = at;
  }
  SFRAME_BPF_FORGET();
  return (__u32)(search->word >> 16 * (number % 4)) & 0xffff;
}

/* Goes on in the first half, or in the elements after the middle one. */
SFRAME_BPF_INLINE void sframe_bpf_halve(struct sframe_bpf_search* search, int is_later) {
  const __u32 half = search->count / 2;
  if (is_later) search->first += half + 1;
  search->count = is_later ? search->count - (half + 1) : half;
  SFRAME_BPF_FORGET();
}

/* The rule number of a row that has an escape; 0 if it is not in the list. */
SFRAME_BPF_INLINE __u32 sframe_bpf_escape(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                          struct sframe_bpf_search* search, __u32 row) {
  search->first = 0;
  search->count = table->num_escapes;
  SFRAME_BPF_FORGET();
  for (int i = 0; i < 32 && search->count > 0; ++i) {
    const __u64 escape = sframe_bpf_word(words, table->escapes + search->first + search->count / 2);
    if (escape >> 32 == row) return (__u32)escape;
    sframe_bpf_halve(search, escape >> 32 < row);
  }
  return 0;
}

/* The number of the rule that applies at the offset from the table's base. */
SFRAME_BPF_INLINE __u32 sframe_bpf_rule_number(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                               __u64 offset, struct sframe_bpf_search* search) {
  const __u64 number = offset / SFRAME_BPF_GROUP_BYTES;
  if (number >= table->num_groups) return 0;
  const __u64 group = sframe_bpf_word(words, table->groups + (__u32)number);
  const __u32 block = (__u32)(offset / SFRAME_BPF_BLOCK_BYTES % 4), in_block = (__u32)(offset & 255);
  search->first = (__u32)group;
  if (block > 0) search->first += sframe_bpf_bits(group, 32, 8);
  if (block > 1) search->first += sframe_bpf_bits(group, 40, 8);
  if (block > 2) search->first += sframe_bpf_bits(group, 48, 8);
  search->count = (__u32)(group >> (32 + 8 * block)) & 255;
  search->word = search->number = 0;
  SFRAME_BPF_FORGET();
  /* The first row that starts later. */
  for (int i = 0; i < 8 && search->count > 0; ++i) {
    const __u32 row = sframe_bpf_row(words, table, search, search->first + search->count / 2);
    sframe_bpf_halve(search, (row & 255) <= in_block);
  }
  const __u32 first = search->first;
  if (first == 0 || first > table->num_rows) return 0;
  const __u32 rule = sframe_bpf_row(words, table, search, first - 1) >> 8;
  return rule == SFRAME_BPF_ESCAPE ? sframe_bpf_escape(words, table, search, first - 1) : rule;
}

SFRAME_BPF_INLINE struct sframe_bpf_value sframe_bpf_short_value(__u64 word, int first) {
  struct sframe_bpf_value value;
  const __u32 base = sframe_bpf_bits(word, first + 2, 5);
  value.kind = (__u16)sframe_bpf_bits(word, first, 2);
  value.base = base == SFRAME_BPF_CFA_IN_RULE && value.kind >= SFRAME_BPF_SUM ? (__u16)SFRAME_BPF_CFA_IN_WIDE
                                                                              : (__u16)base;
  value.offset = sframe_bpf_signed(word, first + 7, 9);
  return value;
}

/* The word of the rule that applies at the offset from the table's base. */
SFRAME_BPF_INLINE __u64 sframe_bpf_rule_word(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                             __u64 offset, struct sframe_bpf_search* search) {
  const __u32 number = sframe_bpf_rule_number(words, table, offset, search);
  return number < table->num_rules ? sframe_bpf_word(words, table->rules + number) : 0;
}

/* The rule with this word, of any kind but SFRAME_BPF_WIDE. */
SFRAME_BPF_INLINE void sframe_bpf_decode(__u64 word, struct sframe_bpf_rule* rule) {
  const struct sframe_bpf_value none = {0, 0, 0};
  rule->kind = word & 3;
  rule->signal_frame = rule->ra_signed = rule->key_b = 0;
  rule->cfa = rule->ra = rule->fp = none;
  if (rule->kind != SFRAME_BPF_ROW) return;
  rule->signal_frame = word >> 2 & 1;
  rule->ra_signed = word >> 3 & 1;
  rule->key_b = word >> 4 & 1;
  rule->cfa.kind = word >> 5 & 1 ? SFRAME_BPF_STORED : SFRAME_BPF_SUM;
  rule->cfa.base = (__u16)sframe_bpf_bits(word, 8, 8);
  rule->cfa.offset = sframe_bpf_signed(word, 16, 16);
  rule->ra = sframe_bpf_short_value(word, 32);
  rule->fp = sframe_bpf_short_value(word, 48);
}

/* The same of any kind. */
SFRAME_BPF_INLINE void sframe_bpf_decode_any(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                             __u64 word, struct sframe_bpf_rule* rule) {
  const __u32 number = (__u32)(word >> 32), at = table->wide + SFRAME_BPF_WIDE_WORDS * number;
  __u64 offsets;
  if ((word & 3) != SFRAME_BPF_WIDE) {
    sframe_bpf_decode(word, rule);
    return;
  }
  word = number < table->num_wide ? sframe_bpf_word(words, at) : 0;
  if ((word & 3) == SFRAME_BPF_WIDE) word = 0;
  sframe_bpf_decode(word & 0x3f, rule); /* the kinds and flags */
  if (rule->kind != SFRAME_BPF_ROW) return;
  rule->cfa.base = (__u16)sframe_bpf_bits(word, 8, 16);
  rule->ra.kind = (__u16)sframe_bpf_bits(word, 24, 2);
  rule->ra.base = (__u16)sframe_bpf_bits(word, 26, 16);
  rule->fp.kind = (__u16)sframe_bpf_bits(word, 42, 2);
  rule->fp.base = (__u16)sframe_bpf_bits(word, 44, 16);
  offsets = sframe_bpf_word(words, at + 1);
  rule->cfa.offset = (__s32)(__u32)offsets;
  rule->ra.offset = (__s32)(offsets >> 32);
  rule->fp.offset = (__s32)(__u32)sframe_bpf_word(words, at + 2);
}

/* The rule for a link address; kind SFRAME_BPF_NONE if the file has none for it. */
SFRAME_BPF_INLINE void sframe_bpf_find(sframe_bpf_words words, const struct sframe_bpf_table* table,
                                       __u64 address, struct sframe_bpf_rule* rule) {
  struct sframe_bpf_search search;
  const __u64 word = sframe_bpf_rule_word(words, table, address - table->base, &search);
  sframe_bpf_decode_any(words, table, word, rule);
}

#endif
