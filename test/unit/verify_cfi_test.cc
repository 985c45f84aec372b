// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .eh_frame and .debug_frame of the same function, assembled by hand (DWARF 5, section 6.4; System V ABI for
// AMD64, "The .eh_frame section"): what is reported where they differ, for rows and for the expressions that
// linkers write for PLTs.

#include "cfi_assembler.h"
#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/against_cfi.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sframe::test {
namespace {

using namespace verify;

constexpr std::uint64_t text_at = 0x1000, frames_at = 0x2000, sframe_at = 0x3000;
constexpr std::uint32_t text_size = 0x40;

struct Findings final : Sink {
  void add(Finding finding) override { all.push_back(std::move(finding)); }
  std::vector<Finding> all;
};

using Instructions = std::vector<int>;

/// A section with one function, whose first rule is that of every AMD64 function: CFA is SP+8, RA at CFA-8.
Bytes frames(cfi::SectionKind kind, const Instructions& instructions) {
  CfiAssembler cfi(kind);
  const bool is_eh = kind == cfi::SectionKind::eh_frame;
  Bytes common = cfi.body();
  common.u8(is_eh ? 1 : 3).text(is_eh ? "zR" : "").uleb(1).sleb(-8).uleb(16);
  if (is_eh) common.uleb(1).u8(cfi::pe_absptr);
  const std::size_t cie = cfi.cie(common.raw({0x0c, 7, 8, 0x90, 1}));
  Bytes function = cfi.body();
  function.u64(text_at).u64(text_size);
  if (is_eh) function.uleb(0);
  for (const int byte : instructions) function.u8(static_cast<std::uint64_t>(byte));
  cfi.fde(cie, function);
  if (is_eh) cfi.terminator();
  return cfi.bytes();
}

/// The findings of C112 for a function with these instructions in the two sections: "0x1010-0x1040: message".
std::vector<std::string> disagreements(const Instructions& eh, const Instructions& debug) {
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(
      builder.add({.start = text_at, .size = text_size}, std::vector{traits(Abi::amd64).entry_row()}));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  const std::vector<std::byte> text(text_size, std::byte{0x90});
  TestElf file;
  file.type = elf::et_dyn;
  file.sections = {
      {".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
      {".eh_frame", elf::sht_progbits, elf::shf_alloc, frames_at,
       frames(cfi::SectionKind::eh_frame, eh).get()},
      {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, *section},
      {".debug_frame", elf::sht_progbits, 0, 0, frames(cfi::SectionKind::debug_frame, debug).get()}};
  file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, text_at, text}};
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  EXPECT_EQ(input->cfi().size(), 2u);
  Verdicts verdicts(*input);
  Findings found;
  EXPECT_EQ(check_against_cfi(*input, verdicts, found), text_size);
  std::vector<std::string> all;
  for (const Finding& finding : found.all) {
    if (finding.id != Id::C112) continue;
    EXPECT_EQ(finding.table, ".debug_frame");
    all.push_back(sframe::hex(finding.at->pc) + '-' + sframe::hex(finding.end) + ": " + finding.message);
  }
  return all;
}

using Texts = std::vector<std::string>;

constexpr int advance_16 = 0x40 | 16;

/// DW_CFA_def_cfa_offset.
Instructions at_16(int cfa_offset) {
  return {advance_16, 0x0e, cfa_offset};
}

TEST(VerifyCfi, RowsOfTheTwoSections) {
  EXPECT_EQ(disagreements({}, {}), Texts{});
  EXPECT_EQ(disagreements(at_16(24), at_16(24)), Texts{});
  EXPECT_EQ(disagreements(at_16(24), at_16(32)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+32 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements(at_16(24), {}),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+8 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements({}, at_16(24)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
  // 16 bytes longer.
  EXPECT_EQ(disagreements({advance_16, 0x0e, 24, advance_16, 0x0e, 8},
                          {advance_16, 0x0e, 24, advance_16, advance_16, 0x0e, 8}),
            Texts{"0x1020-0x1030: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
}

/// DW_CFA_def_cfa_expression as GNU ld writes it for a PLT: SP + 8, and 8 more from byte `threshold` of each
/// 16 on. breg7 8, breg16 0, lit15, and, lit<threshold>, ge, lit3, shl, plus.
Instructions plt(int threshold) {
  return {advance_16, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + threshold, 0x2a, 0x33, 0x24, 0x22};
}

TEST(VerifyCfi, PltsOfTheTwoSections) {
  EXPECT_EQ(disagreements(plt(11), plt(11)), Texts{});
  const auto other = disagreements(plt(11), plt(10));
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].find("0x1010-0x1040: .debug_frame has "), 0u) << other[0];
  EXPECT_EQ(disagreements(plt(11), at_16(24)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements(at_16(24), plt(11)).size(), 1u);
}

// Rules that no row has may be the same: these have a CFA that is the sum of two registers.
TEST(VerifyCfi, ExpressionsOfTheTwoSections) {
  const auto expression = [](int offset) { // DW_CFA_def_cfa_expression: breg7 8, breg6 offset, plus
    return Instructions{advance_16, 0x0f, 5, 0x77, 8, 0x76, offset, 0x22};
  };
  EXPECT_EQ(disagreements(expression(8), expression(8)), Texts{});
  EXPECT_EQ(disagreements(expression(8), expression(16)), Texts{});
  EXPECT_EQ(disagreements(expression(8), at_16(24)), Texts{});
  EXPECT_EQ(disagreements(at_16(24), expression(8)), Texts{});
}

} // namespace
} // namespace sframe::test
