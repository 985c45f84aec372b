// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each call frame instruction (DWARF 5, section 6.4.2), hand-assembled. The CIE of all tests has code
// alignment 2, data alignment -8 and the initial rules CFA = r7 + 8, RA (r16) at CFA - 8.

#include "cfi_assembler.h"
#include "sframe/cfi/rows.h"

#include "gtest/gtest.h"

namespace cfi_rows_test {

using namespace sframe;
using namespace sframe::cfi;
using cfi::Error, cfi::ErrorKind, cfi::Fde;
using test::Bytes;
using test::CfiAssembler;
using Kind = RegisterRule::Kind;

constexpr std::uint64_t start = 0x1000, size = 0x100;

struct Outcome {
  std::vector<FullRow> rows;
  std::optional<ErrorKind> error;
  std::vector<std::byte> bytes; ///< what the rows' expressions are in
};

Outcome run(const Bytes& instructions, Abi abi = Abi::amd64, const Bytes& more_initial = Bytes()) {
  Outcome outcome;
  const ByteOrder order = traits(abi).byte_order;
  CfiAssembler a(SectionKind::debug_frame, order);
  const auto cie = a.cie(
      a.body().u8(3).text("").uleb(2).sleb(-8).uleb(16).raw({0x0c, 7, 8, 0x90, 1}).append(more_initial));
  const auto at = a.fde(cie, a.body().u64(start).u64(size).append(instructions));
  outcome.bytes = a.bytes().get();
  const CfiSection section(SectionKind::debug_frame, outcome.bytes, 0, traits(abi));
  const auto fde = section.fde(at);
  FullRowCursor rows(section, fde.value());
  for (FullRow row; rows.next(row);) outcome.rows.push_back(row);
  if (rows.error()) outcome.error = rows.error()->kind;
  return outcome;
}

/// The only row of a function whose instructions do not advance.
FullRow only(const Outcome& outcome) {
  EXPECT_FALSE(outcome.error) << message(*outcome.error);
  EXPECT_EQ(outcome.rows.size(), 1u);
  return outcome.rows.empty() ? FullRow{} : outcome.rows[0];
}

FullRow only(const Bytes& instructions) {
  return only(run(instructions));
}

CfaRule cfa(std::uint32_t reg, std::int64_t offset) {
  return {CfaRule::Kind::register_offset, reg, offset};
}
RegisterRule rule(Kind kind, std::int64_t offset = 0) {
  return {kind, 0, offset};
}
RegisterRule in_register(std::uint32_t reg) {
  return {Kind::reg, reg, 0};
}

/// [begin, end) of each row, from the function's start.
std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(const Outcome& outcome) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const FullRow& row : outcome.rows) all.emplace_back(row.begin - start, row.end - start);
  return all;
}
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST(CfiRows, InitialRulesHoldThroughout) {
  const FullRow row = only(Bytes().raw({0, 0, 0}));
  EXPECT_EQ(row.begin, start);
  EXPECT_EQ(row.end, start + size);
  EXPECT_EQ(row.fde_start, start);
  EXPECT_EQ(row.cfa, cfa(7, 8));
  EXPECT_EQ(row.ra(), rule(Kind::offset, -8));
  EXPECT_EQ(row.rule(6), rule(Kind::unspecified));
  EXPECT_EQ(row.rule(5000), rule(Kind::unspecified));
}

TEST(CfiRows, CfaDefinitions) {
  EXPECT_EQ(only(Bytes().raw({0x0c, 6, 16})).cfa, cfa(6, 16));
  EXPECT_EQ(only(Bytes().u8(0x0c).uleb(200).uleb(100000)).cfa, cfa(200, 100000));
  EXPECT_EQ(only(Bytes().raw({0x12, 6, 0x7e})).cfa, cfa(6, 16)); // -2 * -8
  EXPECT_EQ(only(Bytes().raw({0x0d, 6})).cfa, cfa(6, 8));
  EXPECT_EQ(only(Bytes().raw({0x0e, 32})).cfa, cfa(7, 32)); // not factored
  EXPECT_EQ(only(Bytes().raw({0x13, 0x7c})).cfa, cfa(7, 32));
  EXPECT_EQ(only(Bytes().raw({0x13, 0x04})).cfa, cfa(7, -32));
  EXPECT_EQ(only(Bytes().raw({0x0e, 48, 0x0d, 6})).cfa, cfa(6, 48)); // both at one address
}

TEST(CfiRows, CfaExpression) {
  const Outcome outcome = run(Bytes().raw({0x0f, 3, 0x77, 0x28, 0x06}));
  const FullRow row = only(outcome);
  EXPECT_EQ(row.cfa.kind, CfaRule::Kind::expression);
  const auto expression = row.expression(row.cfa);
  ASSERT_EQ(expression.size(), 3u);
  EXPECT_EQ(expression[0], std::byte{0x77});
  EXPECT_EQ(expression[2], std::byte{0x06});
  // A whole definition replaces it, half a one has nothing to change.
  EXPECT_EQ(only(Bytes().raw({0x0f, 1, 0x77, 0x0c, 6, 16})).cfa, cfa(6, 16));
  EXPECT_EQ(run(Bytes().raw({0x0f, 1, 0x77, 0x0d, 6})).error, ErrorKind::cfa_not_register);
  EXPECT_EQ(run(Bytes().raw({0x0f, 1, 0x77, 0x0e, 6})).error, ErrorKind::cfa_not_register);
  EXPECT_EQ(run(Bytes().raw({0x0f, 1, 0x77, 0x13, 6})).error, ErrorKind::cfa_not_register);
}

TEST(CfiRows, RegisterRules) {
  EXPECT_EQ(only(Bytes().raw({0x86, 2})).rule(6), rule(Kind::offset, -16));
  EXPECT_EQ(only(Bytes().raw({0x05, 6, 3})).rule(6), rule(Kind::offset, -24));
  EXPECT_EQ(only(Bytes().raw({0x11, 6, 0x7f})).rule(6), rule(Kind::offset, 8));
  EXPECT_EQ(only(Bytes().raw({0x2f, 6, 2})).rule(6),
            rule(Kind::offset, 16)); // GNU: the negative of the operand
  EXPECT_EQ(only(Bytes().raw({0x07, 16})).rule(16), rule(Kind::undefined));
  EXPECT_EQ(only(Bytes().raw({0x08, 3})).rule(3), rule(Kind::same));
  EXPECT_EQ(only(Bytes().raw({0x09, 16, 5})).rule(16), in_register(5));
  EXPECT_EQ(only(Bytes().raw({0x14, 7, 2})).rule(7), rule(Kind::val_offset, -16));
  EXPECT_EQ(only(Bytes().raw({0x15, 7, 0x7e})).rule(7), rule(Kind::val_offset, 16));
  EXPECT_EQ(only(Bytes().raw({0x2e, 40})).rule(7), rule(Kind::unspecified)); // args_size changes no rule
}

TEST(CfiRows, RegisterExpressions) {
  const Outcome outcome = run(Bytes().raw({0x10, 6, 2, 0x76, 0x00, 0x16, 3, 1, 0x32}));
  const FullRow row = only(outcome);
  EXPECT_EQ(row.rule(6).kind, Kind::expression);
  EXPECT_EQ(row.expression(row.rule(6)).size(), 2u);
  EXPECT_EQ(row.expression(row.rule(6))[0], std::byte{0x76});
  EXPECT_EQ(row.rule(3).kind, Kind::val_expression);
  EXPECT_EQ(row.expression(row.rule(3))[0], std::byte{0x32});
  EXPECT_TRUE(row.expression(row.rule(0)).empty());
}

TEST(CfiRows, RestoreGoesBackToTheInitialRule) {
  EXPECT_EQ(only(Bytes().raw({0x90, 5, 0xd0})).rule(16), rule(Kind::offset, -8));
  EXPECT_EQ(only(Bytes().raw({0x90, 5, 0x06, 16})).rule(16), rule(Kind::offset, -8));
  EXPECT_EQ(only(Bytes().raw({0x86, 5, 0xc6})).rule(6), rule(Kind::unspecified));
  EXPECT_EQ(only(Bytes().u8(0x06).uleb(5000)).rule(16), rule(Kind::offset, -8));
}

TEST(CfiRows, RememberAndRestoreStateNest) {
  // State A: CFA r7+16. Inside: CFA r6+16, r3 saved. Inside that: r3 undefined.
  const Outcome outcome =
      run(Bytes().raw({0x0e, 16, 0x0a, 0x42, 0x0d, 6, 0x83, 3, 0x0a, 0x42, 0x07, 3, 0x42, 0x0b, 0x42, 0x0b}));
  EXPECT_FALSE(outcome.error);
  ASSERT_EQ(outcome.rows.size(), 5u);
  EXPECT_EQ(outcome.rows[0].cfa, cfa(7, 16));
  EXPECT_EQ(outcome.rows[1].cfa, cfa(6, 16));
  EXPECT_EQ(outcome.rows[1].rule(3), rule(Kind::offset, -24));
  EXPECT_EQ(outcome.rows[2].rule(3), rule(Kind::undefined));
  EXPECT_EQ(outcome.rows[3].rule(3), rule(Kind::offset, -24));
  EXPECT_EQ(outcome.rows[3].cfa, cfa(6, 16));
  EXPECT_EQ(outcome.rows[4].cfa, cfa(7, 16)); // the CFA comes back too
  EXPECT_EQ(outcome.rows[4].rule(3), rule(Kind::unspecified));
}

TEST(CfiRows, DeepNestingHasALimit) {
  Bytes balanced, too_deep;
  for (std::uint32_t i = 0; i < max_remembered_states; ++i)
    balanced.raw({0x0e, static_cast<int>(i + 1), 0x0a});
  too_deep.append(balanced).u8(0x0a);
  for (std::uint32_t i = 0; i < max_remembered_states - 1; ++i) balanced.u8(0x0b);
  balanced.u8(0x0b);
  EXPECT_EQ(only(balanced).cfa, cfa(7, 1));
  EXPECT_EQ(run(too_deep).error, ErrorKind::state_stack_full);
  EXPECT_EQ(run(Bytes().raw({0x0a, 0x0b, 0x0b})).error, ErrorKind::state_stack_empty);
  // What a CIE remembers is not for its FDEs.
  EXPECT_EQ(run(Bytes().u8(0x0b), Abi::amd64, Bytes().u8(0x0a)).error, ErrorKind::state_stack_empty);
}

TEST(CfiRows, Advances) {
  // Factored by 2: 1, 2, 3 and 4 units.
  const Bytes instructions = Bytes()
                                 .raw({0x41, 0x0e, 16, 0x02, 2, 0x0e, 24, 0x03})
                                 .u16(3)
                                 .raw({0x0e, 32, 0x04})
                                 .u32(4)
                                 .raw({0x0e, 40});
  const Outcome outcome = run(instructions);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(ranges(outcome), (Ranges{{0, 2}, {2, 6}, {6, 12}, {12, 20}, {20, size}}));
  EXPECT_EQ(outcome.rows[3].cfa, cfa(7, 32));
  EXPECT_EQ(outcome.rows[4].cfa, cfa(7, 40));
}

TEST(CfiRows, AdvancesInBigEndian) {
  CfiAssembler a(SectionKind::debug_frame, ByteOrder::big);
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(14).raw({0x0c, 15}).uleb(160));
  const auto at = a.fde(cie, a.body().u64(start).u64(0x20000).u8(0x03).u16(0x102).u8(0x04).u32(0x10000));
  const auto section = a.section(Abi::s390x);
  MinimalRowCursor rows(section, section.fde(at).value());
  MinimalRow row;
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row.end, start + 0x102);
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row.end, start + 0x10102);
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row.end, start + 0x20000);
  EXPECT_FALSE(rows.next(row));
  EXPECT_EQ(row.cfa, cfa(15, 160));
}

TEST(CfiRows, LastChangeAtAnAddressWins) {
  const Outcome outcome = run(Bytes().raw({0x0e, 16, 0x40, 0x0e, 24, 0x42, 0x0e, 32, 0x02, 0, 0x0e, 40}));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(ranges(outcome), (Ranges{{0, 4}, {4, size}}));
  EXPECT_EQ(outcome.rows[0].cfa, cfa(7, 24));
  EXPECT_EQ(outcome.rows[1].cfa, cfa(7, 40));
}

TEST(CfiRows, SetLocation) {
  const Outcome outcome = run(Bytes().u8(0x01).u64(start + 0x10).raw({0x0e, 16, 0x01}).u64(start + 0x20));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(ranges(outcome), (Ranges{{0, 0x10}, {0x10, 0x20}, {0x20, size}}));
  EXPECT_EQ(run(Bytes().raw({0x48, 0x01}).u64(start + 0xf)).error, ErrorKind::backwards);
  EXPECT_EQ(run(Bytes().u8(0x01).u64(start + size + 1)).error, ErrorKind::past_end);
}

TEST(CfiRows, SetLocationHasTheFdesEncoding) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(pe_pcrel | pe_sdata4));
  const std::uint64_t base = 0x400000, field = base + a.next_body();
  // The operand is 10 bytes after the start field: 4 + 4 + 1 and the opcode. It means field + 0x1000 +
  // 0x20.
  const auto at = a.fde(cie, a.body().u32(0x1000).u32(0x100).uleb(0).u8(0x01).u32(0x1020 - 10));
  const auto section = a.section(Abi::amd64, base);
  MinimalRowCursor rows(section, section.fde(at).value());
  MinimalRow row;
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row.begin, field + 0x1000);
  EXPECT_EQ(row.end, field + 0x1020);
}

TEST(CfiRows, TheEndOfTheRange) {
  // To the end exactly: what follows holds nowhere, but is still read.
  EXPECT_EQ(ranges(run(Bytes().raw({0x03}).u16(size / 2).raw({0x0e, 16}))), (Ranges{{0, size}}));
  EXPECT_EQ(run(Bytes().raw({0x03}).u16(size / 2).raw({0x0b})).error, ErrorKind::state_stack_empty);
  // Past it: the row up to the end is given, and then the error.
  const Outcome past = run(Bytes().raw({0x48, 0x0e, 16, 0x03}).u16(size));
  EXPECT_EQ(ranges(past), (Ranges{{0, 0x10}, {0x10, size}}));
  EXPECT_EQ(past.error, ErrorKind::past_end);
  EXPECT_EQ(run(Bytes().raw({0x03}).u16(size / 2).raw({0x41})).error, ErrorKind::past_end);
}

TEST(CfiRows, MalformedInstructions) {
  EXPECT_EQ(run(Bytes().raw({0x42, 0x17})).error, ErrorKind::unknown_opcode);
  EXPECT_EQ(run(Bytes().raw({0x42, 0x17})).rows.size(), 1u); // what came before is right
  EXPECT_EQ(run(Bytes().raw({0x3f})).error, ErrorKind::unknown_opcode);
  EXPECT_EQ(run(Bytes().raw({0x0c, 7})).error, ErrorKind::truncated);
  EXPECT_EQ(run(Bytes().raw({0x04, 1, 0})).error, ErrorKind::truncated);
  EXPECT_EQ(run(Bytes().raw({0x0f, 9, 0x77})).error, ErrorKind::truncated);
  EXPECT_EQ(run(Bytes().u8(0x10).u8(6).uleb(~std::uint64_t{0})).error, ErrorKind::truncated);
  EXPECT_EQ(run(Bytes().u8(0x0d).uleb(0x100000000)).error, ErrorKind::bad_register);
  EXPECT_EQ(run(Bytes().u8(0x07).uleb(0x100000000)).error, ErrorKind::bad_register);
  EXPECT_EQ(run(Bytes().u8(0x86).uleb(0x1000000000000001)).error, ErrorKind::offset_overflow);
  // Minus -2^63 is no number: GNU negative_offset_extended.
  EXPECT_EQ(run(Bytes().raw({0x2f, 6}).uleb(0x8000000000000000)).error, ErrorKind::offset_overflow);
}

// DWARF 5 has no negative operand for these, but LLVM writes `.cfi_def_cfa_offset -8` as the 64 bits of -8,
// and readelf prints cfa-8 for it.
TEST(CfiRows, UnsignedCfaOffsetsAreModulo64Bits) {
  EXPECT_EQ(only(Bytes().u8(0x0e).uleb(static_cast<std::uint64_t>(-8))).cfa, cfa(7, -8));
  EXPECT_EQ(only(Bytes().raw({0x0c, 6}).uleb(static_cast<std::uint64_t>(-16))).cfa, cfa(6, -16));
  EXPECT_EQ(only(Bytes().u8(0x0e).uleb(0x8000000000000000)).cfa, cfa(7, INT64_MIN));
}

// GNU as writes it where .cfi_restore comes first (binutils PR 33170). libgcc takes the register as unsaved.
TEST(CfiRows, RestoreInCieIsAnError) {
  const Outcome first = run(Bytes(), Abi::amd64, Bytes().u8(0xc6));
  EXPECT_EQ(only(first).rule(6), rule(Kind::unspecified));
  const Outcome extended = run(Bytes(), Abi::amd64, Bytes().raw({0x06, 6}));
  EXPECT_EQ(only(extended).rule(6), rule(Kind::unspecified));
  const Outcome takes_back = run(Bytes(), Abi::amd64, Bytes().raw({0x86, 2, 0xc6}));
  EXPECT_EQ(only(takes_back).rule(6), rule(Kind::unspecified));
  // A restore in the FDE goes back to that.
  const Outcome in_fde = run(Bytes().raw({0x86, 2, 0xc6}), Abi::amd64, Bytes().u8(0xc6));
  EXPECT_EQ(only(in_fde).rule(6), rule(Kind::unspecified));
}

TEST(CfiRows, InitialInstructionsDoNotAdvance) {
  EXPECT_EQ(run(Bytes(), Abi::amd64, Bytes().u8(0x41)).error, ErrorKind::not_in_cie);
  EXPECT_TRUE(run(Bytes(), Abi::amd64, Bytes().u8(0x41)).rows.empty());
  Bytes long_program;
  for (std::size_t i = 0; i < max_initial_instructions; ++i) long_program.u8(0);
  EXPECT_EQ(run(Bytes(), Abi::amd64, long_program).error, ErrorKind::too_large);
}

TEST(CfiRows, ReturnAddressSigning) {
  const Outcome outcome =
      run(Bytes().raw({0x42, 0x2d, 0x0a, 0x42, 0x2d, 0x42, 0x0b, 0x42, 0xd0, 0x2c}), Abi::aarch64_little);
  EXPECT_FALSE(outcome.error);
  ASSERT_EQ(outcome.rows.size(), 5u);
  const bool is_signed[] = {false, true, false, true, false};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(outcome.rows[i].ra_signed, is_signed[i]) << i;
  EXPECT_FALSE(outcome.rows[3].ra_signed_with_pc);
  EXPECT_TRUE(outcome.rows[4].ra_signed_with_pc);
  EXPECT_EQ(run(Bytes().u8(0x2d)).error, ErrorKind::unknown_opcode); // amd64
  EXPECT_EQ(run(Bytes().u8(0x2c)).error, ErrorKind::unknown_opcode);
}

// DW_CFA_AARCH64_negate_ra_state_with_pc (0x2c) inverts both bits of RA_SIGN_STATE, negate_ra_state (0x2d)
// the first one (DWARF for the Arm 64-bit Architecture, section 4.4).
TEST(CfiRows, ReturnAddressSigningIsAToggle) {
  const Outcome outcome =
      run(Bytes().raw({0x42, 0x2c, 0x42, 0x2c, 0x42, 0x2d, 0x42, 0x2c, 0x42, 0x2d}), Abi::aarch64_little);
  EXPECT_FALSE(outcome.error);
  const std::pair<bool, bool> bits[] = {{false, false}, {true, true},  {false, false},
                                        {true, false},  {false, true}, {true, true}};
  ASSERT_EQ(outcome.rows.size(), std::size(bits));
  for (std::size_t i = 0; i < std::size(bits); ++i)
    EXPECT_EQ(std::pair(outcome.rows[i].ra_signed, outcome.rows[i].ra_signed_with_pc), bits[i]) << i;
}

TEST(CfiRows, MinimalRegistersFollowTheReturnColumn) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(40));
  const auto at =
      a.fde(cie, a.body().u64(start).u64(size).raw({0x0c, 7, 8, 0x90, 1, 0xa8, 2, 0x86, 3, 0x83, 4}));
  const auto section = a.section();
  MinimalRowCursor rows(section, section.fde(at).value());
  MinimalRow row;
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(row.return_register, 40u);
  EXPECT_EQ(row.ra(), rule(Kind::offset, -16));
  EXPECT_EQ(row.rule(6), rule(Kind::offset, -24));
  EXPECT_EQ(row.rule(7), rule(Kind::unspecified));
  EXPECT_EQ(row.rule(3), rule(Kind::unspecified)); // not followed
}

TEST(CfiRows, FindStopsAtTheRowOfAnAddress) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(16).raw({0x0c, 7, 8}));
  const auto at = a.fde(cie, a.body().u64(start).u64(size).raw({0x44, 0x0e, 16, 0x44, 0x0e, 24}));
  const auto section = a.section();
  const auto fde = section.fde(at).value();
  const auto offset_at = [&](std::uint64_t pc) {
    MinimalRow row;
    return MinimalRowCursor(section, fde).find(pc, row) ? row.cfa.offset : -1;
  };
  EXPECT_EQ(offset_at(start), 8);
  EXPECT_EQ(offset_at(start + 3), 8);
  EXPECT_EQ(offset_at(start + 4), 16);
  EXPECT_EQ(offset_at(start + size - 1), 24);
  EXPECT_EQ(offset_at(start + size), -1);
  EXPECT_EQ(offset_at(start - 1), -1);
}

TEST(CfiRows, EmptyRangeHasNoRows) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(16).raw({0x0c, 7, 8}));
  const auto at = a.fde(cie, a.body().u64(start).u64(0).raw({0x0e, 16}));
  const auto section = a.section();
  MinimalRowCursor rows(section, section.fde(at).value());
  MinimalRow row;
  EXPECT_FALSE(rows.next(row));
  EXPECT_FALSE(rows.error());
}

} // namespace cfi_rows_test
