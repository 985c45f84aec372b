// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CFI rows applied to frames: each kind of rule, and what happens if it cannot be followed. Expected values
// are derived from DWARF 5, section 6.4.

#include "cfi_assembler.h"
#include "made_up_space.h"

#include "sframe/unwind/compiled_row.h"
#include "sframe/unwind/plain_row.h"

#include <gtest/gtest.h>

namespace unwind_compiled_row_test {

using namespace sframe;
using namespace sframe::test;

constexpr std::uint16_t rax = 0, rdx = 1, r12 = 12, r13 = 13, rip = 16;
constexpr int nop = 0x96; // DW_OP_nop

/// CFA = rsp + 16, RA at CFA - 8, then the instructions.
Bytes with_cfa(const Bytes& instructions) {
  return Bytes().raw({0x0c, rsp, 16, 0x90, 1}).append(instructions);
}

/// A frame at 0x1050 with SP 0x7000. Words of the stack are their address + 0x10000.
class CompiledRows : public testing::Test {
protected:
  CompiledRows() {
    for (std::uint64_t address = 0x6ff0; address < 0x7020; address += 8)
      space.word(address, address + 0x10000);
    frame.registers = start(0x1050, 0x7000, 0x7777);
    frame.registers.set(rbx, 0x33);
    frame.registers.set(rax, 0x30);
    frame.registers.set(r12, 0x3c);
  }

  /// Compiles the row of an FDE whose CIE has no instructions; the section is gone afterwards.
  void compile(const Bytes& instructions, std::uint64_t return_register = rip, bool signal = false) {
    CfiAssembler a(cfi::SectionKind::debug_frame);
    const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(return_register));
    const auto at = a.fde(cie, a.body().u64(0x1000).u64(0x100).append(instructions));
    const cfi::CfiSection section = a.section();
    CfiMatch match;
    match.signal_frame = signal;
    ASSERT_TRUE(cfi::FullRowCursor(section, section.fde(at).value()).next(match.row));
    row.compile(match, amd64);
  }
  void apply() {
    caller.registers.known = ~std::uint64_t{0}; // of the step before
    result = row.apply(frame, memory, amd64, abi, caller);
  }
  void apply(const Bytes& instructions) {
    compile(instructions);
    apply();
  }
  /// The caller's rbx if its rule is the instruction.
  std::optional<std::uint64_t> rbx_by(std::initializer_list<int> instruction) {
    apply(with_cfa(Bytes().raw(instruction)));
    EXPECT_EQ(result.status, StepStatus::stepped);
    return caller.registers.get(rbx);
  }
  void expect_failure(StopReason reason, std::uint64_t detail = 0) {
    EXPECT_EQ(result.status, StepStatus::error);
    EXPECT_EQ(result.reason, reason) << message(result.reason);
    EXPECT_EQ(result.detail, detail);
  }

  const UnwindAbi& abi = *find_unwind_abi(Abi::amd64);
  MadeUpSpace space;
  Memory memory{space};
  FrameState frame, caller;
  CompiledRow row;
  StepResult result;
};

TEST_F(CompiledRows, CallerOfAnOrdinaryFunction) {
  apply(with_cfa(Bytes().raw({0x86, 2}))); // rbp at CFA - 16
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.trust, Trust::exact);
  EXPECT_TRUE(result.has_cfa);
  EXPECT_FALSE(result.signal_frame);
  EXPECT_FALSE(result.same_stack);
  EXPECT_EQ(result.cfa, 0x7010u);
  EXPECT_FALSE(caller.pc_exact);
  EXPECT_EQ(caller.registers.pc, 0x17008u);
  EXPECT_EQ(caller.registers.get(rsp), 0x7010u);
  EXPECT_EQ(caller.registers.get(rbp), 0x17000u);
  EXPECT_EQ(caller.registers.get(rbx), 0x33u) << "call-saved, without a rule";
  EXPECT_EQ(caller.registers.get(r12), 0x3cu);
  EXPECT_FALSE(caller.registers.has(r13)) << "it was not known";
  EXPECT_FALSE(caller.registers.has(rax)) << "a call does not keep it";
}

TEST_F(CompiledRows, EachKindOfRule) {
  EXPECT_EQ(rbx_by({0x83, 1}), 0x17008u);                                    // offset: at CFA - 8
  EXPECT_EQ(rbx_by({0x14, rbx, 1}), 0x7008u);                                // val_offset: CFA - 8
  EXPECT_EQ(rbx_by({0x09, rbx, r12}), 0x3cu);                                // register
  EXPECT_EQ(rbx_by({0x08, rbx}), 0x33u);                                     // same_value
  EXPECT_EQ(rbx_by({0x10, rbx, 2, 0x38, 0x1c}), 0x17008u);                   // expression: lit8, minus
  EXPECT_EQ(rbx_by({0x16, rbx, 2, 0x38, 0x1c}), 0x7008u);                    // val_expression
  EXPECT_EQ(rbx_by({0x16, rbx, 2, 0x7c, 1}), 0x3du);                         // breg12 + 1
  EXPECT_EQ(rbx_by({0x16, rbx, 2, 0x80, 1}), 0x1051u);                       // breg16 + 1: the pc
  EXPECT_EQ(rbx_by({0x16, rbx, 3, 0x94, 2, nop}), 0x7010u);                  // deref_size 2 of the CFA
  EXPECT_EQ(rbx_by({0x16, rbx, 1, nop, 0x10, r12, 2, 0x38, 0x1c}), 0x7010u); // two expressions
  EXPECT_EQ(caller.registers.get(r12), 0x17008u);
}

/// A register that cannot be recovered is unknown; the walk goes on.
TEST_F(CompiledRows, RegistersThatAreLost) {
  EXPECT_EQ(rbx_by({0x07, rbx}), std::nullopt);             // undefined
  EXPECT_EQ(rbx_by({0x09, rbx, r13}), std::nullopt);        // in a register that is unknown
  EXPECT_EQ(rbx_by({0x08, rbx, 0x08, r13}), 0x33u);         // same_value of both,
  EXPECT_FALSE(caller.registers.has(r13));                  // of which one is unknown
  EXPECT_EQ(rbx_by({0x83, 0x20}), std::nullopt);            // at CFA - 256: not readable
  EXPECT_EQ(rbx_by({0x10, rbx, 1, 0x30}), std::nullopt);    // at CFA, lit0 on top: address 0
  EXPECT_EQ(rbx_by({0x10, rbx, 1, 0x22}), std::nullopt);    // plus, with one value
  EXPECT_EQ(rbx_by({0x16, rbx, 2, 0x7d, 0}), std::nullopt); // breg13, which is unknown
  EXPECT_EQ(rbx_by({0x07, rsp}), 0x33u);                    // SP stays the CFA, as in libgcc
  EXPECT_EQ(caller.registers.get(rsp), 0x7010u);
  EXPECT_EQ(rbx_by({0x87, 0x20}), 0x33u); // SP at CFA - 256
  EXPECT_FALSE(caller.registers.has(rsp));
  EXPECT_EQ(rbx_by({0x87, 2}), 0x33u); // SP at CFA - 16
  EXPECT_EQ(caller.registers.get(rsp), 0x17000u);
}

TEST_F(CompiledRows, ReturnAddress) {
  apply(Bytes().raw({0x0c, rsp, 16, 0x09, rip, r12})); // in r12
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.pc, 0x3cu);
  EXPECT_FALSE(result.same_stack);
  apply(Bytes().raw({0x0c, rsp, 16, 0x16, rip, 2, 0x80, 5})); // val_expression: breg16 + 5
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.pc, 0x1055u);
  EXPECT_TRUE(result.same_stack) << "computed from the pc: a part of the function elsewhere";
  apply(Bytes().raw({0x0c, rsp, 16, 0x07, rip}));
  EXPECT_EQ(result.status, StepStatus::bottom);
  EXPECT_TRUE(result.has_cfa);
  EXPECT_EQ(result.cfa, 0x7010u);
  apply(Bytes().raw({0x07, rip}));
  EXPECT_EQ(result.status, StepStatus::bottom);
  EXPECT_FALSE(result.has_cfa);

  apply(Bytes().raw({0x0c, rsp, 16, 0x90, 0x20})); // at CFA - 256
  expect_failure(StopReason::unreadable_memory, 0x7010 - 256);
  apply(Bytes().raw({0x0c, rsp, 16, 0x09, rip, r13}));
  expect_failure(StopReason::unknown_register, r13);
  apply(Bytes().raw({0x0c, rsp, 16}));
  expect_failure(StopReason::unknown_register, rip);
  apply(Bytes().raw({0x0c, rsp, 16, 0x08, rip})); // same_value: the frame's pc is not that of the caller
  expect_failure(StopReason::unknown_register, rip);
  apply(Bytes().raw({0x0c, rsp, 16, 0x10, rip, 1, 0x30})); // at address 0
  expect_failure(StopReason::unreadable_memory, 0);
  apply(Bytes().raw({0x0c, rsp, 16, 0x16, rip, 4, 0x09, 0xf8, 0x06, nop})); // *(-8)
  expect_failure(StopReason::unreadable_memory, ~std::uint64_t{7});
}

/// Columns above the registers that a walk keeps are no registers, but may have the rule of RA.
TEST_F(CompiledRows, ReturnAddressInAPseudoColumn) {
  compile(Bytes().raw({0x0c, rsp, 16, 0x05, 64, 1}), 64); // offset_extended
  apply();
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.pc, 0x17008u);
  compile(Bytes().raw({0x0c, rsp, 16}), 64);
  apply();
  expect_failure(StopReason::bad_table);
  compile(Bytes().raw({0x0c, rsp, 16}), Registers::count);
  apply();
  expect_failure(StopReason::bad_table);
  compile(Bytes().raw({0x0c, rsp, 16}), Registers::count - 1);
  apply();
  expect_failure(StopReason::unknown_register, Registers::count - 1);
}

TEST_F(CompiledRows, Cfa) {
  apply(Bytes().raw({0x0f, 2, 0x77, 16, 0x90, 1})); // expression: breg7 + 16
  EXPECT_EQ(result.cfa, 0x7010u);
  EXPECT_EQ(caller.registers.pc, 0x17008u);
  apply(Bytes().raw({0x0c, r13, 16, 0x90, 1}));
  expect_failure(StopReason::unknown_register, r13);
  apply(Bytes().raw({0x0c, rip, 16, 0x90, 1}));
  expect_failure(StopReason::unknown_register, rip);
  apply(Bytes().raw({0x90, 1}));
  expect_failure(StopReason::bad_table);
  apply(Bytes().raw({0x0f, 2, 0x7d, 0, 0x90, 1})); // breg13
  expect_failure(StopReason::unknown_register, r13);
  apply(Bytes().raw({0x0f, 2, 0x30, 0x06, 0x90, 1})); // lit0, deref
  expect_failure(StopReason::unreadable_memory);
  apply(Bytes().raw({0x0f, 1, 0x22, 0x90, 1})); // plus, without values
  expect_failure(StopReason::bad_table);
}

TEST_F(CompiledRows, SignalFrame) {
  compile(with_cfa(Bytes()), rip, true);
  apply();
  EXPECT_TRUE(result.signal_frame);
  EXPECT_TRUE(caller.pc_exact);
}

/// An expression of 65,534 bytes, which takes too many steps to evaluate, and one of two or three.
TEST_F(CompiledRows, ExpressionsUpToTheLimit) {
  Bytes long_one;
  for (std::size_t i = 0; i < CompiledRow::max_expressions - 2; ++i) long_one.u8(nop);
  const Bytes rule = Bytes().raw({0x16, rbx}).uleb(long_one.size()).append(long_one);
  apply(with_cfa(Bytes(rule).raw({0x10, r12, 2, 0x38, 0x1c})));
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.get(r12), 0x17008u);
  EXPECT_FALSE(caller.registers.has(rbx));
  apply(with_cfa(Bytes(rule).raw({0x10, r12, 3, 0x38, 0x1c, nop})));
  expect_failure(StopReason::bad_table);
  apply(with_cfa(Bytes()));
  EXPECT_EQ(result.status, StepStatus::stepped) << "the next row counts anew";
}

/// Where registers are saved. The frame's own: rbx and rax at 0x100 and 0x108, r12 in itself, pc nowhere.
TEST_F(CompiledRows, SaveLocations) {
  using Kind = SaveLocation::Kind;
  SaveLocations own;
  own.set(rbx, {Kind::memory, 0x100});
  own.set(rax, {Kind::memory, 0x108});
  own.set(r12, {Kind::reg, r12});
  own.set(rbp, {Kind::reg, rbp});
  own.set(rdx, {Kind::reg, rdx});
  const auto locate = [&](std::initializer_list<int> instructions) {
    compile(with_cfa(Bytes().raw(instructions)));
    SaveLocations caller;
    row.locate(frame, memory, amd64, abi, 0x7010, own, caller);
    return caller;
  };
  const auto expect = [](const SaveLocations& found, std::size_t index, SaveLocation wanted) {
    EXPECT_EQ(found.get(index).kind, wanted.kind) << index;
    EXPECT_EQ(found.get(index).where, wanted.where) << index;
  };
  SaveLocations found = locate({0x86, 2, 0x08, r12}); // rbp at CFA - 16, same_value of r12
  expect(found, rbp, {Kind::memory, 0x7000});
  expect(found, SaveLocations::pc, {Kind::memory, 0x7008});
  expect(found, rbx, {Kind::memory, 0x100});
  expect(found, r12, {Kind::reg, r12});
  expect(found, rax, {}); // not call-saved
  expect(found, rdx, {});
  found = locate({0x09, rbx, r12, 0x14, r12, 1, 0x10, rbp, 2, 0x38, 0x1c});
  expect(found, rbx, {Kind::reg, r12});
  expect(found, r12, {}); // val_offset: in no place
  expect(found, rbp, {Kind::memory, 0x7008});
  found = locate({0x07, rbx, 0x16, r12, 1, nop, 0x10, rbp, 1, 0x22});
  expect(found, rbx, {});
  expect(found, r12, {});
  expect(found, rbp, {});          // plus, with one value
  found = locate({0x09, rbx, 60}); // no register that a walk keeps
  expect(found, rbx, {});

  constexpr std::uint16_t last = Registers::count - 1;
  own.set(last, {Kind::memory, 0x110});
  own.set(SaveLocations::pc, {Kind::memory, 0x118}); // has the next number, but is no register
  expect(locate({0x09, rbx, last}), rbx, {Kind::memory, 0x110});
  expect(locate({0x09, rbx, last + 1}), rbx, {});
}

// DWARF for the Arm 64-bit Architecture, section 4.1: register 46 is VG.
class ScalableRows : public testing::Test {
protected:
  ScalableRows() : space(traits(Abi::aarch64_little)) {
    for (std::uint64_t address = 0x7000; address < 0x7100; address += 8)
      space.word(address, address + 0x10000);
    frame.registers.set(31, 0x7000);
    frame.registers.set(30, 0x2004);
    frame.registers.pc = 0x1050;
    frame.registers.set(Registers::vector_granule, 4);
  }
  StepResult apply(const Bytes& instructions) {
    const AbiTraits& traits = space.abi();
    CfiAssembler a(cfi::SectionKind::debug_frame);
    const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(30));
    const auto at = a.fde(cie, a.body().u64(0x1000).u64(0x100).append(instructions));
    const cfi::CfiSection section = a.section(Abi::aarch64_little);
    CfiMatch match;
    EXPECT_TRUE(cfi::FullRowCursor(section, section.fde(at).value()).next(match.row));
    is_plain = PlainRow().compile(match, traits, abi);
    CompiledRow row;
    row.compile(match, traits);
    return row.apply(frame, memory, traits, abi, caller);
  }

  std::optional<std::uint64_t> granule() const { return caller.registers.get(Registers::vector_granule); }

  const UnwindAbi& abi = *find_unwind_abi(Abi::aarch64_little);
  MadeUpSpace space;
  Memory memory{space};
  FrameState frame, caller;
  bool is_plain = false;
};

TEST_F(ScalableRows, CfaByTheLengthOfVectors) {
  // sp + VG * 16, as gcc writes it
  const Bytes two_vectors = Bytes().raw({0x0f, 8, 0x8f, 0, 0x92, 46, 0, 0x40, 0x1e, 0x22});
  EXPECT_EQ(apply(two_vectors).cfa, 0x7000u + 4 * 16);
  EXPECT_EQ(caller.registers.get(31), 0x7000u + 4 * 16);
  EXPECT_EQ(granule(), 4u) << "the caller has the same";
  EXPECT_FALSE(is_plain);
  frame.registers.set(Registers::vector_granule, 32);
  EXPECT_EQ(apply(two_vectors).cfa, 0x7000u + 32 * 16);
  frame.registers.forget(Registers::vector_granule);
  const StepResult result = apply(two_vectors);
  EXPECT_EQ(result.status, StepStatus::error);
  EXPECT_EQ(result.reason, StopReason::unknown_register);
  EXPECT_EQ(result.detail, 46u);
}

TEST_F(ScalableRows, SavedLength) {
  const Bytes usual = Bytes().raw({0x0c, 31, 32, 0x80 | 30, 1});
  apply(usual);
  EXPECT_TRUE(is_plain);
  EXPECT_EQ(granule(), 4u);
  apply(Bytes(usual).raw({0x80 | 46, 2})); // at CFA - 16
  EXPECT_TRUE(is_plain);
  EXPECT_EQ(granule(), 0x17010u);
  apply(Bytes(usual).raw({0x16, 46, 1, 0x38})); // val_expression: lit8
  EXPECT_EQ(granule(), 8u);
  apply(Bytes(usual).raw({0x08, 46})); // same_value
  EXPECT_EQ(granule(), 4u);
  apply(Bytes(usual).raw({0x07, 46})); // undefined
  EXPECT_FALSE(granule());
  apply(Bytes(usual).raw({0x11, 46, 0xe0, 0x7e})); // at CFA + 160 * 8, which cannot be read
  EXPECT_FALSE(granule());
}

} // namespace unwind_compiled_row_test
