// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames computed from machine code, before every instruction of functions whose stacks are derived by hand.
// There are no tables or symbols, so the function's start must be found too.

#include "made_up_space.h"

#include "sframe/base/budget.h"
#include "sframe/steppers/code_frames.h"
#include "sframe/steppers/steppers.h"

#include <gtest/gtest.h>

namespace steppers_code_frames_test {

using namespace sframe;
using namespace sframe::steppers;
using namespace sframe::unwind;

constexpr std::uint16_t rax = 0, rbx = 3, rbp = 6, rsp = 7, r12 = 12, r13 = 13;

/// A call of `callee` ends at 0x2000.
class CodeSpace final : public test::MadeUpSpace {
public:
  explicit CodeSpace(std::uint64_t callee) : MadeUpSpace(test::amd64, 0x3000) { call_before(0x2000, callee); }
};

FrameState at(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp) {
  FrameState frame;
  frame.registers.pc = pc;
  frame.registers.set(rsp, sp);
  frame.registers.set(rbp, fp);
  return frame;
}

/// After a `ret` and padding:
///   1010 push %rbp; 1011 mov %rsp,%rbp; 1014 push %rbx; 1015 sub $8,%rsp; 1019 call 2800; 101e mov
///   -8(%rbp),%rbx; 1022 leave; 1023 ret
class WithRecord : public testing::Test {
protected:
  static constexpr std::uint64_t cfa = 0x7100, caller_fp = 0x7200, return_address = 0x2000, saved_rbx = 77;
  WithRecord() {
    space.code(0x1000, {0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0, 0});
    space.code(0x1010, {0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 8,    0xe8,
                        0xe2, 0x17, 0,    0,    0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0xc3});
    space.word(cfa - 8, return_address);
    space.word(cfa - 16, caller_fp);
    space.word(cfa - 24, saved_rbx);
  }
  CodeSpace space{0x1010};
  Memory memory{space};
  CodeFrames frames{space.abi()};
};

TEST_F(WithRecord, BeforeEveryInstruction) {
  struct Expected {
    std::uint64_t pc, sp, fp;
    FrameSetup setup;
  };
  constexpr Expected all[] = {
      {0x1010, cfa - 8, caller_fp, FrameSetup::none},     {0x1011, cfa - 16, caller_fp, FrameSetup::saved},
      {0x1014, cfa - 16, cfa - 16, FrameSetup::complete}, {0x1015, cfa - 24, cfa - 16, FrameSetup::complete},
      {0x1019, cfa - 32, cfa - 16, FrameSetup::complete}, {0x1023, cfa - 8, caller_fp, FrameSetup::none},
  };
  const auto pointer = make_frame_pointer_stepper(space.abi());
  for (const Expected& expected : all) {
    const FrameState frame = at(expected.pc, expected.sp, expected.fp);
    const CodeFrame* code = frames.find(frame, memory);
    ASSERT_TRUE(code) << std::hex << expected.pc;
    EXPECT_EQ(code->kind, FrameKind::record);
    EXPECT_EQ(code->setup, expected.setup) << std::hex << expected.pc;
    EXPECT_EQ(code->function, 0x1010u);
    for (const bool by_pointer : {false, true}) {
      FrameState caller;
      const StepResult result =
          by_pointer ? pointer->step(frame, memory, caller) : CodeFrames::step(*code, frame, memory, caller);
      ASSERT_EQ(result.status, StepStatus::stepped) << std::hex << expected.pc;
      EXPECT_EQ(result.trust, Trust::heuristic);
      EXPECT_FALSE(result.may_skip);
      EXPECT_EQ(result.cfa, cfa) << std::hex << expected.pc;
      EXPECT_EQ(caller.registers.pc, return_address);
      EXPECT_EQ(caller.registers.get(rsp), cfa);
      EXPECT_EQ(caller.registers.get(rbp), caller_fp);
    }
  }
}

TEST_F(WithRecord, RegistersThatTheFunctionStored) {
  FrameState frame = at(0x101e, cfa - 32, cfa - 16);
  frame.pc_exact = false; // in the call
  frame.registers.set(rbx, 1);
  frame.registers.set(r12, 12);
  frame.registers.set(r13, 13);
  frame.registers.set(rax, 2);
  space.word(cfa, 3); // of the caller's frame
  const CodeFrame* code = frames.find(frame, memory);
  ASSERT_TRUE(code);
  FrameState caller;
  ASSERT_EQ(CodeFrames::step(*code, frame, memory, caller).status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.get(rbx), saved_rbx);
  EXPECT_EQ(caller.registers.get(r12), 12u) << "the function does not use it";
  EXPECT_EQ(caller.registers.get(r13), 13u);
  EXPECT_FALSE(caller.registers.has(rax));
  EXPECT_FALSE(caller.pc_exact);
}

TEST_F(WithRecord, ReturnAddressMustFollowCall) {
  space.word(cfa - 8, 0x2001);
  EXPECT_EQ(frames.find(at(0x1010, cfa - 8, caller_fp), memory), nullptr);
}

/// What one frame proves of an address proves nothing of the next frame there.
TEST_F(WithRecord, EachFrameIsChecked) {
  EXPECT_NE(frames.find(at(0x1010, cfa - 8, caller_fp), memory), nullptr);
  constexpr std::uint64_t other = 0x7800;
  for (const std::uint64_t word : {0x0ull, 0x2001ull, 0x5000ull}) {
    space.word(other - 8, word);
    memory = Memory(space);
    EXPECT_EQ(frames.find(at(0x1010, other - 8, caller_fp), memory), nullptr) << word;
  }
  EXPECT_NE(frames.find(at(0x1010, cfa - 8, caller_fp), memory), nullptr);
}

/// A direct call of something else: the word is left over, and the start a wrong guess.
TEST_F(WithRecord, CallMustReachGuessedStart) {
  space.call_before(0x2000, 0x1011);
  EXPECT_EQ(frames.find(at(0x1022, cfa - 32, cfa - 16), memory), nullptr);
  space.call_before(0x2000, 0x1800); // jmp *4(%rip), as in a PLT
  space.code(0x1800, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 4, 0, 0, 0});
  memory = Memory(space);
  EXPECT_NE(frames.find(at(0x1014, cfa - 16, cfa - 16), memory), nullptr);
  // The start is still a guess for the next frame there, which a call of something else has left.
  constexpr std::uint64_t other = 0x7800;
  space.call_before(0x2100, 0x2200);
  space.word(other - 8, 0x2100);
  space.word(other - 16, caller_fp);
  EXPECT_EQ(frames.find(at(0x1014, other - 16, other - 16), memory), nullptr);
  space.code(0x1ff9, {0x41, 0xff, 0x15, 1, 2, 0, 0}); // call *513(%rip)
  memory = Memory(space);
  EXPECT_NE(frames.find(at(0x1015, cfa - 24, cfa - 16), memory), nullptr);
}

/// push %rbp; xor %ebp,%ebp; call 2800. FP is a number of the function's own: that a record is where it
/// points to means nothing.
TEST_F(WithRecord, FramePointerWithAnotherValue) {
  space.code(0x1010, {0x55, 0x31, 0xed, 0xe8, 0xe8, 0x17, 0, 0, 0x5d, 0xc3});
  FrameState frame = at(0x1018, cfa - 16, cfa - 16), caller;
  frame.pc_exact = false;
  const CodeFrame* code = frames.find(frame, memory);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->setup, FrameSetup::other);
  EXPECT_EQ(make_frame_pointer_stepper(space.abi())->step(frame, memory, caller).status,
            StepStatus::not_applicable);
}

TEST_F(WithRecord, NothingOutsideCode) {
  EXPECT_EQ(frames.find(at(0x5000, cfa - 8, caller_fp), memory), nullptr);
}

/// A record that nothing confirms may be that of a frame further out.
TEST_F(WithRecord, FramePointerAloneMaySkipFrames) {
  FrameState caller;
  const StepResult result =
      make_frame_pointer_stepper(space.abi())->step(at(0x2900, cfa - 64, cfa - 16), memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped); // no code can be read at 0x2900
  EXPECT_TRUE(result.may_skip);
}

/// Nothing shows where the function starts but the call that its return address follows: what is before it
/// looks like more of it. Before it, sub $8,%rsp.
TEST(CodeFrames, ACallShowsWhereTheFunctionStarts) {
  CodeSpace space(0x1004);
  space.code(0x1000,
             {0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xec, 24, 0xe8, 0xf3, 0x17, 0, 0, 0x48, 0x83, 0xc4, 24, 0xc3});
  for (std::uint64_t i = 0; i < 24; i += 8) space.word(0x7000 + i, 0);
  space.word(0x7000 + 24, 0x2000);
  space.call_before(0x2100, 0x2200);
  space.word(0x7000 + 32, 0x2100); // where the return address would be of a function at 0x1000
  Memory memory(space);
  CodeFrames frames(space.abi());
  FrameState frame = at(0x100d, 0x7000, 0x7200), caller;
  frame.pc_exact = false;
  const CodeFrame* code = frames.find(frame, memory);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->function, 0x1004u);
  ASSERT_EQ(CodeFrames::step(*code, frame, memory, caller).status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.pc, 0x2000u);
}

/// An interpreter has left a return address that follows no call. It counts where the caller has a frame
/// record; but only for a function whose start is known (here: by a call further up the stack).
TEST(CodeFrames, ReturnToAnInterpreter) {
  for (const bool has_call : {false, true}) {
    CodeSpace space(0x1000);
    space.code(0x1000, {0x48, 0x83, 0xec, 24, 0xe8, 0xf7, 0x17, 0, 0, 0x48, 0x83, 0xc4, 24, 0xc3});
    for (std::uint64_t i = 0; i < 0x40; i += 8) space.word(0x7000 + i, 0);
    space.word(0x7018, 0x2400); // code
    space.word(0x7020, has_call ? 0x2000 : 0);
    space.call_before(0x2100);
    space.word(0x7040, 0x7080);
    space.word(0x7048, 0x2400);
    space.word(0x7080, 0);
    space.word(0x7088, 0x2100);
    Memory memory(space);
    CodeFrames frames(space.abi());
    FrameState frame = at(0x1009, 0x7000, 0x7040), caller;
    frame.pc_exact = false;
    const CodeFrame* code = frames.find(frame, memory);
    ASSERT_EQ(code != nullptr, has_call);
    if (!code) continue;
    ASSERT_EQ(CodeFrames::step(*code, frame, memory, caller).status, StepStatus::stepped);
    EXPECT_EQ(caller.registers.pc, 0x2400u);
    EXPECT_EQ(caller.registers.get(rbp), 0x7040u);
  }
}

/// Where functions are, according to tables and symbols.
class FunctionSpace final : public test::MadeUpSpace, RuleSource {
public:
  FunctionSpace() : MadeUpSpace(test::amd64, 0x3000) {}
  RuleSource* rules_at(std::uint64_t) override { return this; }
  Budget* budget() override { return limit; }
  std::optional<SframeMatch> find_sframe(std::uint64_t) override { return std::nullopt; }
  bool find_cfi(std::uint64_t, CfiMatch&) override { return false; }
  std::optional<AddressRange> find_function(std::uint64_t address) override {
    return tables.contains(address) ? std::optional(tables) : std::nullopt;
  }
  std::optional<AddressRange> find_symbol_extent(std::uint64_t address) override {
    return address - symbol.start < 0x100 ? std::optional(symbol) : std::nullopt;
  }
  AddressRange tables, symbol;
  Budget* limit = nullptr;
};

/// sub $24,%rsp; call; add $24,%rsp; ret. Its frame in the call.
FrameState in_function_at(FunctionSpace& space, std::uint64_t start) {
  space.code(start, {0x48, 0x83, 0xec, 24, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 24, 0xc3});
  space.word(0x7018, 0x2000);
  FrameState frame = at(start + 9, 0x7000, 0x7200);
  frame.pc_exact = false;
  return frame;
}

/// A symbol shows where the function starts: its caller may have called another one, which jumped there.
TEST(CodeFrames, KnownStartNeedsNoCallOfIt) {
  FunctionSpace space;
  const FrameState frame = in_function_at(space, 0x1400);
  space.call_before(0x2000, 0x1800);
  space.code(0x1800, {0xc3});
  for (const std::uint64_t size : {std::uint64_t{14}, std::uint64_t{0}, std::uint64_t{1} << 40}) {
    space.symbol = {0x1400, size};
    Memory memory(space);
    CodeFrames frames(space.abi());
    const CodeFrame* code = frames.find(frame, memory);
    ASSERT_TRUE(code) << size;
    EXPECT_EQ(code->function, 0x1400u);
  }
  space.symbol = {};
  for (const std::uint64_t size : {std::uint64_t{14}, std::uint64_t{1} << 40}) {
    space.tables = {0x1400, size};
    Memory memory(space);
    EXPECT_TRUE(CodeFrames(space.abi()).find(frame, memory)) << size;
  }
  space.tables = {};
  Memory memory(space);
  EXPECT_FALSE(CodeFrames(space.abi()).find(frame, memory)) << "its start is a guess";
}

/// Where a table or a symbol shows the start, there are no guesses: sub $8,%rsp; then a function that is
/// called.
TEST(CodeFrames, NoGuessesWhereTheStartIsKnown) {
  FunctionSpace space;
  space.code(0x1400, {0x48, 0x83, 0xec, 8});
  const FrameState frame = in_function_at(space, 0x1404);
  for (std::uint64_t i = 0; i < 24; i += 8) space.word(0x7000 + i, 0);
  space.call_before(0x2000, 0x1404);
  const auto is_found = [&] {
    Memory memory(space);
    return CodeFrames(space.abi()).find(frame, memory) != nullptr;
  };
  EXPECT_TRUE(is_found());
  space.tables = {0x1400, 18};
  EXPECT_FALSE(is_found());
  space.tables = {};
  space.symbol = {0x1400, 18};
  EXPECT_FALSE(is_found());
  space.word(0x7020, 0x2000); // where the return address is of a function at 0x1400
  EXPECT_TRUE(is_found());
}

/// Code without tables or symbols starts where those of the code before it end, at any address.
TEST(CodeFrames, StartsAfterOtherFunctions) {
  for (const std::uint64_t start : {0x1400u, 0x1401u, 0x140fu, 0x1410u}) {
    FunctionSpace space;
    for (std::uint64_t byte = 0x1000; byte < start; ++byte) space.code(byte, {0xfc}); // cld
    const FrameState frame = in_function_at(space, start);
    space.code(0x1ffa, {0xff, 0x15, 0, 0, 0, 0}); // call *address: no sign of the start
    space.tables = AddressRange::between(0x1100, start);
    Memory memory(space);
    CodeFrames frames(space.abi());
    const CodeFrame* code = frames.find(frame, memory);
    ASSERT_TRUE(code) << start;
    EXPECT_EQ(code->function, start);
  }
}

/// `push %rax` in as many mappings as bytes. Counts how often it is asked.
class ManyMappings final : public AddressSpace {
public:
  static constexpr std::uint64_t start = 0x1000, end = 0x3800;
  const AbiTraits& abi() const override { return test::amd64; }
  std::span<const std::byte> view(std::uint64_t address) override {
    static constexpr std::byte push{0x50};
    ++views;
    return is_code(address) ? std::span(&push, 1) : std::span<const std::byte>();
  }
  bool is_code(std::uint64_t address) override { return address - start < end - start; }
  std::size_t views = 0;
};

/// Each search reads a byte a few times, not once for each of the 16 bytes that may end a function there.
TEST(CodeFrames, CodeInManyMappings) {
  ManyMappings space;
  Memory memory(space);
  CodeFrames frames(space.abi());
  EXPECT_FALSE(frames.find(at(0x3000, 0x7000, 0), memory));
  EXPECT_GT(space.views, 0x3000 - space.start);
  EXPECT_LT(space.views, 4 * (space.end - space.start));
}

/// At one pc a frame is looked at again three times if its stack leads nowhere.
TEST(CodeFrames, LooksAreCounted) {
  for (const int failures : {0, 2, 3}) {
    FunctionSpace space;
    const FrameState frame = in_function_at(space, 0x1400);
    space.call_before(0x2000, 0x1400);
    space.symbol = {0x1400, 14};
    CodeFrames frames(space.abi());
    space.word(0x7018, 0x5000);
    for (int i = 0; i < failures; ++i) {
      Memory memory(space);
      EXPECT_FALSE(frames.find(frame, memory));
    }
    space.word(0x7018, 0x2000);
    Memory memory(space);
    EXPECT_EQ(frames.find(frame, memory) != nullptr, failures < 3) << failures;
  }
}

TEST(CodeFrames, TakeFromTheBudget) {
  FunctionSpace space;
  const FrameState frame = in_function_at(space, 0x1400);
  space.call_before(0x2000, 0x1400);
  space.symbol = {0x1400, 14};
  Budget budget(Limits::strict, 0);
  space.limit = &budget;
  {
    Memory memory(space);
    EXPECT_TRUE(CodeFrames(space.abi()).find(frame, memory));
  }
  EXPECT_FALSE(budget.is_used_up());
  while (budget.take(Resource::guesses, 1)) {
  }
  Memory memory(space);
  EXPECT_FALSE(CodeFrames(space.abi()).find(frame, memory));
}

/// Code of Common Lisp's SBCL: a caller makes the frame record of its callee, which stores its return address
/// there and restores FP. After a `ret` and padding:
///   1010 sub $8,%rsp; 1014 sub $16,%rsp; 1018 mov %rbp,(%rsp); 101c mov %rsp,%rbp; 101f call 2800
TEST(CodeFrames, CallerMakesTheRecord) {
  constexpr std::uint64_t fp = 0x7100, caller_fp = 0x7200, return_address = 0x2000;
  CodeSpace space{0x1010};
  Memory memory{space};
  space.code(0x1000, {0xc3, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0, 0});
  space.code(0x1010, {0x48, 0x83, 0xec, 8,    0x48, 0x83, 0xec, 16,   0x48, 0x89,
                      0x2c, 0x24, 0x48, 0x89, 0xe5, 0xe8, 0xdc, 0x17, 0,    0});
  space.word(fp, caller_fp);
  space.word(fp + 8, return_address);
  space.word(fp - 40 + 24, return_address); // what the analysis would take for it: above 16 and 8 bytes
  FrameState frame = at(0x1024, fp - 40, fp);
  EXPECT_TRUE(CodeFrames(space.abi()).find(at(0x101f, fp - 40, fp - 40), memory)) << "before the call";
  frame.pc_exact = false; // in the call
  EXPECT_EQ(CodeFrames(space.abi()).find(frame, memory), nullptr);
  FrameState caller;
  const StepResult result = make_frame_pointer_stepper(space.abi())->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_TRUE(result.may_skip);
  EXPECT_EQ(caller.registers.pc, return_address);
  EXPECT_EQ(caller.registers.get(rbp), caller_fp);
}

/// sub $24,%rsp; call; add $24,%rsp; ret
TEST(CodeFrames, WithoutRecord) {
  CodeSpace space(0x1000);
  space.code(0x1000, {0x48, 0x83, 0xec, 24, 0xe8, 0xf7, 0x17, 0, 0, 0x48, 0x83, 0xc4, 24, 0xc3});
  space.word(0x7000 + 24, 0x2000);
  Memory memory(space);
  CodeFrames frames(space.abi());
  FrameState frame = at(0x1009, 0x7000, 0x7200), caller;
  frame.pc_exact = false;
  const CodeFrame* code = frames.find(frame, memory);
  ASSERT_TRUE(code);
  EXPECT_EQ(code->kind, FrameKind::no_record);
  EXPECT_EQ(code->setup, FrameSetup::none);
  ASSERT_EQ(CodeFrames::step(*code, frame, memory, caller).status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.get(rsp), 0x7020u);
  EXPECT_EQ(caller.registers.get(rbp), 0x7200u);
}

} // namespace steppers_code_frames_test
