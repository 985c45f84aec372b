// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lib/here with malformed sections: the work is bounded by the section's size, not by its header's claims,
// and nothing is allocated by malloc or new.

#include "allocations.h"
#include "cfi_assembler.h"
#include "compile.h"
#include "host.h"

#include "sframe/section.h"

#include <gtest/gtest.h>

namespace {

using namespace sframe;
using namespace sframe::test;
namespace own = sframe::here;

/// A section's bytes, and where they are.
struct Made {
  std::vector<std::byte> bytes;
  std::uint64_t address;
};

/// A version 2 section (SFrame specification 2, chapters 2 and 3) of one PCMASK function of nearly 4 GiB
/// whose blocks have one byte each, with `num_rows` rows.
Made blocks_of_one_byte(std::uint32_t num_rows, const Bytes& rows) {
  const AbiTraits& abi = traits(here::host::abi);
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
  explicit Compiled(const Made& section) {
    EXPECT_TRUE(own::compile_sframe({section.bytes, section.address}, section.address, rules, rows));
    EXPECT_TRUE(rules.finish());
    EXPECT_TRUE(rows.finish());
  }
  own::RulePool rules;
  own::RowTable rows;
};

/// Without an end these take minutes.
TEST(HereCompile, BlocksWithoutRowsAreNotCounted) {
  const auto section = blocks_of_one_byte(0, Bytes());
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

TEST(HereCompile, BlocksWithoutAReadableRowAreNotCounted) {
  // A row whose info byte gives its data words an impossible size.
  const auto section = blocks_of_one_byte(1, Bytes(traits(here::host::abi).byte_order).u8(0).u8(0xff));
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

/// A row that can be read is repeated, but not more often than a section of that size could hold.
TEST(HereCompile, ImplausibleBlocksEnd) {
  const AbiTraits& abi = traits(here::host::abi);
  // CFA = SP + 8 or 16; s390x requires the return address, too.
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

/// .eh_frame with one function at 0x1000 whose states nest that deep before its second row.
std::vector<std::byte> nested_states(int depth) {
  const AbiTraits& abi = traits(here::host::abi);
  CfiAssembler a(cfi::SectionKind::eh_frame, abi.byte_order);
  const auto cie = a.cie(a.body()
                             .u8(1)
                             .text("")
                             .uleb(1)
                             .sleb(-8)
                             .u8(abi.ra)
                             .u8(0x0c)
                             .uleb(abi.sp)
                             .uleb(16)
                             .u8(0x80 | abi.ra)
                             .uleb(1));
  Bytes fde = a.body().u64(0x1000).u64(0x100);
  for (int i = 0; i < depth; ++i) fde.u8(0x0a); // DW_CFA_remember_state
  fde.u8(0x41).u8(0x0e).uleb(32);               // DW_CFA_advance_loc 1, DW_CFA_def_cfa_offset
  a.fde(cie, fde);
  return a.bytes().get();
}

TEST(HereCompile, NestedStatesAllocateNothing) {
  for (const int depth : {0, 6, 7, 60}) {
    const auto bytes = nested_states(depth);
    own::RulePool rules;
    own::RowTable rows;
    const std::size_t before = allocations();
    EXPECT_TRUE(own::compile_cfi({bytes, 0x100000}, 0, rules, rows));
    EXPECT_EQ(allocations(), before);
    const auto first = rows.find(0x1000), second = rows.find(0x1001);
    // Two rows, or, from seven states on, none: the fault comes before the first one is complete.
    EXPECT_EQ(first.has_value(), depth <= 6) << depth;
    EXPECT_EQ(second.has_value(), depth <= 6) << depth;
    EXPECT_TRUE(!first || first != second);
  }
}

/// More rules than any table has at first; each keeps its number.
TEST(HereCompile, ManyRulesKeepTheirNumbers) {
  own::RulePool rules;
  const auto number = [&](std::int32_t i) {
    const std::array operations{own::Operation{own::Operation::Kind::value, 0, 7, i * 8},
                                own::Operation{own::Operation::Kind::stored, 0, 7, -8}};
    return rules.number(operations, static_cast<std::uint8_t>(i % 2));
  };
  const auto place = [&](std::int32_t i) {
    const std::array bytes{std::byte(i), std::byte(i >> 8), std::byte{1}};
    return rules.expression_offset(bytes);
  };
  for (std::int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(number(i), static_cast<std::uint32_t>(i));
    ASSERT_EQ(place(i), i * 3);
  }
  for (std::int32_t i = 4999; i >= 0; --i) {
    ASSERT_EQ(number(i), static_cast<std::uint32_t>(i));
    ASSERT_EQ(place(i), i * 3);
  }
  EXPECT_TRUE(rules.finish());
  EXPECT_EQ(rules.rule(4321).cfa().offset, 4321 * 8);
  EXPECT_EQ(rules.rule(4321).flags, 1);
}

} // namespace
