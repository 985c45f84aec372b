// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of functions that do not follow the ABI: Go's stack check, assembly functions that keep the return
// address in a register, prologues out of line, callees that preserve more than they need to. The rows after
// the calls are right; the states have to fit them. Encodings are from llvm-mc.

#include "sframe/code/analysis.h"

#include "inputs.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace code_callee_test {

using namespace sframe;
using namespace sframe::code;

constexpr std::uint64_t start = 0x1000, helper = 0x2000;

/// Callees by address.
class Callees : public Environment {
public:
  std::map<std::uint64_t, std::vector<std::byte>> functions;

  std::span<const std::byte> code(std::uint64_t address, std::uint64_t size) override {
    const auto at = functions.find(address);
    if (at == functions.end()) return {};
    return std::span(at->second).first(std::min<std::size_t>(size, at->second.size()));
  }
};

/// A function with the rows that it is checked against.
struct Caller {
  Caller(Abi abi, const std::string& code, std::vector<FrameRow> its_rows, const std::string& callee = "")
      : abi(traits(abi)), bytes(test::hex(code)), rows(std::move(its_rows)), analyzer(traits(abi)) {
    if (!callee.empty()) callees.functions[helper] = test::hex(callee);
  }

  const Results& run() {
    return analyzer.run(
        {.start = start, .bytes = bytes, .entry = rows[0], .rows = rows, .environment = &callees});
  }
  /// True if control surely reaches an offset and its row is right there. (Code that is not reached is
  /// analysed from its row.)
  bool fits(std::uint32_t offset) {
    const FrameRow* row = nullptr;
    for (const FrameRow& one : rows)
      if (one.offset <= offset) row = &one;
    bool fits = false;
    run().visit([&](const Reached& at) {
      if (at.instruction.address == start + offset && at.certainty == Certainty::certain)
        fits = row && check(*row, at.state(), abi).worst() == Agreement::agrees;
    });
    return fits;
  }
  Exit exit_at(std::uint32_t offset) {
    Exit exit = Exit::none;
    run().visit([&](const Reached& at) {
      if (at.instruction.address == start + offset) exit = at.exit;
    });
    return exit;
  }

  const AbiTraits& abi;
  std::vector<std::byte> bytes;
  std::vector<FrameRow> rows;
  Callees callees;
  Analyzer analyzer;
};

constexpr FrameRow arm_row(std::uint32_t offset, std::int32_t size, Rule ra, Rule fp = Rule::same()) {
  return {offset, Rule::value(31, size), ra, fp, false};
}

// mov x3, x30; bl far; INSTRUCTION; b start. Go's runtime.morestack restarts its caller; no other callee
// gives the link register back.
std::string go(const char* save, const char* reload, const char* jump) {
  return std::string(save) + "3f 00 00 94" + reload + jump;
}
const std::vector<FrameRow> go_rows = {arm_row(0, 0, Rule::same()), arm_row(8, 0, Rule::same())};
constexpr const char* mov_x3_lr = "e3 03 1e aa";

TEST(CodeCallee, RestartsTheFunction) {
  Caller restarts(Abi::aarch64_little, go(mov_x3_lr, "e0 07 40 f9", "fd ff ff 17"),
                  go_rows); // ldr x0, [sp, #8]
  EXPECT_TRUE(restarts.fits(8));
  EXPECT_TRUE(restarts.fits(12));
}

TEST(CodeCallee, DoesNotRestartTheFunction) {
  const char* ldr = "e0 07 40 f9";
  // Nothing kept the return address; the reloads write it, or SP; the jump goes elsewhere; it is a return.
  for (const std::string& code :
       {go("1f 20 03 d5", ldr, "fd ff ff 17"), go(mov_x3_lr, "fe 07 40 f9", "fd ff ff 17"),
        go(mov_x3_lr, "ff 43 00 91", "fd ff ff 17"), go(mov_x3_lr, ldr, "fe ff ff 17"),
        go(mov_x3_lr, ldr, "c0 03 5f d6")}) {
    Caller other(Abi::aarch64_little, code, go_rows);
    EXPECT_FALSE(other.fits(8)) << code;
  }
}

// mov x9, x30; bl far; ret x9
TEST(CodeCallee, KeepsTheReturnAddress) {
  const std::vector<FrameRow> rows = {arm_row(0, 0, Rule::same()), arm_row(8, 0, Rule::in_register(9))};
  Caller keeps(Abi::aarch64_little, "e9 03 1e aa 3f 00 00 94 20 01 5f d6", rows);
  EXPECT_TRUE(keeps.fits(8));
  EXPECT_EQ(keeps.exit_at(8), Exit::returns);
  // Not if x9 is written before the return, or if it returns to another register, or jumps to x9.
  for (const char* code :
       {"e9 03 1e aa 3f 00 00 94 e9 03 00 aa 20 01 5f d6", "e9 03 1e aa 3f 00 00 94 1f 20 03 d5 40 01 5f d6",
        "e9 03 1e aa 3f 00 00 94 1f 20 03 d5 20 01 1f d6"}) {
    Caller other(Abi::aarch64_little, code, rows);
    EXPECT_FALSE(other.fits(8)) << code;
  }
}

// mov x16, x30; bl helper; ldp x29, x30, [sp], #16; ret
constexpr const char* outlined = "f0 03 1e aa ff 03 00 94 fd 7b c1 a8 c0 03 5f d6";
const std::vector<FrameRow> outlined_rows = {arm_row(0, 0, Rule::same()),
                                             arm_row(8, 16, Rule::at_cfa(-8), Rule::at_cfa(-16)),
                                             arm_row(12, 0, Rule::same())};

TEST(CodeCallee, PrologueOutOfLine) {
  // stp x29, x16, [sp, #-16]!; ret
  Caller once(Abi::aarch64_little, outlined, outlined_rows, "fd 43 bf a9 c0 03 5f d6");
  EXPECT_TRUE(once.fits(8));
  EXPECT_EQ(once.exit_at(12), Exit::returns);
  // stp; cbz x0, 1f; ret; 1: nop; ret: both returns leave the same
  Caller twice(Abi::aarch64_little, outlined, outlined_rows,
               "fd 43 bf a9 40 00 00 b4 c0 03 5f d6 1f 20 03 d5 c0 03 5f d6");
  EXPECT_TRUE(twice.fits(8));
}

/// The row that needs what the callee has done comes later, after one that counts from SP.
TEST(CodeCallee, FramePointerSetOutOfLine) {
  // stp x29, x30, [sp, #-16]!; bl helper; sub sp, sp, #16; nop; mov sp, x29; ldp x29, x30, [sp], #16; ret
  const char* code = "fd 7b bf a9 ff 03 00 94 ff 43 00 d1 1f 20 03 d5 bf 03 00 91 fd 7b c1 a8 c0 03 5f d6";
  const std::vector<FrameRow> rows = {arm_row(0, 0, Rule::same()),
                                      arm_row(4, 16, Rule::at_cfa(-8), Rule::at_cfa(-16)),
                                      arm_row(12, 32, Rule::at_cfa(-8), Rule::at_cfa(-16)),
                                      {16, Rule::value(29, 16), Rule::at_cfa(-8), Rule::at_cfa(-16), false},
                                      arm_row(24, 0, Rule::same())};
  Caller sets(Abi::aarch64_little, code, rows, "fd 03 00 91 c0 03 5f d6"); // mov x29, sp; ret
  EXPECT_TRUE(sets.fits(12));
  EXPECT_TRUE(sets.fits(16));
  EXPECT_TRUE(sets.fits(20));
  EXPECT_EQ(sets.exit_at(24), Exit::returns);
  Caller does_not(Abi::aarch64_little, code, rows, "c0 03 5f d6");
  EXPECT_FALSE(does_not.fits(16));
}

TEST(CodeCallee, CalleesThatShowNothing) {
  for (const char* callee : {
           // #16]
           "fd 43 bf a9 40 00 00 b4 c0 03 5f d6 ff 07 00 f9 c0 03 5f d6", // after one return, another path
                                                                          // overwrites the return address
           "fd 43 bf a9 00 04 00 14",                                     // leaves by a jump
           "fd 43 bf a9 20 02 1f d6",                                     // by an indirect one
           "fd 43 bf a9 20 02 5f d6",                                     // returns to x17
           "fd 43 bf a9 00 00 20 d4",                                     // never returns
           "fd 43 bf a9 00 00 00 01",                                     // not code
           "c0 03 5f d6",                                                 // does nothing
       }) {
    Caller caller(Abi::aarch64_little, outlined, outlined_rows, callee);
    EXPECT_FALSE(caller.fits(8)) << callee;
  }
}

// lea 8(%rsp), %r10; call helper; ret, where the row after the call counts from r10
TEST(CodeCallee, PreservesMore) {
  const AbiTraits& abi = traits(Abi::amd64);
  const std::vector<FrameRow> rows = {abi.entry_row(),
                                      {5, Rule::value(10, 0), Rule::fixed(), Rule::same(), false}};
  const char* code = "4c 8d 54 24 08 e8 f6 0f 00 00 90 c3";
  Caller preserved(Abi::amd64, code, rows, "53 31 c0 5b c3"); // push %rbx; xor %eax, %eax; pop %rbx; ret
  EXPECT_TRUE(preserved.fits(10));
  const State* state = preserved.run().state_at(start + 10);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reg(7), Value::cfa(-8));
  EXPECT_EQ(state->reg(10), Value::cfa(0));
  EXPECT_EQ(state->reg(3), Value::entry(3));
  EXPECT_EQ(preserved.exit_at(11), Exit::returns);
  Caller lost(Abi::amd64, code, rows, "4d 31 d2 c3"); // xor %r10, %r10; ret
  EXPECT_FALSE(lost.fits(10));
  Caller unknown(Abi::amd64, code, rows); // no code
  EXPECT_FALSE(unknown.fits(10));
}

/// Every register is compared where paths meet, SP with the highest number too.
TEST(CodeAarch64, JoinsTheStackPointer) {
  // cbz x0, 1f; sub sp, sp, #16; 1: ret
  const auto bytes = test::hex("40 00 00 b4 ff 43 00 d1 c0 03 5f d6");
  const AbiTraits& abi = traits(Abi::aarch64_little);
  Analyzer analyzer(abi);
  const Results& results = analyzer.run({.start = start, .bytes = bytes, .entry = abi.entry_row()});
  const State* state = results.state_at(start + 8);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reg(31).base, Value::Base::conflict);
  EXPECT_EQ(state->reg(30), Value::entry(30));
}

} // namespace code_callee_test
