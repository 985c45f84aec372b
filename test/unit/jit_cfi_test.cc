// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from .eh_frame: of CFI assembled byte by byte (DWARF 5, section 6.4.2), of what make_eh_frame()
// writes, and of bytes that are damaged. The ABI is AMD64: r7 is SP, r6 FP, r16 RA.

#include "allocations.h"
#include "cfi_assembler.h"

#include "sframe/convert.h"
#include "sframe/jit/cfi.h"
#include "sframe/jit/eh_frame.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace jit_cfi_test {

using namespace sframe;
using jit::ErrorKind;
using test::Bytes;
using test::CfiAssembler;

constexpr std::uint64_t section_at = 0x20000;

/// CIE: code alignment 1, data alignment -8, RA r16; CFA = r7+8, RA at CFA-8.
Bytes cie(const char* augmentation = "zR", std::initializer_list<int> data = {0x1b}) {
  Bytes body;
  body.u8(1).text(augmentation).uleb(1).sleb(-8).uleb(16).uleb(data.size());
  return body.raw(data).raw({0x0c, 7, 8, 0x90, 1});
}

/// FDE: pcrel sdata4 start, size.
Bytes fde(const CfiAssembler& made, std::uint64_t start, std::uint32_t size,
          std::initializer_list<int> instructions) {
  Bytes body;
  body.u32(start - (section_at + made.next_body())).u32(size).uleb(0);
  return body.raw(instructions);
}

jit::Result<std::vector<jit::CfiFunction>> read(const CfiAssembler& made) {
  return jit::read_eh_frame(made.section().bytes(), section_at, Abi::amd64);
}

std::vector<FrameRow> rows_of(const jit::Rows& rows) {
  const auto section = Section::parse(rows.section(), 0);
  std::vector<FrameRow> found;
  auto cursor = section->rows(*section->fde(0));
  for (FrameRow row; cursor.next(row);) found.push_back(resolve_fixed(row, -8, 0));
  return found;
}

/// push %rbp; mov %rsp,%rbp; push %rbx; ...; pop %rbx; pop %rbp; ret
CfiAssembler with_frame() {
  CfiAssembler made;
  const std::size_t first = made.cie(cie());
  made.fde(first, fde(made, 0x1000, 0x20,
                      {0x41, 0x0e, 16, 0x86, 2, // advance 1; def_cfa_offset 16; r6 at CFA-16
                       0x43, 0x0d, 6,           // advance 3; def_cfa_register r6
                       0x41, 0x83, 3,           // advance 1; r3 at CFA-24
                       0x59, 0xc3,              // advance 25; restore r3
                       0x41, 0xc6, 0x0c, 7, 8}));
  made.fde(first, fde(made, 0x2000, 8, {}));
  return made;
}
const std::vector<FrameRow> rows_of_frame = {
    {0, Rule::value(7, 8), Rule::at_cfa(-8), {}, false},
    {1, Rule::value(7, 16), Rule::at_cfa(-8), Rule::at_cfa(-16), false},
    {4, Rule::value(6, 16), Rule::at_cfa(-8), Rule::at_cfa(-16), false},
    {31, Rule::value(7, 8), Rule::at_cfa(-8), {}, false}};

TEST(JitCfi, RowsAndSavedRegistersOfFdes) {
  const auto functions = read(with_frame());
  ASSERT_TRUE(functions) << message(functions.error().kind);
  ASSERT_EQ(2u, functions->size());
  const jit::CfiFunction& first = functions->front();
  EXPECT_EQ(0x1000u, first.start);
  EXPECT_EQ(0x20u, first.size);
  EXPECT_TRUE(first.is_fit_for_exceptions);
  ASSERT_TRUE(first.rows);
  EXPECT_EQ(rows_of_frame, rows_of(*first.rows));
  EXPECT_EQ((std::vector<jit::SavedRegister>{{5, 30, 3, -24}}),
            (std::vector(first.rows->saved().begin(), first.rows->saved().end())));
  EXPECT_EQ(0x2000u, functions->back().start);
  EXPECT_EQ(1u, rows_of(functions->back().rows.value()).size());
}

TEST(JitCfi, BytesAfterTheTerminatorAreIgnored) {
  CfiAssembler made = with_frame();
  made.terminator();
  made.bytes().raw({0x55, 0x48, 0x89, 0xe5, 0x41, 0x57}); // not CFI
  ASSERT_TRUE(read(made));
  EXPECT_EQ(2u, read(made)->size());
  EXPECT_TRUE(jit::read_eh_frame({}, 0)->empty());
}

/// What make_eh_frame() writes says the same again, for each ABI.
TEST(JitCfi, ReadsWhatIsMadeOfRows) {
  for (const Abi id : {Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x}) {
    const AbiTraits& abi = traits(id);
    const Rule ra = abi.fixed_ra_offset ? Rule::fixed() : Rule::at_cfa(-8);
    const std::vector<FrameRow> rows = {{0, Rule::value(abi.sp, 160), ra, {}, false},
                                        {4, Rule::value(abi.fp, 176), ra, Rule::at_cfa(-16), false},
                                        {70'000, Rule::value(abi.sp, 160), ra, {}, false}};
    const std::vector<jit::SavedRegister> saved = {{4, 300, 3, -24}, {8, 70'000, 12, -32}};
    const auto made = jit::Rows::make({.size = 80'000, .signal_frame = true}, rows, saved, id);
    ASSERT_TRUE(made) << abi.name;
    for (const auto place : {std::optional<std::uint64_t>(), std::optional(section_at)}) {
      const auto bytes = jit::make_eh_frame(0x10000, *made, place);
      const auto read = jit::read_eh_frame(bytes, section_at, id);
      ASSERT_TRUE(read && read->size() == 1 && read->front().rows) << abi.name;
      const jit::CfiFunction& function = read->front();
      EXPECT_EQ(0x10000u, function.start);
      EXPECT_TRUE(function.is_fit_for_exceptions);
      EXPECT_TRUE(std::ranges::equal(saved, function.rows->saved()));
      const auto section = Section::parse(function.rows->section(), 0);
      EXPECT_TRUE(section->fde(0)->signal_frame);
      for (const FrameRow& row : rows) {
        const auto found = section->find(row.offset);
        ASSERT_TRUE(found && *found);
        EXPECT_EQ(resolve_fixed(row, abi.fixed_ra_offset, 0),
                  resolve_fixed((*found)->row, abi.fixed_ra_offset, 0));
      }
    }
  }
}

TEST(JitCfi, RulesThatAreNoRows) {
  CfiAssembler made;
  const std::size_t first = made.cie(cie());
  // CFA: breg7 8; lit1; mul
  const std::size_t bad = made.fde(first, fde(made, 0x1000, 8, {0x0f, 4, 0x77, 8, 0x31, 0x1e}));
  made.fde(first, fde(made, 0x2000, 8, {}));
  made.fde(first, fde(made, 0x3000, 0, {}));
  const auto functions = read(made);
  ASSERT_TRUE(functions && functions->size() == 3);
  const jit::CfiFunction& function = functions->front();
  EXPECT_EQ(0x1000u, function.start);
  EXPECT_EQ(8u, function.size);
  ASSERT_FALSE(function.rows);
  EXPECT_EQ(ErrorKind::unrepresentable, function.rows.error().kind);
  EXPECT_EQ(bad, function.rows.error().offset);
  EXPECT_NE(std::string_view::npos, function.rows.error().detail.find("CFA"));
  EXPECT_TRUE((*functions)[1].rows);
  EXPECT_EQ(ErrorKind::bad_range, (*functions)[2].rows.error().kind);
}

/// Walks need neither handlers nor other registers: there are rows.
TEST(JitCfi, WhatRowsDoNotKeepForExceptions) {
  CfiAssembler made;
  const std::size_t plain = made.cie(cie());
  made.fde(plain, fde(made, 0x1000, 8, {0x10, 3, 2, 0x76, 0x58})); // r3: expression breg6 -40
  made.fde(plain, fde(made, 0x2000, 8, {0x09, 3, 12}));            // r3 is in r12
  made.fde(plain, fde(made, 0x3000, 8, {0x08, 3, 0x07, 0}));       // r3 unchanged, r0 undefined
  const std::size_t with_lsda = made.cie(cie("zLR", {0x1b, 0x1b}));
  Bytes body;
  body.u32(0x4000 - (section_at + made.next_body())).u32(8).uleb(4).u32(0x100);
  made.fde(with_lsda, body);
  const auto functions = read(made);
  ASSERT_TRUE(functions && functions->size() == 4);
  for (const jit::CfiFunction& one : *functions) {
    ASSERT_TRUE(one.rows) << one.start;
    EXPECT_TRUE(one.rows->saved().empty());
    EXPECT_EQ(one.start == 0x3000, one.is_fit_for_exceptions) << one.start;
  }
}

TEST(JitCfi, MalformedBytesAreRefusedWithTheirPlace) {
  const auto error_of = [](std::initializer_list<int> instructions) {
    CfiAssembler made;
    const std::size_t first = made.cie(cie());
    made.fde(first, fde(made, 0x2000, 8, {}));
    made.fde(first, fde(made, 0x1000, 8, instructions));
    const auto functions = read(made);
    return functions ? jit::Error{} : functions.error();
  };
  const std::uint64_t at = error_of({0x3f}).offset; // no such instruction
  EXPECT_EQ(ErrorKind::malformed_cfi, error_of({0x3f}).kind);
  EXPECT_EQ(cfi::message(cfi::ErrorKind::unknown_opcode), error_of({0x3f}).detail);
  EXPECT_EQ(at + 1, error_of({0x00, 0x3f}).offset);
  EXPECT_EQ(cfi::message(cfi::ErrorKind::state_stack_empty), error_of({0x0b}).detail);
  EXPECT_EQ(cfi::message(cfi::ErrorKind::past_end), error_of({0x49}).detail);
  // An FDE of no CIE; an entry past the end; a start that is elsewhere.
  CfiAssembler lost;
  lost.fde(0x1000, fde(lost, 0x1000, 8, {}));
  EXPECT_EQ(cfi::message(cfi::ErrorKind::bad_cie_pointer), read(lost).error().detail);
  CfiAssembler indirect;
  indirect.fde(indirect.cie(cie("zR", {0x9b})), fde(indirect, 0x1000, 8, {}));
  EXPECT_EQ(cfi::message(cfi::ErrorKind::indirect_start), read(indirect).error().detail);
}

/// What is made of the rows says the same.
void expect_same_again(const jit::CfiFunction& function) {
  const auto bytes = jit::make_eh_frame(function.start, *function.rows);
  const auto again = jit::read_eh_frame(bytes, section_at, Abi::amd64);
  ASSERT_TRUE(again) << again.error().detail << " at " << again.error().offset;
  ASSERT_TRUE(again->size() == 1 && again->front().rows);
  EXPECT_EQ(function.start, again->front().start);
  EXPECT_TRUE(std::ranges::equal(function.rows->section(), again->front().rows->section()));
  EXPECT_TRUE(std::ranges::equal(function.rows->saved(), again->front().rows->saved()));
}

/// Every truncation and many damages: errors or rows, and what is read is inside of the bytes.
TEST(JitCfi, AnyBytes) {
  const CfiAssembler made = with_frame();
  const auto whole = made.section().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto functions = jit::read_eh_frame(part, section_at, Abi::amd64);
    if (functions) {
      EXPECT_LE(functions->size(), 1u) << size;
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> damaged(whole.begin(), whole.end());
    for (unsigned n = 1 + random() % 4; n; --n) damaged[random() % damaged.size()] = std::byte(random());
    const auto functions = jit::read_eh_frame(damaged, section_at, Abi::amd64);
    if (!functions) {
      EXPECT_NE("", functions.error().detail);
      EXPECT_LE(functions.error().offset, damaged.size());
      continue;
    }
    for (const jit::CfiFunction& one : *functions)
      if (one.rows) {
        EXPECT_EQ(one.size, one.rows->code_size());
        expect_same_again(one);
      }
  }
}

TEST(JitCfi, OutOfMemory) {
  const CfiAssembler made = with_frame();
  EXPECT_GT(test::with_little_memory([&] {
              const auto functions = read(made);
              test::limit_allocations(std::nullopt);
              if (!functions) {
                EXPECT_EQ(ErrorKind::out_of_memory, functions.error().kind);
              }
              return functions && functions->front().rows && functions->back().rows;
            }),
            3);
}

} // namespace jit_cfi_test
