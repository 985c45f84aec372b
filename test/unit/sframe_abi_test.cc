// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The properties of each ABI: DWARF register numbers and stack layout from the psABIs, identifiers and fixed
// offsets from the SFrame specification. All unwinding depends on this table.

#include "sframe/abi.h"
#include "sframe/error.h"

#include <gtest/gtest.h>

namespace sframe {
namespace sframe_abi_test {

struct Facts {
  std::uint8_t id;
  const char* name;
  ByteOrder byte_order;
  int machine, sp, fp, ra, fixed_ra_offset, cfa_bias, cfa_scale, sp_from_cfa, entry_cfa_offset,
      plt_entry_size;
  bool pads_ra_word, register_words, signs_return_addresses;
};

constexpr ByteOrder little = ByteOrder::little, big = ByteOrder::big;
constexpr Facts expected[] = {
    {1, "aarch64_be", big, 183, 31, 29, 30, 0, 0, 1, 0, 0, 16, false, false, true},
    {2, "aarch64", little, 183, 31, 29, 30, 0, 0, 1, 0, 0, 16, false, false, true},
    {3, "amd64", little, 62, 7, 6, 16, -8, 0, 1, 0, 8, 16, false, false, false},
    {4, "s390x", big, 22, 15, 11, 14, 0, 160, 8, -160, 160, 32, true, true, false},
};

TEST(Abi, MatchesSpecification) {
  ASSERT_EQ(all_abis().size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Facts& facts = expected[i];
    const AbiTraits& abi = *all_abis()[i];
    EXPECT_EQ(static_cast<std::uint8_t>(abi.id), facts.id);
    EXPECT_EQ(abi.name, facts.name);
    EXPECT_EQ(abi.byte_order, facts.byte_order) << facts.name;
    EXPECT_EQ(abi.machine, facts.machine) << facts.name;
    EXPECT_EQ(abi.sp, facts.sp) << facts.name;
    EXPECT_EQ(abi.fp, facts.fp) << facts.name;
    EXPECT_EQ(abi.ra, facts.ra) << facts.name;
    EXPECT_EQ(abi.fixed_fp_offset, 0) << facts.name;
    EXPECT_EQ(abi.fixed_ra_offset, facts.fixed_ra_offset) << facts.name;
    EXPECT_EQ(abi.cfa_bias, facts.cfa_bias) << facts.name;
    EXPECT_EQ(abi.cfa_scale, facts.cfa_scale) << facts.name;
    EXPECT_EQ(abi.sp_from_cfa, facts.sp_from_cfa) << facts.name;
    EXPECT_EQ(abi.entry_cfa_offset, facts.entry_cfa_offset) << facts.name;
    EXPECT_EQ(abi.plt_entry_size, facts.plt_entry_size) << facts.name;
    EXPECT_EQ(abi.pads_ra_word, facts.pads_ra_word) << facts.name;
    EXPECT_EQ(abi.register_words, facts.register_words) << facts.name;
    EXPECT_EQ(abi.signs_return_addresses, facts.signs_return_addresses) << facts.name;

    const FrameRow entry = abi.entry_row();
    EXPECT_EQ(entry.offset, 0u);
    EXPECT_EQ(entry.cfa, Rule::value(abi.sp, facts.entry_cfa_offset)) << facts.name;
    EXPECT_EQ(entry.ra, facts.fixed_ra_offset ? Rule::fixed() : Rule::same()) << facts.name;
    EXPECT_EQ(entry.fp, Rule::same()) << facts.name;
    EXPECT_FALSE(entry.ra_signed);
  }
}

TEST(Abi, IsFoundByIdentifierMachineAndName) {
  for (const AbiTraits* abi : all_abis()) {
    EXPECT_EQ(find_abi(static_cast<std::uint8_t>(abi->id)), abi);
    EXPECT_EQ(find_abi(abi->machine, abi->byte_order), abi);
    EXPECT_EQ(find_abi(abi->name), abi);
    EXPECT_EQ(&traits(abi->id), abi);
  }
  EXPECT_EQ(find_abi(std::uint8_t{0}), nullptr);
  EXPECT_EQ(find_abi(std::uint8_t{5}), nullptr);
  EXPECT_EQ(find_abi(62, big), nullptr) << "AMD64 is little-endian only";
  EXPECT_EQ(find_abi(22, little), nullptr);
  EXPECT_EQ(find_abi(40, little), nullptr) << "EM_ARM";
  EXPECT_EQ(find_abi("x86-64"), nullptr);
}

TEST(Abi, RegisterNames) {
  EXPECT_EQ(register_name(7, traits(Abi::amd64)), "sp");
  EXPECT_EQ(register_name(6, traits(Abi::amd64)), "fp");
  EXPECT_EQ(register_name(16, traits(Abi::amd64)), "r16");
  EXPECT_EQ(register_name(Rule::cfa_base, traits(Abi::amd64)), "cfa");
  // A rule that is not the CFA's and adds nothing is the register alone.
  EXPECT_EQ(rule_text(Rule::value(10, 0), traits(Abi::s390x)), "r10");
  EXPECT_EQ(rule_text(Rule::value(10, 4), traits(Abi::s390x)), "r10+4");
  EXPECT_EQ(rule_text(Rule::stored(11, 0), traits(Abi::s390x)), "[fp+0]");
}

TEST(Errors, DescriptionsHaveLocations) {
  EXPECT_EQ(describe({.kind = ErrorKind::bad_magic}), "no SFrame magic number");
  EXPECT_EQ(describe({.kind = ErrorKind::bad_fre_type, .offset = 9, .function = 3}),
            "FRE type is not ADDR1, ADDR2 or ADDR4, function 3");
  EXPECT_EQ(describe({ErrorKind::row_order, 9, 3, 0}), "row offsets do not increase, function 3, row 0");
}

} // namespace sframe_abi_test
} // namespace sframe
