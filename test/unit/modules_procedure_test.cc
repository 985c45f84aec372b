// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of procedures described by operations (libunwind-dynamic(3)), at the instructions before and after
// each operation. The expected rows are those of hand-written CFI for the same instructions.

#include "made_up_process.h"

#include "sframe/modules/generated_code.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/abi.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace modules_procedure_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::unwind;
using Tag = ProcedureOperation::Tag;
using Kind = cfi::RegisterRule::Kind;

constexpr std::uint16_t rbx = 3, rbp = 6, rsp = 7, r12 = 12, ra = 16;
constexpr std::uint64_t start = 0x1000;

ProcedureOperation op(Tag tag, std::int32_t when, std::uint16_t reg, std::int64_t value) {
  return {tag, reg, when, static_cast<std::uint64_t>(value)};
}

class Rows {
public:
  Rows(std::uint64_t size, std::vector<ProcedureRegion> regions, Abi abi = Abi::amd64)
      : abi_(traits(abi)), procedure_{start, start + size, std::move(regions), nullptr} {}

  bool find(std::uint64_t offset) { return procedure_.find(start + offset, abi_, answer_); }
  /// The rules at an offset: "7+16", a register and what the CFA is above it.
  std::string cfa(std::uint64_t offset) {
    if (!find(offset)) return "none";
    return std::to_string(answer_.row.cfa.number) + "+" + std::to_string(answer_.row.cfa.offset);
  }
  bool ends_here(std::uint64_t offset) { return find(offset) && answer_.ends_here; }
  cfi::RegisterRule rule(std::uint64_t offset, std::uint16_t reg) {
    return find(offset) ? answer_.row.rule(reg) : cfi::RegisterRule{Kind::undefined, 0, 0};
  }

private:
  const AbiTraits& abi_;
  Procedure procedure_;
  CfiMatch answer_;
};

cfi::RegisterRule stored(std::int64_t offset) {
  return {Kind::offset, 0, offset};
}
cfi::RegisterRule in(std::uint32_t reg) {
  return {Kind::reg, reg, 0};
}
const cfi::RegisterRule nothing;

TEST(Procedure, WithoutOperationsEntryRow) {
  EXPECT_EQ(Rows(4, {}).cfa(0), "7+8");
  EXPECT_EQ(Rows(4, {}).rule(3, ra), stored(-8));
  EXPECT_EQ(Rows(4, {}, Abi::aarch64_little).cfa(0), "31+0");
  EXPECT_EQ(Rows(4, {}, Abi::aarch64_big).rule(0, 30), nothing); // in the link register still
  EXPECT_EQ(Rows(4, {}, Abi::s390x).cfa(0), "15+160");
}

TEST(Procedure, NoRowOutside) {
  Rows rows(4, {});
  EXPECT_FALSE(rows.find(4));
  EXPECT_FALSE(rows.find(static_cast<std::uint64_t>(-1)));
  EXPECT_TRUE(rows.ends_here(3));
  EXPECT_FALSE(rows.ends_here(2));
}

/// push %rbp (1 byte); mov %rsp,%rbp (3); push %rbx (1); sub $32,%rsp (4); ... at 16 pop %rbx (1)
TEST(Procedure, PushesAndAFramePointer) {
  Rows rows(20, {{20,
                  {op(Tag::add, 0, rsp, -8), op(Tag::spill_sp_rel, 0, rbp, 0), op(Tag::save_reg, 1, rsp, rbp),
                   op(Tag::add, 4, rsp, -8), op(Tag::spill_sp_rel, 4, rbx, 0), op(Tag::add, 5, rsp, -32),
                   op(Tag::spill_fp_rel, 9, r12, -16)}}});
  EXPECT_EQ(rows.cfa(0), "7+8");
  EXPECT_EQ(rows.rule(0, rbp), nothing);
  EXPECT_EQ(rows.cfa(1), "7+16"); // after the push
  EXPECT_EQ(rows.rule(1, rbp), stored(-16));
  EXPECT_EQ(rows.cfa(2), "6+16"); // after the mov, whatever SP does from here on
  EXPECT_EQ(rows.rule(4, rbx), nothing);
  EXPECT_EQ(rows.cfa(5), "6+16");
  EXPECT_EQ(rows.rule(5, rbx), stored(-24));
  EXPECT_EQ(rows.rule(9, r12), nothing);
  EXPECT_EQ(rows.rule(10, r12), stored(-32));
  EXPECT_EQ(rows.cfa(19), "6+16");
  EXPECT_EQ(rows.rule(19, ra), stored(-8));
}

/// What SP moves past has been restored.
TEST(Procedure, Pops) {
  Rows rows(8, {{8, {op(Tag::add, 0, rsp, -8), op(Tag::spill_sp_rel, 0, rbx, 0), op(Tag::add, 4, rsp, 8)}}});
  EXPECT_EQ(rows.rule(4, rbx), stored(-16));
  EXPECT_EQ(rows.cfa(5), "7+8");
  EXPECT_EQ(rows.rule(5, rbx), nothing);
  EXPECT_EQ(rows.rule(5, ra), stored(-8));
}

TEST(Procedure, RegistersInRegisters) {
  Rows rows(16, {{4, {op(Tag::save_reg, 1, 30, 9)}}}, Abi::aarch64_little); // mov x9, x30
  EXPECT_EQ(rows.rule(4, 30), nothing);
  EXPECT_EQ(rows.rule(8, 30), in(9));
}

/// AArch64 counts instructions: stp x29, x30, [sp, #-32]!; mov x29, sp
TEST(Procedure, InstructionsOfFixedSize) {
  Rows rows(16,
            {{4,
              {op(Tag::add, 0, 31, -32), op(Tag::spill_sp_rel, 0, 29, 0), op(Tag::spill_sp_rel, 0, 30, 8),
               op(Tag::save_reg, 1, 31, 29)}}},
            Abi::aarch64_big);
  EXPECT_EQ(rows.cfa(3), "31+0"); // the address before a return address is in the instruction
  EXPECT_EQ(rows.cfa(4), "31+32");
  EXPECT_EQ(rows.rule(4, 30), stored(-24));
  EXPECT_EQ(rows.cfa(7), "31+32");
  EXPECT_EQ(rows.cfa(8), "29+32");
}

/// A prologue and an epilogue with a body of any length between them.
TEST(Procedure, LastRegionIsRelativeToEnd) {
  const std::vector<ProcedureRegion> regions = {{4, {op(Tag::add, 0, rsp, -40)}},
                                                {-5, {op(Tag::pop_frames, 3, 0, 1)}}};
  for (const std::uint64_t size : {9, 100}) {
    Rows rows(size, regions);
    EXPECT_EQ(rows.cfa(0), "7+8");
    EXPECT_EQ(rows.cfa(1), "7+48");
    EXPECT_EQ(rows.cfa(size - 6), "7+48");
    EXPECT_EQ(rows.cfa(size - 2), "7+48");
    EXPECT_EQ(rows.cfa(size - 1), "7+8");
  }
  EXPECT_FALSE(Rows(8, regions).find(0) && Rows(8, regions).find(7)); // they would overlap
  EXPECT_FALSE(Rows(100, {{-5, {}}, {-5, {}}}).find(99));             // only the last one may
}

TEST(Procedure, EmptyRegionHoldsFromItsStart) {
  Rows rows(8, {{0, {op(Tag::add, 0, rsp, -16)}}, {8, {}}});
  EXPECT_EQ(rows.cfa(0), "7+24");
}

TEST(Procedure, PopsFramesOfNestedRegions) {
  const auto rows = [](std::int64_t frames) {
    return Rows(40, {{10, {op(Tag::add, 0, rsp, -16), op(Tag::spill_sp_rel, 0, rbx, 8)}},
                     {10,
                      {op(Tag::add, 0, rsp, -32), op(Tag::save_reg, 1, r12, 11), op(Tag::save_reg, 1, 0, 10),
                       op(Tag::save_reg, 1, ra, 9)}},
                     {20, {op(Tag::pop_frames, 5, 0, frames)}}});
  };
  EXPECT_EQ(rows(1).cfa(25), "7+56");
  EXPECT_EQ(rows(1).cfa(26), "7+24"); // the inner one
  EXPECT_EQ(rows(1).rule(26, rbx), stored(-16));
  EXPECT_EQ(rows(1).rule(26, r12), in(11)); // not in memory: it stays
  EXPECT_EQ(rows(1).rule(26, 0), in(10));
  EXPECT_EQ(rows(1).rule(26, ra), in(9));
  EXPECT_EQ(rows(2).cfa(26), "7+8");
  EXPECT_EQ(rows(2).rule(26, rbx), nothing);
  EXPECT_EQ(rows(9).cfa(39), "7+8"); // more than there are
}

/// Code after a return, which is reached from before it.
TEST(Procedure, LabelsAndCopies) {
  Rows rows(30, {{10, {op(Tag::add, 0, rsp, -16), op(Tag::label_state, 9, 0, 100)}},
                 {10, {op(Tag::pop_frames, 8, 0, 1)}},
                 {10, {op(Tag::copy_state, -1, 0, 100), op(Tag::pop_frames, 8, 0, 1)}}});
  EXPECT_EQ(rows.cfa(18), "7+24");
  EXPECT_EQ(rows.cfa(19), "7+8");
  EXPECT_EQ(rows.cfa(20), "7+24");
  EXPECT_EQ(rows.cfa(29), "7+8");
}

/// What cannot be followed is no row, from there on.
TEST(Procedure, NoGuessedRow) {
  const ProcedureOperation bad[] = {
      op(Tag::add, 3, rbx, 8),           // only SP
      op(Tag::spill_fp_rel, 3, rbx, -8), // no frame pointer
      op(Tag::save_reg, 3, rbx, 99),     // no such register
      op(Tag::copy_state, 3, 0, 5),      // no such label
      op(static_cast<Tag>(77), 3, rbx, 0),
      op(Tag::alias, 3, 0, 0x2000), // no such procedure
  };
  for (const ProcedureOperation& operation : bad) {
    Rows rows(8, {{8, {operation}}});
    EXPECT_TRUE(rows.find(3));
    EXPECT_FALSE(rows.find(4)) << static_cast<int>(operation.tag);
  }
}

/// Offsets that no stack has, and sums that 64 bits do not hold, are no rows either.
TEST(Procedure, ExtremeValues) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), quarter = least / 4;
  for (const ProcedureOperation& operation :
       {op(Tag::add, 1, rsp, least), op(Tag::add, 1, rsp, quarter), op(Tag::spill_sp_rel, 1, rbx, least),
        op(Tag::spill_sp_rel, 1, rbx, std::numeric_limits<std::int64_t>::max())}) {
    Rows rows(8, {{8, {operation}}});
    EXPECT_TRUE(rows.find(1));
    EXPECT_FALSE(rows.find(2));
  }
  const ProcedureOperation step = op(Tag::add, 1, rsp, -(std::int64_t{1} << 47));
  EXPECT_FALSE(Rows(8, {{8, std::vector<ProcedureOperation>(200, step)}}).find(7));
}

/// Only what SP moves past is restored: not what is saved above, nor what is below SP all the time.
TEST(Procedure, PopsOfOneOfTwo) {
  Rows rows(8, {{8,
                 {op(Tag::add, 0, rsp, -8), op(Tag::spill_sp_rel, 0, rbx, 0), op(Tag::add, 1, rsp, -8),
                  op(Tag::spill_sp_rel, 1, r12, 0), op(Tag::add, 3, rsp, 8)}}});
  EXPECT_EQ(rows.rule(3, r12), stored(-24));
  EXPECT_EQ(rows.rule(4, r12), nothing);
  EXPECT_EQ(rows.rule(4, rbx), stored(-16));
  Rows below(8, {{8, {op(Tag::spill_sp_rel, 0, rbx, -128), op(Tag::add, 1, rsp, -8)}}});
  EXPECT_EQ(below.rule(2, rbx), stored(-136));
  Rows single(8,
              {{8, {op(Tag::add, 0, rsp, -8), op(Tag::spill_sp_rel, 0, rbx, 0), op(Tag::add, 1, rsp, 1)}}});
  EXPECT_EQ(single.rule(2, rbx), nothing);
  EXPECT_EQ(single.cfa(2), "7+15");
}

/// Regions of one instruction, stacks of one byte, and operations that hold from the region's start on.
TEST(Procedure, SmallestRegionsAndFrames) {
  Rows last(9, {{4, {op(Tag::add, 0, rsp, -16)}}, {-1, {op(Tag::add, -1, rsp, 16)}}});
  EXPECT_EQ(last.cfa(7), "7+24");
  EXPECT_EQ(last.cfa(8), "7+8");
  Rows frames(12, {{4, {op(Tag::add, 0, rsp, -16)}},
                   {4, {op(Tag::add, 0, rsp, -1)}},
                   {4, {op(Tag::pop_frames, 0, 0, 1)}}});
  EXPECT_EQ(frames.cfa(8), "7+25");
  EXPECT_EQ(frames.cfa(9), "7+24");
}

/// A row for each of many regions that allocate stack; and of many labels.
TEST(Procedure, AsManyFramesAndLabelsAsAreKept) {
  const auto regions = [](std::size_t count, const ProcedureOperation& operation) {
    std::vector<ProcedureRegion> all(count, ProcedureRegion{1, {operation}});
    all.push_back({4, {}});
    return all;
  };
  const ProcedureOperation allocation = op(Tag::add, 0, rsp, -8), label = op(Tag::label_state, 0, 0, 1);
  for (const ProcedureOperation& operation : {allocation, label}) {
    EXPECT_TRUE(Rows(300, regions(256, operation)).find(258));
    EXPECT_FALSE(Rows(300, regions(257, operation)).find(259));
  }
  EXPECT_EQ(Rows(300, regions(256, allocation)).cfa(258), "7+2056");
}

/// Regions, operations, and the labels among which that of a copy is looked for.
TEST(Procedure, OperationsCost) {
  test::MadeUpProcess process(Abi::amd64);
  process.files().add_budget(0);
  Budget& budget = *process.files().budget;
  const ProcedureOperation first = op(Tag::label_state, 0, 0, 1), second = op(Tag::label_state, 0, 0, 2);
  const Procedure procedure{start, start + 8, {{8, {first, second, op(Tag::copy_state, 0, 0, 2)}}}, &process};
  for (const bool enough : {false, true}) {
    budget.refill(0);
    EXPECT_TRUE(
        budget.take(Resource::cfi_instructions, budget.left(Resource::cfi_instructions) - 6 + !enough));
    CfiMatch answer;
    EXPECT_EQ(procedure.find(start + 7, traits(Abi::amd64), answer), enough);
    EXPECT_EQ(budget.is_used_up(), !enough);
  }
}

TEST(Procedure, IgnoresUntrackedRegisters) {
  Rows rows(8, {{8, {op(Tag::spill_sp_rel, 1, 0xffff, 0), op(Tag::save_reg, 1, 50, 3)}}});
  EXPECT_EQ(rows.cfa(7), "7+8");
}

} // namespace modules_procedure_test
