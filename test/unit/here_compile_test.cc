// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lib/here makes of .sframe sections that lie: the work is bounded by the section, not by what it
// claims.

#include "cfi_assembler.h"
#include "compile.h"
#include "host.h"

#include "sframe/section.h"

#include <gtest/gtest.h>

namespace {

using namespace sframe;
using namespace sframe::test;
namespace own = sframe::walk::own;

/// A version 2 section (SFrame specification 2, chapters 2 and 3) of one PCMASK function of nearly 4 GiB
/// whose blocks have one byte each, with `num_rows` rows.
own::SectionBytes blocks_of_one_byte(std::uint32_t num_rows, const Bytes& rows) {
  const AbiTraits& abi = traits(walk::own::host::abi);
  constexpr int header_size = 28, entry_size = 20;
  constexpr int fde_sorted = 1, pc_mask = 1 << 4;
  Bytes section(abi.byte_order);
  section.u16(0xdee2).u8(2).u8(fde_sorted);
  section.u8(static_cast<std::uint64_t>(abi.id))
      .u8(0)
      .u8(static_cast<std::uint64_t>(abi.fixed_ra_offset))
      .u8(0);
  section.u32(1).u32(num_rows).u32(rows.size()).u32(0).u32(entry_size);
  EXPECT_EQ(section.size(), std::size_t{header_size});
  section.u32(0x1000).u32(0xffff0000).u32(0).u32(num_rows).u8(pc_mask).u8(1).u16(0);
  EXPECT_EQ(section.size(), std::size_t{header_size + entry_size});
  section.append(rows);
  return {section.get(), 0x100000};
}

struct Compiled {
  explicit Compiled(const own::SectionBytes& bytes) {
    own::compile_sframe(bytes, bytes.address, rules, rows);
    rules.finish();
    rows.finish();
  }
  own::RuleSet rules;
  own::RowTable rows;
};

/// Without an end these take minutes.
TEST(HereCompile, BlocksWithoutRowsAreNotCounted) {
  const auto section = blocks_of_one_byte(0, Bytes());
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

TEST(HereCompile, BlocksWithoutAReadableRowAreNotCounted) {
  // A row whose info byte says that its data words have an impossible size.
  const auto section = blocks_of_one_byte(1, Bytes(traits(walk::own::host::abi).byte_order).u8(0).u8(0xff));
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

/// A row that can be read is repeated, but not more often than a section of that size could say.
TEST(HereCompile, BlocksEndWhereTheyAreNotPlausible) {
  const AbiTraits& abi = traits(walk::own::host::abi);
  // CFA = SP + 8 or 16; s390x wants the return address, too.
  const int words = abi.fixed_ra_offset ? 1 : 2;
  Bytes row(abi.byte_order);
  row.u8(0).u8(static_cast<std::uint64_t>(1 | words << 1)).u8(16);
  if (words == 2) row.u8(0xf8);
  const auto section = blocks_of_one_byte(1, row);
  const auto parsed = Section::parse(section.bytes, section.address);
  ASSERT_TRUE(parsed);
  const Compiled compiled(section);
  EXPECT_GT(compiled.rows.size(), 0u);
  EXPECT_LE(compiled.rows.size(), 2 * parsed->plausible_rows());
}

} // namespace
