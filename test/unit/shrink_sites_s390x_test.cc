// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sites of s390x: instructions by their bytes, as GNU as writes them.

#include "sites.h"

#include "gtest/gtest.h"

#include <initializer_list>
#include <vector>

namespace shrink_sites_s390x_test {

using namespace sframe;
using shrink::SiteInstruction;
using Kind = SiteInstruction::Kind;

constexpr std::uint64_t address = 0x1000;

/// The `length` low bytes of a number are an instruction.
SiteInstruction read(std::uint64_t number, unsigned length) {
  std::vector<std::byte> bytes;
  for (unsigned i = length; i-- > 0;) bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
  return shrink::read_s390x(bytes, address);
}

void expect_kind(Kind kind, unsigned length, std::initializer_list<std::uint64_t> numbers) {
  for (const std::uint64_t number : numbers) {
    EXPECT_EQ(read(number, length).length, length) << std::hex << number;
    EXPECT_EQ(read(number, length).kind, kind) << std::hex << number;
  }
}

TEST(ShrinkSitesS390x, SetupAndRemovalOfFrames) {
  expect_kind(Kind::setup, 4,
              {0xb90400bf,   // lgr %r11,%r15
               0x41b0f0a0,   // la %r11,160(%r15)
               0xa7fbff60}); // aghi %r15,-160
  expect_kind(Kind::setup, 6,
              {0xc2f8fffeee90,             // agfi %r15,-70000
               0xe3f0ff58ff71,             // lay %r15,-168(%r15)
               0xc2f400011170,             // slgfi %r15,70000
               0xecffff6000d9});           // aghik %r15,%r15,-160
  expect_kind(Kind::removal, 2, {0x07fe}); // br %r14
  expect_kind(Kind::removal, 4,
              {0xa7fb00a0,   // aghi %r15,160
               0x41f0f0a0,   // la %r15,160(%r15)
               0xb90400fb,   // lgr %r15,%r11
               0x41f0b0a0}); // la %r15,160(%r11)
  expect_kind(Kind::removal, 6,
              {0xc2f800011170,                  // agfi %r15,70000
               0xc2fa00011170,                  // algfi %r15,70000
               0xe3f0f3880171});                // lay %r15,5000(%r15)
  expect_kind(Kind::jump, 4, {0xa7f40020});     // j
  expect_kind(Kind::jump, 6, {0xc0f400000020}); // jg
}

TEST(ShrinkSitesS390x, WhatMayFaultIsASite) {
  expect_kind(Kind::site, 2, {0x07f4, 0x078e, 0x0700}); // br %r4, ber %r14, nopr
  expect_kind(Kind::site, 4,
              {0x41f1f0a0,   // la %r15,160(%r1,%r15)
               0x4110f0a0,   // la %r1,160(%r15)
               0xb90400af,   // lgr %r10,%r15
               0xb90400fa,   // lgr %r15,%r10
               0xa7fa00a0,   // ahi %r15,160
               0xa7bbfff0,   // aghi %r11,-16
               0x47000000,   // nop
               0xb3c100b0}); // ldgr %f11,%r0
  expect_kind(Kind::site, 6,
              {0xeb6ff0300024,   // stmg %r6,%r15,48(%r15)
               0xeb6ff0d00004,   // lmg %r6,%r15,208(%r15)
               0xe3f0f0780004}); // lg %r15,120(%r15)
}

TEST(ShrinkSitesS390x, WhereControlGoes) {
  EXPECT_TRUE(read(0xc0e500000080, 6).returns); // brasl %r14,.+256
  EXPECT_EQ(read(0xc0e500000080, 6).target, address + 256);
  EXPECT_EQ(read(0xa7e50080, 4).target, address + 256); // bras
  EXPECT_TRUE(read(0xa7e50080, 4).returns);
  EXPECT_TRUE(read(0x0de1, 2).returns);        // basr %r14,%r1
  EXPECT_TRUE(read(0x0a04, 2).returns);        // svc 4
  EXPECT_TRUE(read(0x0a00, 2).returns);        // svc 0
  EXPECT_TRUE(read(0xaf000000, 4).returns);    // mc
  EXPECT_FALSE(read(0x0af8, 2).falls_through); // svc 248 (exit_group)
  EXPECT_FALSE(read(0x07fe, 2).falls_through);
  EXPECT_FALSE(read(0x07f4, 2).falls_through);
  EXPECT_FALSE(read(0x0101, 2).falls_through);         // pr
  EXPECT_FALSE(read(0x47f01000, 4).falls_through);     // b 0(%r1)
  EXPECT_FALSE(read(0xe3f010000047, 6).falls_through); // bi 0(%r1)
  EXPECT_FALSE(read(0xa7d50020, 4).falls_through);     // bras %r13,.+64: over literals
  EXPECT_EQ(read(0xa7d50020, 4).target, address + 64);
  EXPECT_TRUE(read(0x078e, 2).falls_through);
  EXPECT_TRUE(read(0xec12300080e4, 6).falls_through);      // cgrbe
  EXPECT_EQ(read(0xa7840000, 4).target, address);          // je .
  EXPECT_EQ(read(0xa717fffc, 4).target, address - 8);      // brctg
  EXPECT_EQ(read(0xec1200088064, 6).target, address + 16); // cgrje
  EXPECT_EQ(read(0xec16fff8057c, 6).target, address - 16); // cgijne
  EXPECT_EQ(read(0xc07400000008, 6).target, address + 16); // jgne
  EXPECT_EQ(read(0xcc16fffffff8, 6).target, address - 16); // brcth
  EXPECT_EQ(read(0xec12fff80044, 6).target, address - 16); // brxhg
  EXPECT_FALSE(read(0xec120010e065, 6).falls_through);     // clgrj, always
  EXPECT_EQ(read(0xc00400000000, 6).target, 0U);           // jgnop
}

TEST(ShrinkSitesS390x, BranchesIntoThemselvesAreTraps) {
  EXPECT_FALSE(read(0xa7f40001, 4).falls_through);
  EXPECT_EQ(read(0xa7f40001, 4).target, 0U);
  EXPECT_TRUE(read(0xa7840001, 4).falls_through); // if equal
  EXPECT_EQ(read(0xa7840001, 4).target, 0U);
}

TEST(ShrinkSitesS390x, UnknownOrCutBytesHaveNoLength) {
  EXPECT_EQ(read(0x0000, 2).length, 0);
  EXPECT_EQ(read(0xa7fb, 2).length, 0);
  EXPECT_EQ(shrink::read_s390x({}, address).length, 0);
}

} // namespace shrink_sites_s390x_test
