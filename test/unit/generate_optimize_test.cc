// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions generate::optimize() joins: those with nothing but padding between them.

#include "elf_builder.h"

#include <sframe/base/budget.h>
#include <sframe/generate/optimize.h>
#include <sframe/section.h>

#include <gtest/gtest.h>

namespace sframe::generate {
namespace generate_optimize_test {

using Code = std::vector<std::byte>;

constexpr std::uint64_t base = 0x10000;
constexpr std::uint16_t em_riscv = 243;

/// Sixteen bytes: a function of six (xor, four nops), two bytes between, and another function of eight.
Code code_with(int first, int second) {
  Code code;
  for (const int byte :
       {0x31, 0xc0, 0x90, 0x90, 0x90, 0xc3, first, second, 0x31, 0xc0, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3})
    code.push_back(static_cast<std::byte>(byte));
  return code;
}

std::vector<std::byte> program(const Code& code, std::uint16_t machine = 62) {
  test::TestElf elf;
  elf.type = elf::et_exec;
  elf.machine = machine;
  elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, base, code, 0});
  return elf.build();
}

Builder two_functions(std::uint32_t first_size = 6) {
  Builder builder({.version = VersionNumber::v3, .abi = Abi::amd64});
  const FrameRow row = {0, Rule::value(7, 8), Rule::fixed(), Rule::same(), false};
  for (const auto& [start, size] : {std::pair(base, first_size), {base + 8, 8u}})
    EXPECT_TRUE(builder.add({.start = start, .size = size}, std::span(&row, 1)));
  return builder;
}

/// True if the two functions became one, which covers the bytes between them.
bool joins(Builder builder, const elf::Image* image, std::vector<LeftOut> left_out = {}) {
  optimize(builder, {}, image, left_out);
  const auto bytes = builder.finish(0x1000);
  const auto section = Section::parse(*bytes, 0x1000);
  const auto first = section->fde(0);
  EXPECT_EQ(first->start, base);
  if (section->num_fdes() == 1) {
    EXPECT_EQ(first->size, 16u);
    return true;
  }
  EXPECT_EQ(section->num_fdes(), 2u);
  EXPECT_LE(first->size, 8u);
  return false;
}

bool joins(const Code& code, std::vector<LeftOut> left_out = {}) {
  const auto bytes = program(code);
  const elf::Image image = *elf::Image::parse(bytes);
  return joins(two_functions(), &image, std::move(left_out));
}

TEST(GenerateOptimize, OverPaddingOnly) {
  EXPECT_TRUE(joins(code_with(0x90, 0x90)));
  EXPECT_TRUE(joins(code_with(0x66, 0x90)));
  EXPECT_TRUE(joins(code_with(0xcc, 0xcc)));
  EXPECT_TRUE(joins(code_with(0, 0)));
  EXPECT_FALSE(joins(code_with(0x90, 0xc3)));
  EXPECT_FALSE(joins(code_with(0xc3, 0x90)));
  EXPECT_FALSE(joins(code_with(0x90, 0x66))) << "the prefix belongs to the next function's first instruction";
}

TEST(GenerateOptimize, NotWhereCodeWasLeftOut) {
  const Code code = code_with(0x90, 0x90);
  EXPECT_FALSE(joins(code, {{base + 6, 2, not_in_code}}));
  EXPECT_FALSE(joins(code, {{base + 7, 1, not_in_code}}));
  EXPECT_FALSE(joins(code, {{base - 16, 23, not_in_code}}));
  EXPECT_TRUE(joins(code, {{base - 16, 22, not_in_code}}));
  EXPECT_TRUE(joins(code, {{base + 8, 4, not_in_code}}));
  EXPECT_TRUE(joins(code, {{base + 0x1000, 4, not_in_code}}));
  EXPECT_FALSE(joins(code, {{base - 16, 8, not_in_code}, {base + 6, 1, not_in_code}}));
}

TEST(GenerateOptimize, AdjacentFunctions) {
  const auto bytes = program(code_with(0xc3, 0xc3)); // which the first function covers
  const elf::Image image = *elf::Image::parse(bytes);
  EXPECT_TRUE(joins(two_functions(8), &image));
  EXPECT_TRUE(joins(two_functions(8), nullptr));
  EXPECT_FALSE(joins(two_functions(6), nullptr)) << "nothing is known of the bytes between";
}

// Functions of two code sections are not joined: tools move sections.
TEST(GenerateOptimize, NotAcrossSections) {
  const Code code = code_with(0x90, 0x90);
  for (const std::uint64_t cut : {6, 8}) {
    test::TestElf elf;
    elf.type = elf::et_exec;
    elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, base, code, 0});
    const std::uint64_t flags = elf::shf_alloc | elf::shf_execinstr;
    const auto middle = code.begin() + static_cast<std::ptrdiff_t>(cut);
    elf.sections.push_back({".first", elf::sht_progbits, flags, base, Code(code.begin(), middle), 0, 0, 0});
    elf.sections.push_back(
        {".second", elf::sht_progbits, flags, base + cut, Code(middle, code.end()), 0, 0, 0});
    const auto bytes = elf.build();
    const elf::Image image = *elf::Image::parse(bytes);
    EXPECT_EQ(joins(two_functions(), &image), false) << cut;
    EXPECT_EQ(joins(two_functions(8), &image), cut == 6) << cut;
  }
}

TEST(GenerateOptimize, NotWhereThereIsNoCode) {
  test::TestElf elf;
  elf.type = elf::et_exec;
  elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, base + 0x1000, Code(16), 0});
  const auto bytes = elf.build();
  const elf::Image image = *elf::Image::parse(bytes);
  EXPECT_FALSE(joins(two_functions(), &image));
  EXPECT_FALSE(joins(two_functions(8), &image));
}

// A machine that SFrame does not support: adjacent functions alone.
TEST(GenerateOptimize, AnotherMachine) {
  const auto bytes = program(code_with(0x90, 0x90), em_riscv);
  const elf::Image image = *elf::Image::parse(bytes);
  EXPECT_FALSE(joins(two_functions(), &image));
  EXPECT_TRUE(joins(two_functions(8), &image));
}

TEST(GenerateOptimize, WithinTheBudget) {
  const auto bytes = program(code_with(0x90, 0x90));
  for (const bool has_steps : {true, false}) {
    Budget budget(Limits::standard, 1 << 20);
    const std::uint64_t left = budget.left(Resource::code_steps);
    if (!has_steps) {
      ASSERT_TRUE(budget.take(Resource::code_steps, left));
    }
    const elf::Image image = *elf::Image::parse(bytes, &budget);
    EXPECT_EQ(joins(two_functions(), &image), has_steps);
    EXPECT_LT(budget.left(Resource::code_steps), left);
  }
}

// Equal padding is decoded once: 100 functions with the same bytes between them cost no more steps than two.
TEST(GenerateOptimize, EqualPaddingIsDecodedOnce) {
  Code code;
  Builder builder({.version = VersionNumber::v3, .abi = Abi::amd64});
  const FrameRow row = {0, Rule::value(7, 8), Rule::fixed(), Rule::same(), false};
  for (std::uint32_t i = 0; i < 100; ++i) {
    code.insert(code.end(), 8, std::byte(0x90));
    EXPECT_TRUE(builder.add({.start = base + i * 8, .size = 6}, std::span(&row, 1)));
  }
  const auto bytes = program(code);
  const auto steps = [&](Builder functions) {
    Budget budget(Limits::standard, 1 << 20);
    const std::uint64_t before = budget.left(Resource::code_steps);
    const elf::Image image = *elf::Image::parse(bytes, &budget);
    optimize(functions, {}, &image, {});
    EXPECT_EQ(Section::parse(*functions.finish(0), 0)->num_fdes(), 1u);
    return before - budget.left(Resource::code_steps);
  };
  EXPECT_EQ(steps(builder), steps(two_functions()));
}

} // namespace generate_optimize_test
} // namespace sframe::generate
