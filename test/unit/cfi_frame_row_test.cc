// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of CFI rows to frame rows: the result of each rule, and rules that are not representable.

#include "cfi_assembler.h"
#include "sframe/cfi/frame_row.h"

#include "gtest/gtest.h"

#include <random>
#include <set>
#include <string>

namespace cfi_frame_row_test {

using namespace sframe;
using namespace sframe::cfi;
using test::Bytes;
using test::CfiAssembler;
using Result = sframe::expected<FrameRow, Unrepresentable>;

constexpr std::uint64_t start = 0x1000;

/// The projection of the first row of a function with these instructions: its CIE has no rules, and has data
/// alignment 1.
Result project(const Bytes& instructions, Abi abi, std::uint32_t column) {
  const AbiTraits& its = traits(abi);
  CfiAssembler a(SectionKind::debug_frame, its.byte_order);
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(1).uleb(column));
  const auto at = a.fde(cie, a.body().u64(start).u64(0x100).append(instructions));
  const CfiSection section = a.section(abi);
  const auto fde = section.fde(at).value();
  MinimalRow core;
  FullRow full;
  EXPECT_TRUE(MinimalRowCursor(section, fde).next(core));
  EXPECT_TRUE(FullRowCursor(section, fde).next(full));
  const Result result = to_frame_row(core, its);
  EXPECT_EQ(result, to_frame_row(full, its));
  const MinimalRow cut = minimal_row(full, its);
  EXPECT_EQ(cut.cfa, core.cfa);
  EXPECT_EQ(cut.rules, core.rules);
  EXPECT_EQ(std::pair(cut.begin, cut.end), std::pair(core.begin, core.end));
  EXPECT_EQ(cut.fde_start, core.fde_start);
  EXPECT_EQ(cut.return_register, core.return_register);
  EXPECT_EQ(std::pair(cut.ra_signed, cut.ra_signed_with_pc),
            std::pair(core.ra_signed, core.ra_signed_with_pc));
  return result;
}

Result project(const Bytes& instructions, Abi abi = Abi::amd64) {
  return project(instructions, abi, traits(abi).ra);
}

// AMD64: r6 = FP, r7 = SP, r16 = RA. The usual rest of a row, for tests that are about one register.
Bytes cfa() {
  return Bytes().raw({0x0c, 7, 16});
}
Bytes usual() {
  return cfa().raw({0x11, 16, 0x78});
}

TEST(CfiFrameRow, UsualRows) {
  EXPECT_EQ(project(usual()), (FrameRow{0, Rule::value(7, 16), Rule::fixed(), Rule::same(), false}));
  EXPECT_EQ(project(usual().raw({0x0d, 6, 0x11, 6, 0x70})),
            (FrameRow{0, Rule::value(6, 16), Rule::fixed(), Rule::at_cfa(-16), false}));
  EXPECT_EQ(project(Bytes().raw({0x0c, 31, 0}), Abi::aarch64_little),
            (FrameRow{0, Rule::value(31, 0), Rule::same(), Rule::same(), false}));
  EXPECT_EQ(project(Bytes().raw({0x2d, 0x0c, 29, 32, 0x11, 29, 0x60, 0x11, 30, 0x68}), Abi::aarch64_big),
            (FrameRow{0, Rule::value(29, 32), Rule::at_cfa(-24), Rule::at_cfa(-32), true}));
}

TEST(CfiFrameRow, OffsetIsFromTheFdesStart) {
  CfiAssembler a(SectionKind::debug_frame);
  const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(1).uleb(16));
  const auto at = a.fde(
      cie, a.body().u64(start).u64(0x200000000).append(usual()).u8(0x45).u8(0x01).u64(start + 0x100000000));
  const CfiSection section = a.section();
  MinimalRowCursor rows(section, section.fde(at).value());
  MinimalRow row;
  ASSERT_TRUE(rows.next(row) && rows.next(row));
  EXPECT_EQ(to_frame_row(row, section.abi())->offset, 5u);
  ASSERT_TRUE(rows.next(row));
  EXPECT_EQ(to_frame_row(row, section.abi()), Result(sframe::unexpected(Unrepresentable::offset_range)));
}

TEST(CfiFrameRow, CfaRules) {
  const auto cfa_of = [](const Bytes& definition) {
    return project(Bytes().append(definition).raw({0x11, 16, 0x78}));
  };
  EXPECT_EQ(cfa_of(Bytes().raw({0x0c, 10, 0}))->cfa, Rule::value(10, 0));
  // breg6 -8; deref (a realigned stack) and breg6 -8.
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 3, 0x76, 0x78, 0x06}))->cfa, Rule::stored(6, -8));
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 2, 0x76, 0x78}))->cfa, Rule::value(6, -8));
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 4, 0x92, 40, 0x78, 0x06}))->cfa, Rule::stored(40, -8)); // bregx
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 3, 0x30, 0x06, 0x96})).error(), Unrepresentable::cfa_expression);
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 0})).error(), Unrepresentable::cfa_expression);
  EXPECT_EQ(cfa_of(Bytes().raw({0x0f, 4, 0x76, 0x78, 0x06, 0x06})).error(), Unrepresentable::cfa_expression);
  EXPECT_EQ(cfa_of(Bytes()).error(), Unrepresentable::cfa_unspecified);
  EXPECT_EQ(cfa_of(Bytes().u8(0x0c).uleb(0xffff).u8(0)).error(), Unrepresentable::register_range);
  EXPECT_EQ(cfa_of(Bytes().u8(0x0c).uleb(0xfffe).u8(0))->cfa, Rule::value(0xfffe, 0));
  EXPECT_EQ(cfa_of(Bytes().u8(0x0c).uleb(7).uleb(0x80000000)).error(), Unrepresentable::offset_range);
  EXPECT_EQ(cfa_of(Bytes().u8(0x0c).uleb(7).uleb(0x7fffffff))->cfa, Rule::value(7, 0x7fffffff));
}

TEST(CfiFrameRow, PltExpression) {
  // binutils' x86-64 PLT: breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
  const Bytes plt = Bytes().raw({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
  EXPECT_EQ(plt_cfa(plt.get(), traits(Abi::amd64)), (PltCfa{7, 8, 15, 11, 8}));
  EXPECT_EQ(plt_cfa(plt.get(), traits(Abi::amd64))->block_size(), 16u);
  EXPECT_EQ(project(Bytes().u8(0x0f).uleb(plt.size()).append(plt).raw({0x11, 16, 0x78})).error(),
            Unrepresentable::cfa_plt);

  const auto with = [](std::initializer_list<int> bytes) {
    return plt_cfa(Bytes().raw(bytes).get(), traits(Abi::amd64));
  };
  // Constants in another form: const1u 31.
  EXPECT_EQ(with({0x77, 8, 0x80, 0, 0x08, 31, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22}), (PltCfa{7, 8, 31, 9, 8}));
  EXPECT_FALSE(with({0x77, 8, 0x80, 1, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})); // pc + 1
  EXPECT_FALSE(with({0x77, 8, 0x70, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})); // not pc
  EXPECT_FALSE(with({0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22})); // no mask
  EXPECT_FALSE(
      with({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x4f, 0x2a, 0x33, 0x24, 0x22}));    // threshold above the mask
  EXPECT_FALSE(with({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24})); // cut short
  EXPECT_FALSE(with({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x06}));
  EXPECT_FALSE(with({}));
}

// breg7 `offset`; breg16 0; `mask`; and; `threshold`; ge; `shift`; shl; plus: the numbers that make a block.
TEST(CfiFrameRow, PltExpressionsLimits) {
  const auto with = [](std::int64_t offset, std::uint64_t mask, std::uint64_t threshold,
                       std::uint64_t shift) {
    return plt_cfa(Bytes()
                       .u8(0x77)
                       .sleb(offset)
                       .raw({0x80, 0, 0x10})
                       .uleb(mask)
                       .raw({0x1a, 0x10})
                       .uleb(threshold)
                       .raw({0x2a, 0x10})
                       .uleb(shift)
                       .raw({0x24, 0x22})
                       .get(),
                   traits(Abi::amd64));
  };
  EXPECT_EQ(with(8, 1, 1, 0), (PltCfa{7, 8, 1, 1, 1}));
  EXPECT_EQ(with(8, 255, 255, 15), (PltCfa{7, 8, 255, 255, 0x8000}));
  EXPECT_FALSE(with(8, 0, 0, 3));
  EXPECT_FALSE(with(8, 511, 11, 3));
  EXPECT_FALSE(with(8, 15, 0, 3));
  EXPECT_TRUE(with(8, 15, 15, 3));
  EXPECT_FALSE(with(8, 15, 16, 3));
  EXPECT_FALSE(with(8, 15, 11, 16));
  EXPECT_TRUE(with(INT32_MAX, 15, 11, 3));
  EXPECT_TRUE(with(INT32_MIN, 15, 11, 3));
  EXPECT_FALSE(with(INT64_C(0x80000000), 15, 11, 3));
  const auto based_on = [](std::uint64_t reg) {
    return plt_cfa(
        Bytes().u8(0x92).uleb(reg).raw({8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}).get(),
        traits(Abi::amd64));
  };
  EXPECT_TRUE(based_on(0xfffe));
  EXPECT_FALSE(based_on(0xffff)) << "would be taken for the CFA";
}

TEST(CfiFrameRow, ReturnAddress) {
  const auto ra = [](const Bytes& rule, Abi abi = Abi::amd64) {
    return project(Bytes().raw({0x0c, traits(abi).sp, 0}).append(rule), abi);
  };
  EXPECT_EQ(ra(Bytes().raw({0x11, 16, 0x70}))->ra, Rule::at_cfa(-16));
  EXPECT_EQ(ra(Bytes()).error(), Unrepresentable::ra_unsaved);
  EXPECT_EQ(ra(Bytes().raw({0x08, 16})).error(), Unrepresentable::ra_unsaved);
  EXPECT_EQ(ra(Bytes().raw({0x09, 16, 2}))->ra, Rule::in_register(2));
  EXPECT_EQ(ra(Bytes().raw({0x10, 16, 3, 0x77, 0xa8, 0x01}))->ra,
            Rule::stored(7, 168));                                               // breg7 168: a signal frame
  EXPECT_EQ(ra(Bytes().raw({0x10, 16, 0}))->ra, Rule::at_cfa(0));                // the CFA is on the stack
  EXPECT_EQ(ra(Bytes().raw({0x10, 16, 3, 0x23, 8, 0x96}))->ra, Rule::at_cfa(8)); // plus_uconst 8; nop
  EXPECT_EQ(ra(Bytes().raw({0x10, 16, 2, 0x38, 0x1c}))->ra, Rule::fixed());      // lit8; minus
  EXPECT_EQ(ra(Bytes().raw({0x10, 16, 3, 0x77, 8, 0x06})).error(),
            Unrepresentable::ra_expression); // two loads
  EXPECT_EQ(ra(Bytes().raw({0x16, 16, 2, 0x72, 4}))->ra, Rule::value(2, 4));
  EXPECT_EQ(ra(Bytes().raw({0x16, 16, 3, 0x72, 4, 0x06}))->ra, Rule::stored(2, 4));
  EXPECT_EQ(ra(Bytes().raw({0x16, 16, 1, 0x06}))->ra, Rule::at_cfa(0));
  EXPECT_EQ(ra(Bytes().raw({0x16, 16, 0})).error(), Unrepresentable::ra_val_offset);
  EXPECT_EQ(ra(Bytes().raw({0x16, 16, 2, 0x30, 0x12})).error(), Unrepresentable::ra_expression);
  EXPECT_EQ(ra(Bytes().raw({0x14, 16, 8})).error(), Unrepresentable::ra_val_offset);
  EXPECT_EQ(ra(Bytes().u8(0x11).u8(16).sleb(-0x80000001ll)).error(), Unrepresentable::offset_range);
  EXPECT_EQ(ra(Bytes().raw({0x09, 30, 30}), Abi::aarch64_little)->ra, Rule::same());
  EXPECT_EQ(ra(Bytes().raw({0x08, 30}), Abi::aarch64_little)->ra, Rule::same());
  EXPECT_EQ(ra(Bytes().raw({0x09, 30, 3}), Abi::aarch64_little)->ra, Rule::in_register(3));
  EXPECT_EQ(ra(Bytes().u8(0x2c), Abi::aarch64_little).error(), Unrepresentable::ra_signed_with_pc);
}

TEST(CfiFrameRow, UndefinedReturnAddressIsTheOutermostFrame) {
  EXPECT_EQ(project(Bytes().raw({0x07, 16})), FrameRow::outermost(0)); // even without a CFA
  EXPECT_EQ(project(Bytes().raw({0x0c, 31, 0, 0x07, 30, 0x2d}), Abi::aarch64_little), FrameRow::outermost(0));
}

TEST(CfiFrameRow, OtherReturnColumns) {
  EXPECT_EQ(project(cfa(), Abi::amd64, 2)->ra, Rule::in_register(2));
  EXPECT_EQ(project(cfa().raw({0x11, 2, 0x78}), Abi::amd64, 2)->ra, Rule::fixed());
  EXPECT_EQ(project(cfa(), Abi::amd64, 7).error(), Unrepresentable::ra_column);
  EXPECT_EQ(project(cfa(), Abi::amd64, 6).error(), Unrepresentable::ra_column);
}

TEST(CfiFrameRow, FramePointer) {
  const auto fp = [](std::initializer_list<int> rule) { return project(usual().raw(rule)); };
  EXPECT_EQ(fp({0x08, 6})->fp, Rule::same());
  EXPECT_EQ(fp({0x07, 6})->fp, Rule::same()); // unwinders leave the register as it is
  EXPECT_EQ(fp({0x09, 6, 6})->fp, Rule::same());
  EXPECT_EQ(fp({0x09, 6, 3})->fp, Rule::in_register(3));
  EXPECT_EQ(fp({0x10, 6, 2, 0x76, 0})->fp, Rule::stored(6, 0)); // breg6 0: a realigned stack
  EXPECT_EQ(fp({0x16, 6, 2, 0x73, 1})->fp, Rule::value(3, 1));
  EXPECT_EQ(fp({0x14, 6, 8}).error(), Unrepresentable::fp_val_offset);
  EXPECT_EQ(fp({0x10, 6, 2, 0x30, 0x12}).error(), Unrepresentable::fp_expression);
}

TEST(CfiFrameRow, StackPointerIsTheCfa) {
  const auto sp = [](std::initializer_list<int> rule) { return project(usual().raw(rule)); };
  EXPECT_TRUE(sp({0x14, 7, 0}));
  EXPECT_TRUE(sp({0x07, 7}));
  EXPECT_EQ(sp({0x14, 7, 8}).error(), Unrepresentable::sp_rule);
  EXPECT_EQ(sp({0x08, 7}).error(), Unrepresentable::sp_rule); // SP, but the CFA is SP + 16
  EXPECT_TRUE(sp({0x0e, 0, 0x08, 7}));
  EXPECT_EQ(sp({0x11, 7, 0x70}).error(), Unrepresentable::sp_rule);
  EXPECT_EQ(sp({0x09, 7, 3}).error(), Unrepresentable::sp_rule);
  EXPECT_TRUE(sp({0x0c, 3, 0, 0x09, 7, 3})); // CFA = r3, SP in r3
  EXPECT_TRUE(sp({0x16, 7, 2, 0x77, 16}));   // SP + 16 as an expression
  EXPECT_EQ(sp({0x16, 7, 2, 0x77, 24}).error(), Unrepresentable::sp_rule);
  // A signal frame: the CFA is the SP stored at r7 + 160, and so is SP.
  EXPECT_TRUE(sp({0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 7, 3, 0x77, 0xa0, 0x01}));
  EXPECT_EQ(sp({0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 7, 3, 0x77, 0xa8, 0x01}).error(),
            Unrepresentable::sp_rule);
}

TEST(CfiFrameRow, StackPointerOnS390x) {
  const auto sp = [](const Bytes& rules) { return project(rules, Abi::s390x); };
  const auto at = [](std::uint64_t offset) { return Bytes(ByteOrder::big).raw({0x0c, 15}).uleb(offset); };
  EXPECT_EQ(sp(at(160)), (FrameRow{0, Rule::value(15, 160), Rule::same(), Rule::same(), false}));
  EXPECT_TRUE(sp(at(160).raw({0x08, 15})));
  EXPECT_EQ(sp(at(168).raw({0x08, 15})).error(),
            Unrepresentable::sp_rule); // SP stays, but the CFA is SP + 168
  // Saved with r14 and r11, as compilers do: r15 at CFA - 40. RA and FP in floating-point registers.
  EXPECT_EQ(sp(at(320).raw({0x11, 15, 0x58, 0x09, 14, 17, 0x09, 11, 16})),
            (FrameRow{0, Rule::value(15, 320), Rule::in_register(17), Rule::in_register(16), false}));
  EXPECT_TRUE(sp(at(160).raw({0x09, 15, 18})));
  EXPECT_TRUE(sp(at(160).u8(0x15).u8(15).sleb(-160)));
}

/// A reader that applies a row takes SP = CFA - 160. A CFI row that puts SP elsewhere is the same row with
/// its CFA moved: SP, RA and FP come out the same.
TEST(CfiFrameRow, StackPointerElsewhereOnS390x) {
  const auto at = [](std::uint64_t offset, std::int64_t sp) {
    return Bytes(ByteOrder::big).raw({0x0c, 15}).uleb(offset).u8(0x15).u8(15).sleb(sp);
  };
  const auto made = [](const Bytes& rules) { return project(rules, Abi::s390x); };
  // Go: a leaf, and a frame of 96 bytes with r14 at its bottom; r11 at its top.
  EXPECT_EQ(made(at(0, 0)), (FrameRow{0, Rule::value(15, 160), Rule::same(), Rule::same(), false}));
  EXPECT_EQ(made(at(96, 0).u8(0x11).u8(14).sleb(-96).u8(0x11).u8(11).sleb(-8)),
            (FrameRow{0, Rule::value(15, 256), Rule::at_cfa(-256), Rule::at_cfa(-168), false}));
  EXPECT_EQ(made(at(160, -152)), (FrameRow{0, Rule::value(15, 168), Rule::same(), Rule::same(), false}));
  // What does not count from the CFA stays: registers, and slots at registers (breg12 - 16).
  EXPECT_EQ(made(at(0, 0).raw({0x10, 14, 2, 0x7c, 0x70, 0x09, 11, 16})),
            (FrameRow{0, Rule::value(15, 160), Rule::stored(12, -16), Rule::in_register(16), false}));
  // The CFA as a word in memory has no offset to add to; sums have to fit.
  EXPECT_EQ(made(at(0, 0).raw({0x0f, 3, 0x7f, 40, 0x06})).error(), Unrepresentable::sp_rule);
  EXPECT_EQ(made(at(0x7fffffff, 0)).error(), Unrepresentable::offset_range);
  EXPECT_EQ(made(at(0, INT64_MAX)).error(), Unrepresentable::offset_range);
  EXPECT_EQ(made(at(0, INT64_MIN)).error(), Unrepresentable::offset_range);
  EXPECT_EQ(made(at(0, 0x7fffffff - 159)).error(), Unrepresentable::offset_range);
}

/// Rows put together at random from few values, so that neighbours are often alike in part.
TEST(CfiFrameRow, MakerMatchesToFrameRow) {
  using Kind = RegisterRule::Kind;
  // Expressions: breg7+8, breg6-16, deref.
  const auto section = Bytes().raw({0x77, 8, 0x76, 0x70, 0x06}).get();
  const std::vector<RegisterRule> rules = {{},
                                           {Kind::undefined, 0, 0},
                                           {Kind::same, 0, 0},
                                           {Kind::offset, 0, -8},
                                           {Kind::offset, 0, -16},
                                           {Kind::offset, 0, std::int64_t{1} << 40},
                                           {Kind::val_offset, 0, 0},
                                           {Kind::reg, 3, 0},
                                           {Kind::expression, 2, 0},
                                           {Kind::expression, 2, 2},
                                           {Kind::val_expression, 3, 2}};
  const std::vector<CfaRule> cfas = {{},
                                     {CfaRule::Kind::register_offset, 7, 8},
                                     {CfaRule::Kind::register_offset, 7, 16},
                                     {CfaRule::Kind::register_offset, 6, 16},
                                     {CfaRule::Kind::register_offset, 0xffff, 16},
                                     {CfaRule::Kind::register_offset, 7, std::int64_t{1} << 40},
                                     {CfaRule::Kind::expression, 3, 2}};
  std::mt19937 random(11);
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  for (const Abi abi : {Abi::amd64, Abi::aarch64_little, Abi::s390x}) {
    const AbiTraits& its = traits(abi);
    FrameRowMaker maker(its);
    MinimalRow row;
    row.section = section;
    for (int i = 0; i < 20000; ++i) {
      row.cfa = pick(cfas);
      if (random() % 4 == 0) row.rules[random() % 3] = pick(rules);
      if (random() % 8 == 0) row.rules = {pick(rules), pick(rules), {}};
      row.return_register = random() % 16 ? its.ra : its.fp;
      row.registers = MinimalRegisters(its, row.return_register);
      row.ra_signed = random() % 2;
      row.ra_signed_with_pc = random() % 16 == 0;
      row.begin = random() % 16 ? random() % 256 : std::uint64_t{1} << 33;
      const auto expected = to_frame_row(row, its);
      const FrameRow* const made = maker.make(row);
      ASSERT_EQ(made != nullptr, expected.has_value()) << i;
      if (made)
        ASSERT_EQ(*made, *expected) << i;
      else
        ASSERT_EQ(maker.reason(), expected.error()) << i;
    }
  }
}

TEST(CfiFrameRow, ReasonsHaveMessages) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Unrepresentable::offset_range); ++i) {
    const auto reason = static_cast<Unrepresentable>(i);
    EXPECT_STRNE(message(reason), "unknown reason");
    EXPECT_TRUE(names.insert(reason_name(reason)).second) << reason_name(reason);
  }
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(CfiLinearExpression, Constants) {
  const auto linear = [](const Bytes& bytes, bool cfa_on_stack = false) {
    return linear_expression(bytes.get(), traits(Abi::amd64), cfa_on_stack);
  };
  EXPECT_EQ(linear(Bytes().u8(0x77).sleb(8).u8(0x23).uleb(300)), (LinearExpression{7, 308, false}));
  EXPECT_EQ(linear(Bytes().u8(0x77).sleb(8).u8(0x0e).u64(-24ull).u8(0x22)),
            (LinearExpression{7, -16, false}));
  EXPECT_EQ(linear(Bytes().u8(0x77).sleb(8).u8(0x0b).u16(-2).u8(0x1c).u8(0x06)),
            (LinearExpression{7, 10, true}));
  EXPECT_EQ(linear(Bytes(), true), (LinearExpression{Rule::cfa_base, 0, false}));
  EXPECT_FALSE(linear(Bytes()));
  EXPECT_FALSE(linear(Bytes().raw({0x77, 8, 0x77, 8})));    // two values
  EXPECT_FALSE(linear(Bytes().raw({0x77, 8, 0x38})));       // a constant that nothing takes
  EXPECT_FALSE(linear(Bytes().raw({0x77, 8, 0x38, 0x1e}))); // mul
  EXPECT_FALSE(linear(Bytes().raw({0x77})));
  EXPECT_FALSE(linear(Bytes().u8(0x92).uleb(0xffff).u8(0))); // would be taken for the CFA
}

// Each row of a function may have the same one.
TEST(CfiLinearExpression, HasALimitedSize) {
  for (const std::size_t size : {max_linear_expression, max_linear_expression + 1}) {
    Bytes bytes;
    bytes.raw({0x77, 8});
    for (std::size_t at = 2; at < size; ++at) bytes.u8(0x96); // nop
    EXPECT_EQ(linear_expression(bytes.get(), traits(Abi::amd64), false).has_value(),
              size == max_linear_expression);
  }
}

// A size of vectors that the processor decides: VG, register 46 of AArch64.
TEST(CfiFrameRow, ScalableVectors) {
  const Result scalable = unexpected(Unrepresentable::scalable);
  const auto of = [](const Bytes& instructions) { return project(instructions, Abi::aarch64_little); };
  const Bytes usual = Bytes().raw({0x0c, 31, 16});
  // sp + VG * 16, and with plus_uconst, as gcc writes them
  EXPECT_EQ(of(Bytes().raw({0x0f, 8, 0x8f, 0, 0x92, 46, 0, 0x40, 0x1e, 0x22})), scalable);
  EXPECT_EQ(of(Bytes().raw({0x0f, 10, 0x8f, 0, 0x92, 46, 0, 0x40, 0x1e, 0x23, 16, 0x22})), scalable);
  // As clang does: constants in any form, regx
  EXPECT_EQ(of(Bytes().raw({0x0f, 9, 0x8f, 16, 0x11, 16, 0x92, 46, 0, 0x1e, 0x22})), scalable);
  EXPECT_EQ(of(Bytes().raw({0x0f, 7, 0x8f, 16, 0x90, 46, 0x40, 0x1e, 0x22})), scalable);
  // RA and FP at CFA - 8 - VG * 8
  const auto saved = [&](std::uint8_t reg) {
    return of(Bytes(usual).raw({0x10, reg, 8, 0x38, 0x1c, 0x92, 46, 0, 0x38, 0x1e, 0x1c}));
  };
  EXPECT_EQ(saved(30), scalable);
  EXPECT_EQ(saved(29), scalable);
  EXPECT_TRUE(saved(28)) << "a row does not have it";
  // Another register, or machine; an operand that looks like the operation
  const Result other = unexpected(Unrepresentable::cfa_expression);
  EXPECT_EQ(of(Bytes().raw({0x0f, 8, 0x8f, 0, 0x92, 45, 0, 0x40, 0x1e, 0x22})), other);
  EXPECT_EQ(of(Bytes().raw({0x0f, 6, 0x8f, 0, 0x0a, 0x92, 46, 0x1e})), other);
  EXPECT_EQ(project(Bytes().raw({0x0f, 8, 0x77, 0, 0x92, 46, 0, 0x40, 0x1e, 0x22})), other);
}

} // namespace cfi_frame_row_test
