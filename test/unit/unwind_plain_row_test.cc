// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain rows find the same callers, and fail for the same reasons, as the general forms of the same rows: a
// CompiledRow and step_by_row().

#include "made_up_space.h"

#include "sframe/unwind/compiled_row.h"
#include "sframe/unwind/plain_row.h"
#include "sframe/unwind/row_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace unwind_plain_row_test {

using namespace sframe;
using namespace sframe::test;

constexpr Abi abis[] = {Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x};
constexpr std::uint64_t stack = 0x7000;

class Random {
public:
  /// One of 0 to `below` - 1.
  std::uint32_t number(std::uint32_t below) { return static_cast<std::uint32_t>(engine_() % below); }
  bool one_of(std::uint32_t count) { return number(count) == 0; }
  /// A word's offset near the CFA.
  std::int32_t offset() { return 8 * (static_cast<std::int32_t>(number(64)) - 32); }

private:
  std::mt19937 engine_{1};
};

/// Stack words that are their address + 0x10000, some of which are missing.
void fill(MadeUpSpace& space, Random& random) {
  for (std::uint64_t address = stack - 0x300; address < stack + 0x300; address += 8)
    if (!random.one_of(40)) space.word(address, address + 0x10000);
}

FrameState frame_of(Random& random) {
  FrameState frame;
  frame.pc_exact = random.one_of(2);
  frame.registers.pc = 0x1050;
  for (std::uint16_t reg = 0; reg < Registers::count; ++reg)
    if (!random.one_of(8)) frame.registers.set(reg, stack + static_cast<std::uint64_t>(random.offset()));
  return frame;
}

/// A caller's state as a step before has left it.
FrameState leftover() {
  FrameState state;
  state.registers.values.fill(0xbad);
  state.registers.known = ~std::uint64_t{0} >> (64 - Registers::count);
  state.pc_exact = true;
  return state;
}

/// A frame on a made-up stack, and room for its caller, found in two ways.
struct MadeUpStep {
  MadeUpSpace space;
  Memory memory{space};
  FrameState frame, caller = leftover(), expected = leftover();

  MadeUpStep(const AbiTraits& abi, Random& random) : space(abi) {
    fill(space, random);
    frame = frame_of(random);
  }
};

void expect_equal(const StepResult& plain, const FrameState& caller, const StepResult& general,
                  const FrameState& expected) {
  ASSERT_EQ(plain.status, general.status);
  EXPECT_EQ(plain.reason, general.reason);
  EXPECT_EQ(plain.detail, general.detail);
  if (plain.status != StepStatus::stepped) return;
  EXPECT_EQ(plain.cfa, general.cfa);
  EXPECT_EQ(plain.has_cfa, general.has_cfa);
  EXPECT_EQ(plain.signal_frame, general.signal_frame);
  EXPECT_EQ(plain.same_stack, general.same_stack);
  EXPECT_EQ(caller.pc_exact, expected.pc_exact);
  EXPECT_EQ(caller.registers.pc, expected.registers.pc);
  ASSERT_EQ(caller.registers.known, expected.registers.known);
  for (std::uint16_t reg = 0; reg < Registers::count; ++reg)
    EXPECT_EQ(caller.registers.get(reg), expected.registers.get(reg)) << reg;
}

using Kind = cfi::RegisterRule::Kind;

CfiMatch cfi_match(const AbiTraits& abi, Random& random) {
  CfiMatch match;
  match.signal_frame = random.one_of(30);
  match.row.return_register = abi.ra;
  match.row.cfa = {cfi::CfaRule::Kind::register_offset, random.one_of(2) ? abi.sp : random.number(34),
                   random.offset()};
  for (std::uint32_t reg = 0; reg < match.row.rules.size(); ++reg)
    if (random.one_of(6))
      match.row.rules[reg] = {random.one_of(8) ? Kind::undefined : Kind::offset, 0, random.offset()};
  match.row.rules[abi.ra] = {Kind::offset, 0, random.offset()};
  return match;
}

/// What makes a row of CFI one that is not plain.
void spoil(CfiMatch& match, const AbiTraits& abi, std::uint32_t how) {
  auto& row = match.row;
  const std::uint32_t other = abi.ra ? 0 : 1;
  switch (how) {
  case 0: match.signal_frame = true; break;
  case 1: row.cfa.kind = cfi::CfaRule::Kind::expression; break;
  case 2: row.cfa.number = Registers::count; break;
  case 3: row.cfa.offset = std::int64_t{1} << 31; break;
  case 4: row.rules[abi.ra].offset = 1 << 15; break;
  case 5: row.rules[abi.ra].kind = Kind::same; break;
  case 6: row.rules[other] = {Kind::offset, 0, -(1 << 15) - 1}; break;
  case 7: row.rules[other] = {Kind::val_offset, 0, 8}; break;
  case 8: row.rules[abi.sp] = {Kind::offset, 0, 1 << 15}; break;
  case 9: row.rules[abi.sp] = {Kind::reg, 1, 0}; break;
  case 10:
    for (std::uint32_t reg = 17; reg < 27; ++reg) row.rules[reg] = {Kind::offset, 0, 8};
    break;
  }
}

TEST(PlainRow, AgreesWithCompiledRows) {
  Random random;
  int plain = 0, stepped = 0;
  for (int round = 0; round < 4000; ++round) {
    const AbiTraits& abi = traits(abis[round % 4]);
    const UnwindAbi& unwind = *find_unwind_abi(abi.id);
    const CfiMatch match = cfi_match(abi, random);
    PlainRow row;
    if (!row.compile(match, abi, unwind)) continue;
    ++plain;
    CompiledRow general;
    general.compile(match, abi);
    MadeUpStep step(abi, random);
    const StepResult result = row.apply(step.frame, step.memory, abi, step.caller);
    StepResult other = general.apply(step.frame, step.memory, abi, unwind, step.expected);
    // Without SP there is no walk: walkers turn that into this error.
    if (other.status == StepStatus::stepped && !step.expected.registers.has(abi.sp))
      other = StepResult::failed(StopReason::unknown_register, abi.sp);
    expect_equal(result, step.caller, other, step.expected);
    ASSERT_FALSE(HasFailure()) << round;
    stepped += result.status == StepStatus::stepped;
  }
  EXPECT_GT(plain, 1000);
  EXPECT_GT(stepped, 500);
  EXPECT_LT(stepped, plain);
}

TEST(PlainRow, RefusesOtherRows) {
  Random random;
  for (const Abi id : abis) {
    const AbiTraits& abi = traits(id);
    for (std::uint32_t how = 0; how < 11; ++how) {
      CfiMatch match;
      match.row.return_register = abi.ra;
      match.row.cfa = {cfi::CfaRule::Kind::register_offset, abi.sp, 16};
      match.row.rules[abi.ra] = {Kind::offset, 0, -8};
      PlainRow row;
      EXPECT_TRUE(row.compile(match, abi, *find_unwind_abi(id)));
      spoil(match, abi, how);
      EXPECT_FALSE(row.compile(match, abi, *find_unwind_abi(id))) << abi.name << ' ' << how;
    }
  }
}

Rule any_rule(const AbiTraits& abi, Random& random) {
  const std::uint16_t bases[] = {Rule::cfa_base, abi.sp, abi.fp, abi.ra, 40};
  const Rule::Kind kinds[] = {Rule::Kind::stored, Rule::Kind::value, Rule::Kind::same, Rule::Kind::undefined};
  const Rule::Kind kind = kinds[std::min(random.number(8), 3u)];
  if (random.one_of(2)) return Rule::at_cfa(random.offset());
  return {kind, bases[random.number(5)], random.offset()};
}

TEST(PlainRow, AgreesWithRowsOfSframe) {
  Random random;
  int plain = 0, stepped = 0, other_rows = 0;
  for (int round = 0; round < 20000; ++round) {
    const AbiTraits& abi = traits(abis[round % 4]);
    SframeMatch match;
    match.signal_frame = random.one_of(30);
    match.row.cfa = {random.one_of(10) ? Rule::Kind::stored : Rule::Kind::value, any_rule(abi, random).base,
                     random.offset()};
    match.row.ra = any_rule(abi, random);
    match.row.fp = any_rule(abi, random);
    PlainRow row;
    if (!row.compile(match, abi)) {
      ++other_rows;
      continue;
    }
    ++plain;
    EXPECT_FALSE(match.signal_frame);
    MadeUpStep step(abi, random);
    const StepResult result = row.apply(step.frame, step.memory, abi, step.caller);
    const StepResult other = step_by_row(match.row, false, abi, step.frame, step.memory, step.expected);
    step.expected.registers.keep_vector_granule(step.frame.registers); // as the walker does
    expect_equal(result, step.caller, other, step.expected);
    ASSERT_FALSE(HasFailure()) << round;
    stepped += result.status == StepStatus::stepped;
  }
  EXPECT_GT(plain, 1000);
  EXPECT_GT(stepped, 500);
  EXPECT_GT(other_rows, 1000);
}

TEST(PlainRow, IsTheUsualRowOfSframe) {
  for (const Abi id : abis) {
    const AbiTraits& abi = traits(id);
    PlainRow row;
    for (const Rule& fp : {Rule::same(), Rule::at_cfa(-16)}) {
      const FrameRow usual{0, Rule::value(abi.sp, 16), Rule::at_cfa(-8), fp, false};
      EXPECT_TRUE(row.compile(SframeMatch{.row = usual}, abi));
      EXPECT_FALSE(row.compile(SframeMatch{.row = usual, .signal_frame = true}, abi));
    }
    EXPECT_FALSE(row.compile(SframeMatch{.row = FrameRow::outermost(0)}, abi));
  }
}

} // namespace unwind_plain_row_test
