// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows by address as `--check=run` looks them up, verdicts of functions, and names of addresses.

#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/names.h>
#include <sframe/verify/row_table.h>
#include <sframe/verify/verdicts.h>

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace sframe::test {
namespace verify_row_table_test {

using namespace verify;

constexpr std::uint64_t text_at = 0x1000, sframe_at = 0x2000;

FrameRow row(std::uint32_t offset, std::int32_t cfa) {
  FrameRow made = traits(Abi::amd64).entry_row();
  made.offset = offset;
  made.cfa = Rule::value(traits(Abi::amd64).sp, cfa);
  return made;
}

/// [0x1000, 0x1020) with three rows, [0x1040, 0x1080) in blocks of 16 bytes with two, [0x1080, 0x1090) of a
/// signal's frame, [0x1090, 0x10a0) without a caller, [0x10a0, 0x10b0) with the rules of the one before the
/// gap.
class VerifyRows : public testing::Test {
protected:
  VerifyRows() {
    Builder builder({.abi = Abi::amd64});
    EXPECT_TRUE(
        builder.add({.start = 0x1000, .size = 0x20}, std::vector{row(0, 8), row(4, 16), row(0x10, 8)}));
    EXPECT_TRUE(builder.add({.start = 0x1040, .size = 0x40, .pc_type = PcType::mask, .rep_size = 16},
                            std::vector{row(0, 24), row(6, 32)}));
    EXPECT_TRUE(builder.add({.start = 0x1080, .size = 0x10, .signal_frame = true}, std::vector{row(0, 40)}));
    EXPECT_TRUE(builder.add({.start = 0x1090, .size = 0x10}, std::vector{FrameRow::outermost(0)}));
    EXPECT_TRUE(builder.add({.start = 0x10a0, .size = 0x10}, std::vector{row(0, 8)}));
    const auto section = builder.finish(sframe_at);
    EXPECT_TRUE(section);
    Writer symbols, names;
    symbols.zeros(24).append(symbol(1, 0x12, 1, 0x1000, 0x20)).append(symbol(7, 0x12, 1, 0x1040, 0x40));
    names.zeros(1).text("first", 6).text("_Z6secondv", 11);
    TestElf file;
    file.type = elf::et_dyn;
    const std::vector<std::byte> text(0x100, std::byte{0x90});
    file.sections = {{".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
                     {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, *section},
                     {".symtab", elf::sht_symtab, 0, 0, symbols.bytes, 4},
                     {".strtab", elf::sht_strtab, 0, 0, names.bytes}};
    file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, text_at, text}};
    bytes_ = file.build();
    image_ = *elf::Image::parse(bytes_);
    input_ = *Input::load({.image = &*image_});
  }

  std::vector<std::byte> bytes_;
  std::optional<elf::Image> image_;
  std::optional<Input> input_;
};

TEST_F(VerifyRows, EachAddress) {
  const RowTable table(*input_);
  EXPECT_EQ(table.abi(), &traits(Abi::amd64));
  for (std::uint64_t at = 0xff0; at < 0x10c0; ++at) {
    std::optional<std::int32_t> cfa;
    if (at >= 0x1000 && at < 0x1020) cfa = at >= 0x1004 && at < 0x1010 ? 16 : 8;
    if (at >= 0x1040 && at < 0x1080) cfa = at % 16 >= 6 ? 32 : 24;
    if (at >= 0x1080 && at < 0x1090) cfa = 40;
    if (at >= 0x10a0 && at < 0x10b0) cfa = 8;
    const bool is_outermost = at >= 0x1090 && at < 0x10a0;
    const auto found = table.find(at);
    ASSERT_EQ(found.has_value(), cfa.has_value() || is_outermost) << std::hex << at;
    if (!found) continue;
    EXPECT_EQ(found->row.is_outermost(), is_outermost) << std::hex << at;
    if (cfa) {
      EXPECT_EQ(found->row.cfa.offset, *cfa) << std::hex << at;
      EXPECT_EQ(found->row.ra, Rule::at_cfa(-8)) << "as the header has it";
    }
    EXPECT_EQ(found->signal_frame, at >= 0x1080 && at < 0x1090) << std::hex << at;
  }
}

TEST_F(VerifyRows, VerdictsByPrecedence) {
  Verdicts verdicts(*input_);
  Summary summary = verdicts.summary();
  EXPECT_EQ(summary.functions, 5u);
  EXPECT_EQ(summary.undecided, 5u); // nothing has looked at them
  const Verdict order[] = {Verdict::none,
                           Verdict::agree,
                           Verdict::unreached,
                           Verdict::undecided,
                           Verdict::contradiction_in_cfi,
                           Verdict::contradiction};
  for (std::size_t i = 1; i < std::size(order); ++i) {
    verdicts.add(0, 0, order[i]);
    EXPECT_EQ(verdicts.of(0, 0), order[i]);
    verdicts.add(0, 0, order[i - 1]);
    EXPECT_EQ(verdicts.of(0, 0), order[i]);
  }
  verdicts.add(0, 1, Verdict::agree);
  verdicts.add(0, 2, Verdict::contradiction_in_cfi);
  verdicts.add(0, 3, Verdict::unreached);
  summary = verdicts.summary();
  EXPECT_EQ(summary.agree, 1u);
  EXPECT_EQ(summary.contradiction, 2u);
  EXPECT_EQ(summary.contradiction_in_cfi, 1u);
  EXPECT_EQ(summary.unreached, 1u);
  EXPECT_EQ(summary.undecided, 1u);
}

TEST_F(VerifyRows, NamesOfAddresses) {
  Names names({&*image_});
  EXPECT_EQ(names.describe({0, 0x1000}), "first");
  EXPECT_EQ(names.describe({0, 0x101f}), "first+0x1f");
  EXPECT_EQ(names.function({0, 0x101f}), "first");
  EXPECT_EQ(names.describe({0, 0x1044}), "second()+0x4");
  EXPECT_EQ(names.describe({0, 0x1020}), "");
  EXPECT_EQ(names.function({0, 0x1090}), "");
  EXPECT_FALSE(names.source({0, 0x1000})); // no debug information
  EXPECT_EQ(names.producer({0, 0x1000}), "");
  EXPECT_TRUE(names.producers(5).empty());
  EXPECT_EQ(names.source_problem(), "");
  // Those of the first image that has any.
  TestElf empty;
  empty.type = elf::et_dyn;
  empty.sections = {{".text", elf::sht_progbits, elf::shf_alloc, text_at, std::vector<std::byte>(16)}};
  const auto bytes = empty.build();
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  Names of_second({&*image, &*image_});
  EXPECT_EQ(of_second.describe({0, 0x1000}), "first");
  EXPECT_EQ(Names().describe({0, 0x1000}), "");
}

} // namespace verify_row_table_test
} // namespace sframe::test
