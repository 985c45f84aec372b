// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sites of AArch64: instructions by their words, as GNU as writes them.

#include "sites.h"

#include "gtest/gtest.h"

#include <array>
#include <initializer_list>
#include <vector>

namespace shrink_sites_aarch64_test {

using namespace sframe;
using shrink::SiteInstruction;
using Kind = SiteInstruction::Kind;

constexpr std::uint64_t address = 0x1000;

SiteInstruction read(std::uint32_t word) {
  std::array<std::byte, 4> bytes{};
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(word);
    word >>= 8;
  }
  return shrink::read_aarch64(bytes, address);
}

void expect_kind(Kind kind, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    EXPECT_EQ(read(word).length, 4) << std::hex << word;
    EXPECT_EQ(read(word).kind, kind) << std::hex << word;
  }
}

TEST(ShrinkSitesAarch64, SetupAndRemovalOfFrames) {
  expect_kind(Kind::setup, {0x910003fd,     // mov x29, sp
                            0x910043fd,     // add x29, sp, #16
                            0xd100c3ff,     // sub sp, sp, #48
                            0xd14007ff});   // sub sp, sp, #1, lsl #12
  expect_kind(Kind::removal, {0x9100c3ff,   // add sp, sp, #48
                              0x910003bf,   // mov sp, x29
                              0xd10043bf,   // sub sp, x29, #16
                              0xa8c27bfd,   // ldp x29, x30, [sp], #32
                              0xa8c153f3,   // ldp x19, x20, [sp], #16
                              0xf84107fe,   // ldr x30, [sp], #16
                              0x6cc127e8,   // ldp d8, d9, [sp], #16
                              0x3cc107e8,   // ldr q8, [sp], #16
                              0xd65f03c0}); // ret
  expect_kind(Kind::jump, {0x14000010});    // b
}

TEST(ShrinkSitesAarch64, WhatMayFaultIsASite) {
  expect_kind(Kind::site, {0xa9be7bfd,   // stp x29, x30, [sp, #-32]!
                           0xf81f0ffe,   // str x30, [sp, #-16]!
                           0xa94153f3,   // ldp x19, x20, [sp, #16]
                           0xa9c27bfd,   // ldp x29, x30, [sp, #32]!
                           0xa8ff7bfd,   // ldp x29, x30, [sp], #-16
                           0xf84047fe,   // ldr x30, [sp], #4
                           0x28c253f3,   // ldp w19, w20, [sp], #16
                           0xa8c10801,   // ldp x1, x2, [x0], #16
                           0xf80107fe,   // str x30, [sp], #16
                           0x6c8127e8,   // stp d8, d9, [sp], #16
                           0xcb3063ff,   // sub sp, sp, x16
                           0x510043ff,   // sub wsp, wsp, #16
                           0xf10043ff,   // cmp sp, #16
                           0x910043fc,   // add x28, sp, #16
                           0x9100439f,   // add sp, x28, #16
                           0xaa0103e0,   // mov x0, x1
                           0xd50323bf,   // autiasp
                           0xd503233f,   // paciasp
                           0xd65f0bff,   // retaa
                           0xd503201f,   // nop
                           0x927ced3f,   // and sp, x9, #-16
                           0xd61f0200}); // br x16
}

TEST(ShrinkSitesAarch64, WhereControlGoes) {
  EXPECT_TRUE(read(0x94000040).returns); // bl .+256
  EXPECT_EQ(read(0x94000040).target, address + 256);
  EXPECT_TRUE(read(0xd63f0000).returns); // blr x0
  EXPECT_TRUE(read(0xd4000001).returns); // svc #0
  EXPECT_TRUE(read(0xd43e0000).returns); // brk #0xf000
  for (const std::uint32_t word : {0xd4200020U, 0U, 0xd65f03c0U, 0xd65f0bffU, 0xd61f0200U, 0xd69f03e0U})
    EXPECT_FALSE(read(word).falls_through) << std::hex << word; // brk #1, udf, ret, retaa, br, eret
  EXPECT_EQ(read(0x14000010).target, address + 64);
  EXPECT_FALSE(read(0x14000010).falls_through);
  EXPECT_EQ(read(0xb4000040).target, address + 8); // cbz x0, .+8
  EXPECT_EQ(read(0x371fffc0).target, address - 8); // tbnz x0, #3, .-8
  EXPECT_EQ(read(0x54000001).target, address);     // b.ne .
  EXPECT_TRUE(read(0x54000001).falls_through);
}

TEST(ShrinkSitesAarch64, UnknownOrCutWordsHaveNoLength) {
  EXPECT_EQ(read(0x00010000).length, 0); // reserved
  EXPECT_EQ(read(0x02000000).length, 0); // unallocated
  EXPECT_EQ(read(0x56000000).length, 0); // an unallocated branch
  EXPECT_EQ(shrink::read_aarch64(std::vector<std::byte>(3), address).length, 0);
}

} // namespace shrink_sites_aarch64_test
