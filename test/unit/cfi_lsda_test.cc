// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call-site tables of the language-specific data area, assembled byte by byte.

#include "sframe/cfi/lsda.h"

#include "cfi_assembler.h"

#include <gtest/gtest.h>

namespace cfi_lsda_test {

using namespace sframe;
using namespace sframe::cfi;
using cfi::Error, cfi::ErrorKind, cfi::Fde;
using test::Bytes;

constexpr std::uint64_t address = 0x5000, function = 0x1000;

sframe::expected<std::vector<LandingPad>, Error> read(const Bytes& bytes, Abi abi = Abi::amd64) {
  std::vector<LandingPad> pads;
  const auto done = read_landing_pads(bytes.get(), address, function, traits(abi), pads);
  if (!done) return sframe::unexpected(done.error());
  return pads;
}

/// As gcc and clang write it: no base, a type table, ULEB128.
TEST(CfiLsda, Usual) {
  Bytes bytes;
  bytes.u8(pe_omit).u8(pe_pcrel | pe_sdata4).uleb(20);
  bytes.u8(pe_uleb128).uleb(13);
  bytes.uleb(0x10).uleb(5).uleb(0x200).uleb(1); // takes two bytes for the pad
  bytes.uleb(0x20).uleb(6).uleb(0).uleb(0);     // no pad
  bytes.uleb(0x30).uleb(7).uleb(0x40).uleb(0);
  bytes.u32(0xffffffff); // the action table is not looked at
  const auto pads = read(bytes);
  ASSERT_TRUE(pads);
  EXPECT_EQ(*pads, (std::vector<LandingPad>{{0x1010, 0x1015, 0x1200}, {0x1030, 0x1037, 0x1040}}));
}

/// A cold part counts its pads from the hot one. Fixed sizes, big-endian.
TEST(CfiLsda, BaseAndFixedSizes) {
  Bytes bytes(ByteOrder::big);
  bytes.u8(pe_udata8).u64(0x9000).u8(pe_omit);
  bytes.u8(pe_udata4).uleb(13);
  bytes.u32(4).u32(4).u32(0x60).uleb(0);
  const auto pads = read(bytes, Abi::s390x);
  ASSERT_TRUE(pads);
  EXPECT_EQ(*pads, (std::vector<LandingPad>{{0x1004, 0x1008, 0x9060}}));
}

TEST(CfiLsda, Faults) {
  const auto fault = [](const Bytes& bytes) {
    const auto pads = read(bytes);
    return pads ? std::nullopt : std::optional(pads.error().kind);
  };
  EXPECT_EQ(fault(Bytes()), ErrorKind::truncated);
  EXPECT_EQ(fault(Bytes().u8(pe_omit)), ErrorKind::truncated);
  EXPECT_EQ(fault(Bytes().u8(pe_omit).u8(pe_omit).u8(pe_uleb128)), ErrorKind::truncated);
  EXPECT_EQ(fault(Bytes().u8(pe_omit).u8(pe_omit).u8(pe_uleb128).uleb(0)), std::nullopt) << "no call sites";
  // The table claims more than there is, which is whole entries.
  EXPECT_EQ(fault(Bytes().u8(pe_omit).u8(pe_omit).u8(pe_uleb128).uleb(8).uleb(1).uleb(2).uleb(3).uleb(0)),
            ErrorKind::truncated);
  Bytes too_long;
  too_long.u8(pe_omit).u8(pe_omit).u8(pe_uleb128).uleb(100).uleb(1);
  EXPECT_EQ(fault(too_long), ErrorKind::truncated);
  Bytes bad_encoding;
  bad_encoding.u8(pe_omit).u8(pe_omit).u8(0x05).uleb(4).u32(0);
  EXPECT_EQ(fault(bad_encoding), ErrorKind::bad_pointer_encoding);
  Bytes cut;
  cut.u8(pe_omit).u8(pe_omit).u8(pe_uleb128).uleb(6).uleb(1).uleb(2).uleb(3).uleb(0).uleb(1).uleb(2);
  std::vector<LandingPad> pads;
  EXPECT_FALSE(read_landing_pads(cut.get(), address, function, traits(Abi::amd64), pads));
  EXPECT_EQ(pads.size(), 1u); // what came before the fault stays
}

} // namespace cfi_lsda_test
