// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::return_addresses on AMD64: a function that ends with a call covers the padding instruction after
// it, where the return address is, and nothing else ever.

#include "elf_builder.h"
#include "generate_frames.h"

#include <sframe/base/budget.h>

#include <algorithm>

namespace sframe::generate {
namespace generate_return_addresses_test {

using Code = std::vector<std::byte>;

Code code_of(std::initializer_list<int> bytes) {
  Code code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return code;
}

/// A call, 5 bytes, and what follows it.
Code call_and(std::initializer_list<int> after) {
  Code code = code_of({0xe8, 0, 0, 0, 0});
  for (const int byte : after) code.push_back(static_cast<std::byte>(byte));
  return code;
}

/// An executable with code at `base`, and more of it further on.
struct Program {
  explicit Program(const Code& code, const Code& more = {}, std::uint64_t more_at = 0,
                   Budget* budget = nullptr)
      : bytes([&] {
          test::TestElf elf;
          elf.type = elf::et_exec;
          elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, base, code, 0});
          if (!more.empty()) elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, more_at, more, 0});
          return elf.build();
        }()),
        image(*elf::Image::parse(bytes, budget)) {
    ranges = {{base, code.size()}};
    if (!more.empty()) ranges.push_back({more_at, more.size()});
  }

  Result convert(std::initializer_list<const Frames*> sections, Options options = {}) const {
    options.return_addresses = true;
    CfiInput input = input_of(sections);
    input.code = ranges;
    input.image = &image;
    input.plts = plts;
    return generate::convert(input, options);
  }
  Result convert(const Frames& frames, const Options& options = {}) const {
    return convert({&frames}, options);
  }

  std::vector<std::byte> bytes;
  elf::Image image;
  std::vector<AddressRange> ranges; ///< CfiInput::code
  std::vector<Plt> plts;
};

/// One function of five bytes at `base`.
Frames five_bytes() {
  Frames frames;
  frames.fde(base, 5);
  return frames;
}

/// The first function's size, `extended` bytes more than the five that it has; the report is of five bytes.
void expect_extended(const Result& result, std::uint32_t extended) {
  ASSERT_GE(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].start, base);
  EXPECT_EQ(result.functions[0].size, 5 + extended);
  EXPECT_EQ(result.functions[0].rows, std::vector<FrameRow>{sp_row(0, 8)});
  EXPECT_EQ(result.report.extended, extended ? 1u : 0u);
  EXPECT_TRUE(result.report.complete());
  EXPECT_TRUE(result.report.left_out.empty());
  EXPECT_EQ(result.report.contradiction(), nullptr);
}

// One instruction is enough for one return address. A nop is as long as 15 bytes; zeros are no instruction,
// and one byte of them is taken.
TEST(GenerateReturnAddresses, OnePaddingInstruction) {
  const std::pair<Code, std::uint32_t> paddings[] = {
      {code_of({0x90, 0x90, 0x90}), 1},
      {code_of({0x66, 0x90, 0x90}), 2},
      {code_of({0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90}), 9},
      {code_of({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90}), 15},
      {code_of({0xcc, 0xcc}), 1},
      {code_of({0, 0, 0}), 1},
  };
  for (const auto& [padding, size] : paddings) {
    Code code = call_and({});
    code.insert(code.end(), padding.begin(), padding.end());
    const Result result = Program(code).convert(five_bytes());
    expect_extended(result, size);
    EXPECT_EQ(result.report.pc_bytes.total, 5u);
    EXPECT_EQ(result.report.pc_bytes.covered, 5u);
    EXPECT_EQ(result.report.functions.converted, 1u);
  }
}

TEST(GenerateReturnAddresses, AnIndirectCall) {
  // call *0(%rip)
  Frames frames;
  frames.fde(base, 6);
  const Result result = Program(code_of({0xff, 0x15, 0, 0, 0, 0, 0x90})).convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].size, 7u);
}

// The padding may be the last byte of the code, and of the file's bytes for it.
TEST(GenerateReturnAddresses, PaddingThatEndsTheCode) {
  expect_extended(Program(call_and({0x90})).convert(five_bytes()), 1);
}

TEST(GenerateReturnAddresses, OnlyWithTheOptionAndTheCode) {
  const Program program(call_and({0x90}));
  CfiInput input = input_of({});
  const Frames frames = five_bytes();
  input = input_of({&frames});
  input.code = program.ranges;
  expect_extended(generate::convert(input, {.return_addresses = true, .wanted = {}}), 0); // no image
  input.image = &program.image;
  expect_extended(generate::convert(input), 0);
  expect_extended(generate::convert(input, {.return_addresses = true, .wanted = {}}), 1);
}

TEST(GenerateReturnAddresses, NotAfterOtherInstructions) {
  Frames frames;
  frames.fde(base, 5);
  // Five nops; xor, ret and two nops; a jump; a call that is not the last.
  for (const Code& code :
       {code_of({0x90, 0x90, 0x90, 0x90, 0x90, 0x90}), code_of({0x31, 0xc0, 0x90, 0x90, 0xc3, 0x90}),
        code_of({0xe9, 0, 0, 0, 0, 0x90}), code_of({0xff, 0xd0, 0x90, 0x90, 0x90, 0x90})})
    expect_extended(Program(code).convert(frames), 0);
}

TEST(GenerateReturnAddresses, NotOverCode) {
  for (const Code& code : {call_and({0xc3}), call_and({0x55, 0x90}), call_and({0x01, 0, 0})})
    expect_extended(Program(code).convert(five_bytes()), 0);
}

// Instructions are decoded from the last row on: what is in front of it may be no code.
TEST(GenerateReturnAddresses, FromTheLastRow) {
  Frames frames;
  // 0x06 is no instruction in 64-bit code; push %rax, and the row after it; the call.
  frames.fde(base, 7, Bytes().raw({0x42, 0x0e, 16}));
  const Result result = Program(code_of({0x06, 0x50, 0xe8, 0, 0, 0, 0, 0x90, 0x90})).convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].size, 8u);
  EXPECT_EQ(result.functions[0].rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(2, 16)}));

  Frames one_row;
  one_row.fde(base, 7);
  EXPECT_EQ(Program(code_of({0x06, 0x50, 0xe8, 0, 0, 0, 0, 0x90, 0x90})).convert(one_row).functions[0].size,
            7u);
}

// What other CFI describes is not padding, whatever its instructions, whichever section it is in, and though
// it is not converted.
TEST(GenerateReturnAddresses, NotOverWhatIsDescribed) {
  const Program program(call_and({0x90, 0x90, 0x90, 0x90}));
  Frames with_next = five_bytes();
  with_next.fde(base + 5, 2);
  expect_extended(program.convert(with_next), 0);
  expect_extended(
      program.convert(with_next, {.wanted = [](const cfi::Fde& fde) { return fde.start == base; }}), 0);

  Frames debug(SectionKind::debug_frame);
  debug.fde(base + 5, 2);
  const Frames frames = five_bytes();
  expect_extended(program.convert({&frames, &debug}), 0);

  // A byte further on: there is room for one nop, and for no longer one.
  Frames gap = five_bytes();
  gap.fde(base + 6, 2);
  expect_extended(program.convert(gap), 1);
  expect_extended(Program(call_and({0x66, 0x90, 0x90, 0x90})).convert(gap), 0);
}

TEST(GenerateReturnAddresses, NotOverStubs) {
  Program program(call_and({0x90, 0x90, 0x90, 0x90}));
  program.plts = {{{base + 5, 4}, {}}};
  expect_extended(program.convert(five_bytes()), 0);
  expect_extended(program.convert(five_bytes(), {.plt = false, .wanted = {}}), 0);
  program.plts = {{{base + 6, 3}, {}}};
  expect_extended(program.convert(five_bytes()), 1);
}

// An address is described once: a function within another one has no padding after it.
TEST(GenerateReturnAddresses, NotInsideAnotherFunction) {
  Code code(16, std::byte(0x90));
  std::ranges::copy(call_and({}), code.begin() + 4);
  Frames frames;
  frames.fde(base, 16).fde(base + 4, 5);
  const Result result = Program(code).convert(frames);
  ASSERT_EQ(result.functions.size(), 3u);
  EXPECT_EQ(result.functions[1].start, base + 4);
  EXPECT_EQ(result.functions[1].size, 5u);
  EXPECT_EQ(result.functions[2].start, base + 9);
  EXPECT_EQ(result.report.extended, 0u);
}

// The part of a function in front of another one does not end it.
TEST(GenerateReturnAddresses, NotBeforeTheEndOfTheFde) {
  Frames frames;
  // Rows of five bytes, then a CFA that no row represents (DW_OP_lit1).
  frames.fde(base, 8, Bytes().raw({0x45, 0x0f, 1, 0x31}));
  const Result result = Program(call_and({0x90, 0x90, 0x90, 0x90})).convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].size, 5u);
  EXPECT_EQ(result.report.extended, 0u);
  EXPECT_EQ(result.report.pc_bytes.covered, 5u);
  EXPECT_EQ(result.report.pc_bytes.total, 8u);
}

TEST(GenerateReturnAddresses, NotOutsideTheCode) {
  Program program(call_and({0x90, 0x90}));
  program.ranges = {{base, 5}};
  expect_extended(program.convert(five_bytes()), 0);
  program.ranges = {{base, 3}}; // the function is longer than its section
  expect_extended(program.convert(five_bytes()), 0);
  program.ranges = {{base - 0x100, 0x80}, {base, 6}};
  expect_extended(program.convert(five_bytes()), 1);
  program.ranges = {}; // not known
  expect_extended(program.convert(five_bytes()), 0);
  // The sizes of sections may be more than the file has bytes.
  Program cut(call_and({}));
  cut.ranges = {{base, 0x100}};
  expect_extended(cut.convert(five_bytes()), 0);
}

// The call is in memory that has no bytes in the file, in part.
TEST(GenerateReturnAddresses, CodeThatIsNotInTheFile) {
  Program program(code_of({0xe8, 0, 0}), code_of({0x90, 0x90}), base + 5);
  program.ranges = {{base, 7}};
  expect_extended(program.convert(five_bytes()), 0);
}

// A function has 4 GiB - 1 bytes at most, the padding included.
TEST(GenerateReturnAddresses, UpToTheLargestFunction) {
  constexpr std::uint64_t limit = 0xffffffff;
  for (const std::uint64_t size : {limit - 1, limit}) {
    Frames frames;
    Bytes rows; // DW_CFA_advance_loc4 to the call, DW_CFA_def_cfa_offset
    rows.u8(0x04).u32(size - 5).raw({0x0e, 16});
    frames.fde(base, size, rows);
    Program program(code_of({0x90}), call_and({0x90, 0x90}), base + size - 5);
    program.ranges = {{base, size + 2}};
    const Result result = program.convert(frames);
    ASSERT_EQ(result.functions.size(), 1u);
    EXPECT_EQ(result.functions[0].size, limit);
    EXPECT_EQ(result.report.extended, size == limit ? 0u : 1u);
    EXPECT_TRUE(result.report.complete());
  }
}

// Decoding costs code_steps; what is past the budget is not extended.
TEST(GenerateReturnAddresses, WithinTheBudget) {
  const Code code = call_and({0x90});
  Budget some(Limits::standard, 1 << 20);
  expect_extended(Program(code, {}, 0, &some).convert(five_bytes()), 1);
  EXPECT_LT(some.left(Resource::code_steps), Budget(Limits::standard, 1 << 20).left(Resource::code_steps));
  Budget none(Limits::standard, 1 << 20);
  ASSERT_TRUE(none.take(Resource::code_steps, none.left(Resource::code_steps)));
  expect_extended(Program(code, {}, 0, &none).convert(five_bytes()), 0);
}

// Counts are the same with threads.
TEST(GenerateReturnAddresses, ManyFunctions) {
  constexpr std::size_t count = 20'000;
  Code code;
  Frames frames;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::byte byte : call_and({0x90, 0x90, 0x90})) code.push_back(byte);
    frames.fde(base + i * 8, 5);
  }
  const Program program(code);
  for (const unsigned threads : {1u, 3u}) {
    const Result result = program.convert(frames, {.wanted = {}, .threads = threads});
    EXPECT_EQ(result.report.extended, count);
    ASSERT_EQ(result.functions.size(), count);
    EXPECT_TRUE(std::ranges::all_of(result.functions, [](const Function& f) { return f.size == 6; }));
  }
}

} // namespace generate_return_addresses_test
} // namespace sframe::generate
