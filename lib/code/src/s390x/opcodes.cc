// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every opcode of the z/Architecture Principles of Operation (appendix B), in two layers: first the registers
// that each instruction writes; then, replacing rows of the first, the instructions that need an exact
// translation. If a page of opcodes is mostly of one kind, its first row covers all of it, so that later
// additions are treated as that kind. Instructions without a handler are assumed to write the condition code.

#include "opcodes.h"

#include <array>

namespace sframe::code::s390x {
namespace {

constexpr std::uint8_t none = 0; ///< prefix of the opcodes of one byte

constexpr OpcodeRow rows[] = {
    // Registers written.
    {none,
     "10 11 12 13 14 16 17 18 1a 1b 1e 1f 43 48 4a 4b 4c 4f 51 54 56 57 58 5a 5b 5e 5f 71 83 88 89 8a 8b"
     "b1 bf",
     r1},
    {none, "1c 1d 5c 5d 8c 8d 8e 8f", r1 | r1_next},
    {none, "0e 0f a8 a9", r1 | r1_next | r2 | r2_next},
    {none,
     "20 21 22 23 24 25 2a 2b 2c 2d 2e 2f 30 31 32 33 34 35 38 3a 3b 3c 3d 3e 3f 6a 6b 6c 6d 6e 6f 78 7a"
     "7b 7c 7d 7e 7f",
     f1},
    {none, "26 27 36 37 67", f1 | f1_next},
    {none, "d0 dd", low},
    {none,
     "04 15 19 29 39 49 55 59 69 79 80 82 91 95 99 9a ae af b7 bd c5 c7 d5 d9 da db"
     "ee f9",
     nothing},
    {0x01, "01 02", low},
    {0x01, "04 07 0b 0c 0d 0e ff", nothing},
    {0x01, "0a", low, perform_float_operation},
    {0xa5, "", r1},
    {0xa7, "08 0a 0c 0d", r1},
    {0xa7, "00 01 02 03 0e 0f", nothing},
    {0xb2, "", nothing},
    {0xb2, "44 45", f1},
    {0xb2, "2d", f1 | f1_next},
    {0xb2, "22 23 24 26 27 29 4b 4f 52 58 5a e4 e5 ec ed", r1},
    {0xb2, "4a 50", r1 | r1_next},
    {0xb2, "a5", r1 | r1_next | r2},
    {0xb2, "57 a6 a7", r1 | r1_next | r2 | r2_next},
    {0xb2, "63", r1 | r1_next | r2 | r2_next | low},
    {0xb2, "55 5d 5e", r1 | r2},
    {0xb2, "41", r1 | r2 | r2_next},
    {0xb2, "0b 1a 2c 7d 8f b0", low},
    {0xb3, "", f1},
    {0xb3,
     "05 06 07 16 25 26 36 40 41 42 43 45 46 47 4a 4b 4c 4d 60 61 62 63 65 67 76 92 96 a2 a6 b6 c6 d8 d9 da"
     "db dc dd de df f9 fa fb fe",
     f1 | f1_next},
    {0xb3, "fd ff", f1 | f1_next | f3 | f3_next},
    {0xb3, "53 5b f5 f7", f1 | f3},
    {0xb3, "0e 0f 1e 1f 2e 2f 38 39 3a 3c 3d 3e 3f", f3},
    {0xb3, "3b", f3 | f3_next},
    {0xb3, "8c 98 99 9a 9c 9d 9e a8 a9 aa ac ad ae b8 b9 ba c8 c9 ca e1 e2 e3 e5 e7 e9 ed ef", r1},
    {0xb3, "ea eb", r1 | r1_next},
    {0xb3, "08 09 18 19 48 49 69 84 85 e0 e4 e8 ec f4 fc", nothing},
    {0xb9, "", r1},
    {0xb9, "51 52 53", f1},
    {0xb9, "59 5a 5b", f1 | f1_next},
    {0xb9, "0d 1d 83 86 87 8a 96 97 ec", r1 | r1_next},
    {0xb9, "90 91 92 93 bd bf", r1 | r1_next | r2},
    {0xb9, "2a 2b 2e 2f 38 39 3c b0 b1 b2 b3", r1 | r1_next | r2 | r2_next},
    {0xb9, "29 2d", r1 | r1_next | r2 | r2_next | r3 | r3_next},
    {0xb9, "8d be", r1 | r2},
    {0xb9, "aa", r1 | r3},
    {0xb9, "af", r2},
    {0xb9, "1e 3a", r2 | r2_next},
    {0xb9, "3e 3f", r1 | r2 | r2_next},
    {0xb9, "3b", low},
    {0xb9, "0e 20 25 28 2c 30 31 60 61 72 73 8b 8e 8f 9e 9f cd cf dd df", nothing},
    {0xc0, "06 07 08 09 0b 0c 0d", r1},
    {0xc2, "00 01 05 09 0b", r1},
    {0xc2, "0c 0d", nothing},
    {0xc4, "02 04 05 06 08 0c 0d 0e", r1},
    {0xc4, "07 0b 0f", nothing},
    {0xc6, "02 04 05 06 07 08 0a 0c 0d 0e 0f", nothing},
    {0xc8, "02 06 07 0f", r1},
    {0xc8, "04 05", r1 | r1_next},
    {0xc8, "01", r1 | low},
    {0xc8, "00", nothing},
    {0xcc, "08 0a 0b", r1},
    {0xcc, "0d 0f", nothing},
    {0xe3, "", r1},
    {0xe3, "0d 1d 5c 84 86 87 96 97", r1 | r1_next},
    {0xe3, "20 21 30 31 34 36 4d 55 59 79 cd cf", nothing},
    {0xe5, "", nothing},
    {0xe6, "", v1},
    {0xe6, "34 35 37", v5},
    {0xe6, "50 52", r1},
    {0xe6, "5f 77 7f", nothing},
    {0xe7, "", v1},
    {0xe7, "21 27", r1},
    {0xe7, "1a 1b 3f ca cb d8 d9 db", nothing},
    {0xeb, "", r1},
    {0xeb, "8e 8f", r1 | r1_next | r2 | r2_next},
    {0xeb, "0f 20 21 23 2b 2f 51 55 9a c0", nothing},
    {0xec, "42 46 4e 51 54 56 57 5d d8 da", r1},
    {0xec, "70 71 72 73", nothing},
    {0xed, "04 0a 0b 0c 0d 14 15 17 1a 1b 1c 1d 24 34 35 37 64", f1},
    {0xed, "05 06 07 25 26", f1 | f1_next},
    {0xed, "0e 0f 1e 1f 2e 2f 38 39 3a 3c 3d 3e 3f 40 41 aa ae", f3},
    {0xed, "3b 48 49 ab af", f3 | f3_next},
    {0xed, "08 09 10 11 12 18 19 50 51 54 55 58 59", nothing},

    // Control flow.
    {none, "00", nothing, stop},
    {none, "05 0c 0d", nothing, branch_and_save},
    {none, "06", nothing, branch_on_count, 4},
    {none, "07", nothing, branch_register},
    {none, "0a", nothing, supervisor_call},
    {none, "af", nothing, monitor_call},
    {none, "0b", nothing, set_mode_and_branch},
    {none, "44", nothing, execute},
    {none, "45 4d", nothing, branch_and_save_memory},
    {none, "46 86 87", nothing, branch_on_count_memory},
    {none, "47", nothing, branch_memory},
    {none, "84 85", nothing, branch_relative_on_index},
    {0xa7, "04", nothing, branch_relative, 16},
    {0xa7, "05", nothing, call_relative, 16},
    {0xa7, "06", nothing, branch_relative_on_count, 4},
    {0xa7, "07", nothing, branch_relative_on_count, 8},
    {0xb9, "46", nothing, branch_on_count, 8},
    {0xc0, "04", nothing, branch_relative, 32},
    {0xc0, "05", nothing, call_relative, 32},
    {0xc6, "00", nothing, execute},
    {0xcc, "06", nothing, branch_relative_on_index},
    {0xe3, "46", nothing, branch_on_count_memory},
    {0xe3, "47", nothing, branch_indirect},
    {0xeb, "44 45", nothing, branch_on_count_memory},
    {0xec, "44 45", nothing, branch_relative_on_index},
    {0xec, "64 76", nothing, compare_and_branch_relative, signed_operands},
    {0xec, "65 77", nothing, compare_and_branch_relative, unsigned_operands},
    {0xec, "7c 7e", nothing, compare_immediate_and_branch_relative, signed_operands},
    {0xec, "7d 7f", nothing, compare_immediate_and_branch_relative, unsigned_operands},
    {0xec, "e4 e5 f6 f7", nothing, compare_and_branch, 32},
    {0xec, "fc fd fe ff", nothing, compare_and_branch, 12},

    // Memory.
    {none, "40", nothing, store_bytes, 2},
    {none, "42", nothing, store_bytes, 1},
    {none, "50 70", nothing, store_bytes, 4},
    {none, "4e", nothing, store_bytes, 8},
    {none, "60", nothing, store_word, 1},
    {none, "68", nothing, load_word, 1},
    {none, "90 9b b6", nothing, store_multiple, 4},
    {none, "92 93 94 96 97 ac ad", nothing, store_bytes_based, 1},
    {none, "98", nothing, load_multiple},
    {none, "be", nothing, store_bytes_based, 4},
    {none, "ba", r1, store_bytes_based, 4},
    {none, "bb", r1 | r1_next, store_bytes_based, 8},
    {none, "d1 d2 d3 d4 d6 d7 dc de e2 e8 ea", nothing, store_string},
    {none, "df", low, store_string},
    {none, "e1 e9", nothing, store_bytes_based, 16},
    {none, "ef", nothing, load_multiple},
    {none, "f0 f1 f2 f3 f8 fa fb fc fd", nothing, store_decimal},
    {0xb2, "05 7c", nothing, store_bytes_based, 8},
    {0xb2, "78", nothing, store_bytes_based, 16},
    {0xb2, "9c", nothing, store_bytes_based, 4},
    {0xe3, "04", nothing, load_word},
    {0xe3, "24 25", nothing, store_word},
    {0xe3, "26 2f 49", nothing, store_bytes, 8},
    {0xe3, "2e", nothing, store_bytes, 16},
    {0xe3, "3e 50 cb", nothing, store_bytes, 4},
    {0xe3, "3f 70 c7", nothing, store_bytes, 2},
    {0xe3, "72 c3", nothing, store_bytes, 1},
    {0xe3, "14", nothing, load_narrow_signed, 4},
    {0xe3, "15", nothing, load_narrow_signed, 2},
    {0xe3, "77", nothing, load_narrow_signed, 1},
    {0xe3, "16", nothing, load_narrow_unsigned, 4},
    {0xe3, "91", nothing, load_narrow_unsigned, 2},
    {0xe3, "90", nothing, load_narrow_unsigned, 1},
    {0xe3, "8e", nothing, store_pair},
    {0xe3, "8f", nothing, load_pair},
    {0xe5, "44", nothing, store_bytes_based, 2},
    {0xe5, "48", nothing, store_bytes_based, 8},
    {0xe5, "4c", nothing, store_bytes_based, 4},
    {0xe6, "09", nothing, store_bytes, 2},
    {0xe6, "0a", nothing, store_bytes, 8},
    {0xe6, "0b", nothing, store_bytes, 4},
    {0xe6, "0e 0f", nothing, store_bytes, 16},
    {0xe6, "3c 3d 3f", nothing, store_bytes_based, 16},
    {0xe7, "08", nothing, store_bytes, 1},
    {0xe7, "09", nothing, store_bytes, 2},
    {0xe7, "0a", nothing, store_bytes, 8},
    {0xe7, "0b", nothing, store_bytes, 4},
    {0xe7, "0e", nothing, store_bytes, 16},
    {0xe7, "36", nothing, load_multiple_vectors},
    {0xe7, "3e", nothing, store_multiple, 16},
    {0xeb, "04", nothing, load_multiple_words},
    {0xeb, "24", nothing, store_multiple_words},
    {0xeb, "25", nothing, store_multiple, 8},
    {0xeb, "26 90 9b", nothing, store_multiple, 4},
    {0xeb, "2c 2d", nothing, store_bytes_based, 4},
    {0xeb, "52 54 56 57", nothing, store_bytes_based, 1},
    {0xeb, "6a 6e", nothing, store_bytes_based, 4},
    {0xeb, "7a 7e", nothing, store_bytes_based, 8},
    {0xeb, "96 98", nothing, load_multiple},
    {0xeb, "14", r1, store_bytes_based, 4},
    {0xeb, "30", r1, store_bytes_based, 8},
    {0xeb, "31", r1 | r1_next, store_bytes_based, 8},
    {0xeb, "3e", r1 | r1_next, store_bytes_based, 16},
    {0xeb, "e1 f3", nothing, store_bytes_based, 4},
    {0xeb, "e3", nothing, store_bytes_based, 8},
    {0xeb, "e4 e6 e7 e8 ea", r1, store_bytes_based, 8},
    {0xeb, "f4 f6 f7 f8 fa", r1, store_bytes_based, 4},
    {0xed, "65", nothing, load_word, 1},
    {0xed, "66", nothing, store_bytes, 4},
    {0xed, "67", nothing, store_word, 1},
    {0xed, "a8 a9 ac ad", nothing, store_string},

    // Arithmetic.
    {none, "12 14 16 18", nothing, combine_same},
    {none, "28", nothing, move_float},
    {none, "41", nothing, load_address},
    {0xa5, "0c", nothing, load_logical_immediate, 48},
    {0xa5, "0d", nothing, load_logical_immediate, 32},
    {0xa5, "0e", nothing, load_logical_immediate, 16},
    {0xa5, "0f", nothing, load_logical_immediate, 0},
    {0xa5, "04", nothing, and_immediate, 48},
    {0xa5, "05", nothing, and_immediate, 32},
    {0xa5, "06", nothing, and_immediate, 16},
    {0xa5, "07", nothing, and_immediate, 0},
    {0xa7, "09", nothing, load_immediate, 16},
    {0xa7, "0b", nothing, add_immediate, 16},
    {0xb3, "c1", nothing, move_to_float},
    {0xb3, "cd", nothing, move_from_float},
    {0xb9, "02", nothing, move_and_test},
    {0xb9, "04", nothing, move},
    {0xb9, "06", nothing, move_narrow_signed, 1},
    {0xb9, "07", nothing, move_narrow_signed, 2},
    {0xb9, "14", nothing, move_narrow_signed, 4},
    {0xb9, "84", nothing, move_narrow_unsigned, 1},
    {0xb9, "85", nothing, move_narrow_unsigned, 2},
    {0xb9, "16", nothing, move_narrow_unsigned, 4},
    {0xb9, "08 0a", nothing, add_register},
    {0xb9, "09 0b", nothing, subtract_register},
    {0xb9, "e8 ea", nothing, add_register_distinct},
    {0xb9, "e9 eb", nothing, subtract_register_distinct},
    {0xb9, "21", nothing, compare_logical_register},
    {0xb9, "80 81", nothing, combine_same},
    {0xc0, "00", nothing, load_address_relative},
    {0xc0, "01", nothing, load_immediate, 32},
    {0xc0, "0a", nothing, and_immediate_long, 32},
    {0xc0, "0b", nothing, and_immediate_long, 0},
    {0xc0, "0e", nothing, load_logical_immediate_long, 32},
    {0xc0, "0f", nothing, load_logical_immediate_long, 0},
    {0xc2, "04", nothing, subtract_immediate},
    {0xc2, "08 0a", nothing, add_immediate, 32},
    {0xc2, "0e 0f", nothing, compare_logical_immediate},
    {0xe3, "08 0a", nothing, add_memory, 8},
    {0xe3, "18", nothing, add_memory, 4},
    {0xe3, "09 0b", nothing, subtract_memory},
    {0xe3, "71", nothing, load_address},
    {0xeb, "0d", nothing, shift_left},
    {0xec, "55 59", nothing, rotate_and_insert},
    {0xec, "d9 db", nothing, add_immediate_distinct},
};

/// The byte with the second part of an opcode, by its first byte; 0 = none.
enum class Second : std::uint8_t { nowhere, byte_1, nibble_of_byte_1, byte_5 };

struct Page {
  std::uint8_t prefix;
  Second second;
};
constexpr Page pages[] = {
    {none, Second::nowhere},          {0x01, Second::byte_1},           {0xb2, Second::byte_1},
    {0xb3, Second::byte_1},           {0xb9, Second::byte_1},           {0xe5, Second::byte_1},
    {0xa5, Second::nibble_of_byte_1}, {0xa7, Second::nibble_of_byte_1}, {0xc0, Second::nibble_of_byte_1},
    {0xc2, Second::nibble_of_byte_1}, {0xc4, Second::nibble_of_byte_1}, {0xc6, Second::nibble_of_byte_1},
    {0xc8, Second::nibble_of_byte_1}, {0xcc, Second::nibble_of_byte_1}, {0xe3, Second::byte_5},
    {0xe6, Second::byte_5},           {0xe7, Second::byte_5},           {0xeb, Second::byte_5},
    {0xec, Second::byte_5},           {0xed, Second::byte_5},
};
constexpr unsigned opcodes_per_page = 256;

/// The lookup table: rows by page and second part.
struct Lookup {
  std::array<std::uint8_t, opcodes_per_page> page_of{}; ///< by first byte; 0 = the page without second parts
  std::array<std::array<std::uint8_t, opcodes_per_page>, std::size(pages)> row_of{}; ///< number of a row + 1

  consteval Lookup() {
    for (std::size_t page = 1; page < std::size(pages); ++page)
      page_of[pages[page].prefix] = static_cast<std::uint8_t>(page);
    for (std::size_t row = 0; row < std::size(rows); ++row)
      enter(row_of[page_of[rows[row].prefix]], rows[row].opcodes, static_cast<std::uint8_t>(row + 1));
  }

private:
  static consteval unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }
  static consteval void enter(std::array<std::uint8_t, opcodes_per_page>& page, std::string_view opcodes,
                              std::uint8_t row) {
    if (opcodes.empty()) page.fill(row);
    for (std::size_t at = 0; at < opcodes.size();) {
      if (opcodes[at] == ' ') {
        ++at;
        continue;
      }
      page[digit(opcodes[at]) * 16 + digit(opcodes[at + 1])] = row;
      at += 2;
    }
  }
};
static_assert(std::size(rows) < 255, "the number of a row has to fit a byte");
constexpr Lookup lookup;

} // namespace

const OpcodeRow* find_row(Word word) {
  const std::uint8_t page = lookup.page_of[word.byte(0)];
  unsigned second = word.byte(0);
  switch (pages[page].second) {
  case Second::nowhere: break;
  case Second::byte_1: second = word.byte(1); break;
  case Second::nibble_of_byte_1: second = word.byte(1) & 15; break;
  case Second::byte_5: second = word.byte(5); break;
  }
  const std::uint8_t row = lookup.row_of[page][second];
  return row ? &rows[row - 1] : nullptr;
}

} // namespace sframe::code::s390x
