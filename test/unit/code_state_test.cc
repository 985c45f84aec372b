// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States and rows compared with them, without code: words on the stack, the state at a function's start, and
// how a rule agrees. Register numbers and the places of saved registers are the ABIs'.

#include "sframe/code/row_check.h"
#include "sframe/code/state.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace code_state_test {

using namespace sframe;
using namespace sframe::code;
using Base = Value::Base;

constexpr std::uint16_t rax = 0, rbx = 3, rbp = 6, rsp = 7, r12 = 12;

const AbiTraits& amd64() {
  return traits(Abi::amd64);
}
const AbiTraits& aarch64() {
  return traits(Abi::aarch64_little);
}
const AbiTraits& s390x() {
  return traits(Abi::s390x);
}

State entry_of(const FrameRow& row, const AbiTraits& abi) {
  return State::at_entry(row, abi, machine(abi));
}
State entry_of(const AbiTraits& abi) {
  return entry_of(abi.entry_row(), abi);
}

constexpr Value symbol(std::uint16_t id, std::int32_t offset, bool is_new = false) {
  return {Base::symbol, is_new, id, offset};
}
constexpr Value conflict(std::uint16_t id) {
  return {Base::conflict, false, id, 0};
}

TEST(CodeState, AtEntry) {
  const State state = entry_of(amd64());
  EXPECT_EQ(state.reg(rsp), Value::cfa(-8));
  EXPECT_EQ(state.reg(rbp), Value::entry(rbp));
  EXPECT_EQ(state.reg(rbx), Value::entry(rbx));
  EXPECT_EQ(state.reg(15), Value::entry(15));
  EXPECT_EQ(state.reg(rax), Value::other()); // calls clobber it
  EXPECT_EQ(state.reg(11), Value::other());
  EXPECT_EQ(state.reg(17), Value::other());
  EXPECT_EQ(state.reg(State::max_registers), Value::other());
  EXPECT_EQ(state.word(Value::cfa(-8)), Value::entry(amd64().ra));
  EXPECT_EQ(state.slots().size(), 1u);

  // x19 to x28 and FP belong to the caller, and the link register has the return address.
  const State arm = entry_of(aarch64());
  EXPECT_EQ(arm.reg(31), Value::cfa(0));
  EXPECT_EQ(arm.reg(30), Value::entry(30));
  EXPECT_EQ(arm.reg(19), Value::entry(19));
  EXPECT_EQ(arm.reg(18), (Value{Value::Base::shadow, false, 18, 0})); // may point to a shadow call stack
  EXPECT_EQ(arm.reg(0), Value::other());
  EXPECT_TRUE(arm.slots().empty());
}

/// The first row of a cold part has a frame.
TEST(CodeState, AtEntryWithFrame) {
  const State state = entry_of({0, Rule::value(rbp, 16), Rule::fixed(), Rule::at_cfa(-16), false}, amd64());
  EXPECT_EQ(state.reg(rbp), Value::cfa(-16));
  EXPECT_EQ(state.reg(rsp).base, Base::symbol);
  EXPECT_EQ(state.word(Value::cfa(-16)), Value::entry(rbp));
  EXPECT_EQ(state.word(Value::cfa(-8)), Value::entry(amd64().ra));

  // The CFA in a word at a register that is not SP: two places that are not known to be near each other.
  const State stored =
      entry_of({0, Rule::stored(rbp, -8), Rule::fixed(), Rule::stored(rbp, 0), false}, amd64());
  ASSERT_EQ(stored.reg(rbp).base, Base::symbol);
  ASSERT_EQ(stored.reg(rsp).base, Base::symbol);
  EXPECT_NE(stored.reg(rbp).id, stored.reg(rsp).id);
  EXPECT_EQ(stored.word(symbol(stored.reg(rbp).id, -8)), Value::cfa(0));
  EXPECT_EQ(stored.word(symbol(stored.reg(rbp).id, 0)), Value::entry(rbp));

  // The return address in another register; one with an offset cannot be represented.
  const State in_register =
      entry_of({0, Rule::value(31, 32), Rule::in_register(9), Rule::same(), false}, aarch64());
  EXPECT_EQ(in_register.reg(9), Value::entry(30));
  EXPECT_EQ(in_register.reg(30), Value::other());
  EXPECT_EQ(in_register.reg(31), Value::cfa(-32));
  const State moved = entry_of({0, Rule::value(31, 32), Rule::value(9, 4), Rule::same(), false}, aarch64());
  EXPECT_EQ(moved.reg(9), Value::other());
}

TEST(CodeState, AtEntryOfOutermost) {
  const State state = entry_of({0, Rule::undefined(), Rule::undefined(), Rule::undefined(), false}, amd64());
  EXPECT_EQ(state.reg(rsp), Value::cfa(-8));
  EXPECT_EQ(state.word(Value::cfa(-8)), Value::other());
}

/// A signed return address is one wherever the row has it: in its register or in a word.
TEST(CodeState, AtEntryOfSigned) {
  const State in_register = entry_of({0, Rule::value(31, 0), Rule::same(), Rule::same(), true}, aarch64());
  EXPECT_EQ(in_register.reg(30), (Value{Base::entry, true, 30, 0}));
  EXPECT_EQ(in_register.reg(29), Value::entry(29));
  EXPECT_EQ(in_register.reg(19), Value::entry(19));
  const State in_word =
      entry_of({0, Rule::value(31, 16), Rule::at_cfa(-8), Rule::at_cfa(-16), true}, aarch64());
  EXPECT_EQ(in_word.word(Value::cfa(-8)), (Value{Base::entry, true, 30, 0}));
  EXPECT_EQ(in_word.word(Value::cfa(-16)), Value::entry(29));
}

/// s390x: one instruction saves r14 and r15 next to each other, in the 160 bytes at the caller's SP.
TEST(CodeState, AtEntryWithSavedStackPointer) {
  const auto saved_sp = [](std::int32_t ra) {
    return entry_of({0, Rule::value(15, 320), Rule::at_cfa(ra), Rule::same(), false}, s390x())
        .word(Value::cfa(ra + 8));
  };
  EXPECT_EQ(saved_sp(-48), Value::cfa(-160));
  EXPECT_EQ(saved_sp(-160), Value::cfa(-160));
  EXPECT_EQ(saved_sp(-168), Value::other()); // not in that area
  EXPECT_EQ(saved_sp(-16), Value::cfa(-160));
  EXPECT_EQ(saved_sp(-8), Value::other()); // SP's word would be outside
}

TEST(CodeState, WordsOverlap) {
  const auto is_kept_after = [](std::int32_t at, std::uint32_t size) {
    State state;
    state.store(Value::cfa(-16), Value::entry(rbx));
    state.overwrite(Value::cfa(at), size);
    return state.word(Value::cfa(-16)) == Value::entry(rbx);
  };
  EXPECT_TRUE(is_kept_after(-24, 8));
  EXPECT_FALSE(is_kept_after(-24, 9));
  EXPECT_FALSE(is_kept_after(-16, 1));
  EXPECT_FALSE(is_kept_after(-9, 1));
  EXPECT_TRUE(is_kept_after(-8, 8));

  State state;
  state.store(Value::cfa(-16), Value::entry(rbx));
  EXPECT_TRUE(state.has_saved_register(Value::cfa(-9), 1));
  EXPECT_FALSE(state.has_saved_register(Value::cfa(-8), 8));
  EXPECT_FALSE(state.has_saved_register(symbol(0, -16), 8));
  state.store(Value::cfa(-32), Value::cfa(0));
  EXPECT_FALSE(state.has_saved_register(Value::cfa(-32), 8)); // of interest, but no register's
  state.store(Value::cfa(-12), Value::entry(r12));            // over half of the first word
  EXPECT_EQ(state.word(Value::cfa(-16)), Value::other());
  EXPECT_EQ(state.word(Value::cfa(-12)), Value::entry(r12));
  state.store(Value::cfa(-12), Value::other());
  EXPECT_EQ(state.slots().size(), 1u);
  state.store(Value::entry(rax), Value::entry(r12)); // no place
  EXPECT_EQ(state.slots().size(), 1u);
}

TEST(CodeState, WordsWhosePlaceIsNotKnown) {
  State state;
  EXPECT_EQ(state.word(Value::cfa(-16)), Value::other());
  EXPECT_EQ(state.word(symbol(1, 0)), Value::unknown());
  EXPECT_EQ(state.word(symbol(1, 0, true)), Value::other()); // new memory
  EXPECT_EQ(state.word(conflict(0)), Value::unknown());
  EXPECT_EQ(state.word(Value::entry(rbx)), Value::unknown());
  state.store(symbol(1, -8, true), Value::entry(rbx));
  EXPECT_EQ(state.word(symbol(1, -8)), Value::entry(rbx)); // whether it is new is no part of the place
  EXPECT_EQ(state.word(symbol(2, -8, true)), Value::other());
}

/// A state has room for 24 words; the last 8 are for registers that were saved.
TEST(CodeState, Full) {
  State state;
  for (std::int32_t i = 1; i <= 16; ++i) state.store(Value::cfa(-8 * i), Value::cfa(i));
  EXPECT_EQ(state.slots().size(), 16u);
  EXPECT_FALSE(state.forgot_words());
  state.store(Value::cfa(-8 * 17), Value::cfa(17));
  EXPECT_EQ(state.slots().size(), 16u);
  EXPECT_TRUE(state.forgot_words());
  EXPECT_EQ(state.word(Value::cfa(-8 * 17)), Value::unknown());
  for (std::int32_t i = 18; i < 18 + 8; ++i) state.store(Value::cfa(-8 * i), Value::entry(rbx));
  EXPECT_EQ(state.slots().size(), State::max_slots);
  state.store(Value::cfa(-8 * 30), Value::entry(rbx));
  EXPECT_EQ(state.slots().size(), State::max_slots);
}

TEST(CodeState, Forgets) {
  State state;
  state.store(Value::cfa(-8), Value::entry(rbx));
  state.store(Value::cfa(-16), Value::entry(rbp));
  state.store(Value::cfa(-24), Value::entry(r12));
  state.store(symbol(1, -32), symbol(2, 0));
  state.store(symbol(2, -32), Value::entry(13));
  state.drop_below(Value::cfa(-16));
  EXPECT_EQ(state.word(Value::cfa(-16)), Value::entry(rbp)); // at the place, not below it
  EXPECT_EQ(state.word(Value::cfa(-24)), Value::other());
  EXPECT_EQ(state.slots().size(), 4u);
  state.set_reg(rax, symbol(2, 8));
  state.set_reg(1, symbol(1, 8));
  state.forget(Base::symbol, 2);
  EXPECT_EQ(state.reg(rax), Value::unknown());
  EXPECT_EQ(state.reg(1), symbol(1, 8));
  EXPECT_EQ(state.word(symbol(1, -32)), Value::unknown()); // the word is there, its value is not known
  EXPECT_EQ(state.slots().size(), 3u);
}

/// The last copy of what the caller wants back: no register has it, and the word is not below SP.
TEST(CodeState, OnlyCopy) {
  State state = entry_of(amd64());
  state.store(Value::cfa(-16), Value::entry(rbx));
  const Value sp = Value::cfa(-16);
  EXPECT_FALSE(state.has_only_copy(Value::cfa(-16), 8, sp, rbp)); // rbx still has it
  state.set_reg(rbx, Value::other());
  EXPECT_TRUE(state.has_only_copy(Value::cfa(-16), 8, sp, rbp));
  EXPECT_TRUE(state.has_only_copy(Value::cfa(-20), 8, sp, rbp));
  EXPECT_FALSE(state.has_only_copy(Value::cfa(-24), 8, sp, rbp));
  EXPECT_FALSE(state.has_only_copy(Value::cfa(-16), 8, Value::cfa(-8), rbp)); // below SP
  EXPECT_FALSE(state.has_only_copy(Value::cfa(-16), 8, sp, rbx));             // saved again
  EXPECT_FALSE(state.has_only_copy(Value::cfa(-16), 8, symbol(1, -16), rbp)); // SP is elsewhere
}

TEST(CodeState, SameParts) {
  const State a = entry_of(amd64());
  State b = a;
  EXPECT_TRUE(a.same_registers(b) && a.same_words(b));
  b.set_reg(rax, Value::cfa(0));
  EXPECT_TRUE(!a.same_registers(b) && a.same_words(b));
  b = a;
  b.set_forgot_words();
  EXPECT_TRUE(a.same_registers(b) && !a.same_words(b));
  b = a;
  b.store(Value::cfa(-16), Value::entry(rbx));
  EXPECT_TRUE(a.same_registers(b) && !a.same_words(b));
}

/// Only what gets another value counts.
TEST(CodeState, Changed) {
  State state = entry_of(amd64());
  (void)state.take_changed();
  state.set_reg(rbx, Value::entry(rbx));
  state.store(Value::cfa(-64), Value::other());
  state.overwrite(Value::cfa(-64), 8);
  EXPECT_EQ(state.take_changed(), 0u);
  state.set_reg(rbx, symbol(2, 8));
  state.set_reg(rax, Value::other());
  EXPECT_EQ(state.take_changed(), State::bit(rbx));
  EXPECT_EQ(state.take_changed(), 0u);
  state.store(Value::cfa(-16), symbol(2, 0));
  EXPECT_EQ(state.take_changed(), State::words_bit);
  state.forget(Base::symbol, 2);
  EXPECT_EQ(state.take_changed(), State::words_bit | State::bit(rbx));
  state.drop_below(Value::cfa(-8));
  EXPECT_EQ(state.take_changed(), State::words_bit);
  state.set_forgot_words();
  EXPECT_EQ(state.take_changed(), State::words_bit);
}

FrameRow frame(Rule cfa, Rule ra = Rule::fixed(), Rule fp = Rule::same()) {
  return {0, cfa, ra, fp, false};
}

TEST(CodeRowCheck, Agreements) {
  State state = entry_of(amd64());
  const auto checked = [&](const FrameRow& row) { return check(row, state, amd64()); };
  const RowCheck right = checked(amd64().entry_row());
  EXPECT_EQ(right.worst(), Agreement::agrees);
  EXPECT_EQ(right.cfa.found, Value::cfa(0));
  EXPECT_EQ(right.ra.expected, Value::entry(amd64().ra));
  const RowCheck wrong = checked(frame(Rule::value(rsp, 16)));
  EXPECT_EQ(wrong.cfa.agreement, Agreement::contradicts);
  EXPECT_EQ(wrong.cfa.found, Value::cfa(8));
  EXPECT_EQ(wrong.worst(), Agreement::contradicts);

  // By a register that is nothing at all, that is not known, and that differs between paths.
  EXPECT_EQ(checked(frame(Rule::value(rax, 8))).cfa.agreement, Agreement::contradicts);
  state.set_reg(rax, Value::unknown());
  EXPECT_EQ(checked(frame(Rule::value(rax, 8))).cfa.agreement, Agreement::unknown);
  state.set_reg(rax, symbol(1, 0));
  EXPECT_EQ(checked(frame(Rule::value(rax, 8))).cfa.agreement, Agreement::unknown);
  state.set_reg(rax, conflict(0));
  EXPECT_EQ(checked(frame(Rule::value(rax, 8))).cfa.agreement, Agreement::conflicts);

  // The same for words.
  const FrameRow by_rax = frame(Rule::value(rsp, 8), Rule::stored(rax, 8));
  EXPECT_EQ(checked(by_rax).ra.agreement, Agreement::conflicts);
  EXPECT_EQ(checked(by_rax).worst(), Agreement::conflicts);
  state.set_reg(rax, Value::unknown());
  EXPECT_EQ(checked(by_rax).ra.agreement, Agreement::unknown);
  EXPECT_EQ(checked(by_rax).worst(), Agreement::unknown);
  state.set_reg(rax, Value::other());
  EXPECT_EQ(checked(by_rax).ra.agreement, Agreement::contradicts);
  state.set_reg(rax, Value::cfa(-16));
  EXPECT_EQ(checked(by_rax).ra.agreement, Agreement::agrees);
  EXPECT_EQ(checked(frame(Rule::value(rsp, 8), Rule::at_cfa(-16))).ra.agreement, Agreement::contradicts);

  // FP in a word that may be the one that was written through a symbol.
  state.set_reg(rbp, Value::other());
  const FrameRow saved = frame(Rule::value(rsp, 8), Rule::fixed(), Rule::at_cfa(-32));
  EXPECT_EQ(checked(saved).fp.agreement, Agreement::contradicts);
  state.store(symbol(1, -32), Value::entry(rbx));
  EXPECT_EQ(checked(saved).fp.agreement, Agreement::contradicts); // another register's
  state.store(symbol(1, -40), Value::entry(rbp));
  EXPECT_EQ(checked(saved).fp.agreement, Agreement::unknown);
  state.store(Value::cfa(-32), Value::entry(rbx));
  EXPECT_EQ(checked(saved).fp.agreement, Agreement::contradicts); // that word is known
}

TEST(CodeRowCheck, ChecksNothingOfUndefinedRules) {
  State state = entry_of(amd64());
  state.set_reg(rbp, Value::other());
  EXPECT_EQ(check(frame(Rule::value(rsp, 8), Rule::fixed(), Rule::undefined()), state, amd64()).worst(),
            Agreement::agrees);
  state.set_reg(rsp, Value::other());
  EXPECT_EQ(check(frame(Rule::undefined(), Rule::undefined(), Rule::undefined()), state, amd64()).worst(),
            Agreement::agrees);
}

TEST(CodeRowCheck, Signatures) {
  const FrameRow plain{0, Rule::value(31, 0), Rule::same(), Rule::same(), false};
  FrameRow is_signed = plain;
  is_signed.ra_signed = true;
  const State state = entry_of(plain, aarch64()), after_pac = entry_of(is_signed, aarch64());
  EXPECT_EQ(check(plain, state, aarch64()).worst(), Agreement::agrees);
  const RowCheck missed = check(plain, after_pac, aarch64());
  EXPECT_EQ(missed.ra.agreement, Agreement::agrees);
  EXPECT_FALSE(missed.sign_agrees);
  EXPECT_EQ(missed.worst(), Agreement::contradicts);
  EXPECT_EQ(check(is_signed, state, aarch64()).worst(), Agreement::contradicts);
  EXPECT_EQ(check(is_signed, after_pac, aarch64()).worst(), Agreement::agrees);
  EXPECT_TRUE(row_of(after_pac, aarch64())->ra_signed);
  EXPECT_FALSE(row_of(state, aarch64())->ra_signed);
}

/// SP comes first, then FP, then a word in the frame, then any register, then a word below SP.
TEST(CodeRowCheck, RowOfChoosesTheCfa) {
  State state = entry_of(amd64());
  const auto cfa = [&] { return row_of(state, amd64()).value_or(FrameRow{}).cfa; };
  state.set_reg(rbp, Value::cfa(-16));
  state.set_reg(rax, Value::cfa(-24));
  EXPECT_EQ(cfa(), Rule::value(rsp, 8));
  state.set_reg(rsp, symbol(1, 0));
  EXPECT_EQ(cfa(), Rule::value(rbp, 16));
  state.set_reg(rbp, Value::other());
  EXPECT_EQ(cfa(), Rule::value(rax, 24));
  state.set_reg(rax, Value::other());
  EXPECT_FALSE(row_of(state, amd64()));
  state.store(symbol(1, 8), Value::cfa(0));
  EXPECT_EQ(cfa(), Rule::stored(rsp, 8));
  state.set_reg(rbp, symbol(1, 16));
  EXPECT_EQ(cfa(), Rule::stored(rbp, -8)); // FP before SP
  state.set_reg(rax, Value::cfa(-24)); // a callee may change it, and walks know it in the first frame only
  EXPECT_EQ(cfa(), Rule::stored(rbp, -8));
  state.set_reg(rsp, symbol(1, 16)); // the word is below it
  EXPECT_EQ(cfa(), Rule::value(rax, 24));
  state.set_reg(rax, Value::other());
  EXPECT_EQ(cfa(), Rule::stored(rbp, -8));
  state.set_reg(rsp, symbol(1, 0));
  state.set_reg(rbp, symbol(2, 16));
  EXPECT_EQ(cfa(), Rule::stored(rsp, 8));
}

/// A word that nothing can overwrite comes first, then the register itself, another one, then any word.
TEST(CodeRowCheck, RowOfChoosesThePlaceOfFp) {
  State state = entry_of(amd64());
  const auto fp = [&] { return row_of(state, amd64()).value_or(FrameRow{}).fp; };
  EXPECT_EQ(fp(), Rule::same());
  state.store(Value::cfa(-16), Value::entry(rbp));
  EXPECT_EQ(fp(), Rule::same()); // below SP
  state.set_reg(rsp, Value::cfa(-16));
  EXPECT_EQ(fp(), Rule::at_cfa(-16));
  state.set_reg(rsp, Value::cfa(-8));
  state.set_reg(rbp, Value::other());
  state.set_reg(r12, Value::entry(rbp));
  EXPECT_EQ(fp(), Rule::in_register(r12));
  state.set_reg(r12, Value::other());
  EXPECT_EQ(fp(), Rule::at_cfa(-16));
  state.overwrite(Value::cfa(-16), 8);
  EXPECT_EQ(fp(), Rule::undefined());
}

/// What is looked for in other registers only if it is nowhere else depends on these only then.
TEST(CodeRowCheck, RowOfTellsItsParts) {
  State state = entry_of(amd64());
  const auto parts = [&] {
    std::uint64_t found = 0;
    (void)row_of(state, amd64(), &found);
    return found;
  };
  const std::uint64_t frame = State::bit(rsp) | State::bit(rbp) | State::bit(amd64().ra) | State::words_bit;
  EXPECT_EQ(parts(), frame);
  state.set_reg(rsp, symbol(1, 0));
  state.set_reg(rbp, Value::cfa(-16));
  state.store(Value::cfa(-16), Value::entry(rbp));
  EXPECT_EQ(parts(), frame); // the CFA by FP
  state.overwrite(Value::cfa(-16), 8);
  EXPECT_EQ(parts() & State::bit(r12), State::bit(r12)); // no place of FP: another register may get it
  state = entry_of(amd64());
  state.set_reg(rsp, symbol(1, 0));
  EXPECT_EQ(parts() & State::bit(rax), State::bit(rax)); // no CFA
}

TEST(CodeRowCheck, RowNeedsAReturnAddress) {
  State state = entry_of(amd64());
  EXPECT_EQ(row_of(state, amd64())->ra, Rule::fixed());
  state.overwrite(Value::cfa(-8), 8);
  EXPECT_FALSE(row_of(state, amd64()));
  state.store(Value::cfa(-16), Value::entry(amd64().ra));
  EXPECT_EQ(row_of(state, amd64())->ra, Rule::at_cfa(-16));
}

TEST(CodeRowCheck, EntryLike) {
  State state = entry_of(amd64());
  EXPECT_TRUE(is_entry_like(state, amd64()));
  state.set_reg(rbx, Value::other());
  EXPECT_TRUE(is_entry_like(state, amd64())); // rows do not describe it
  State lower = state;
  lower.set_reg(rsp, Value::cfa(-16));
  EXPECT_FALSE(is_entry_like(lower, amd64()));
  State other_fp = state;
  other_fp.set_reg(rbp, Value::cfa(-16));
  EXPECT_FALSE(is_entry_like(other_fp, amd64()));
  state.overwrite(Value::cfa(-8), 8);
  EXPECT_FALSE(is_entry_like(state, amd64()));

  State arm = entry_of(aarch64());
  EXPECT_TRUE(is_entry_like(arm, aarch64()));
  arm.set_reg(30, Value::other());
  EXPECT_FALSE(is_entry_like(arm, aarch64()));
}

// Linux: exit, exit_group and rt_sigreturn; clone and clone3 (syscall_64.tbl, asm-generic/unistd.h). s390x
// has the number in the instruction, which its decoder reads.
TEST(CodeMachine, SystemCalls) {
  using Three = std::array<std::int32_t, 3>;
  using Two = std::array<std::int32_t, 2>;
  EXPECT_EQ(machine(amd64()).last_system_calls, (Three{60, 231, 15}));
  EXPECT_EQ(machine(amd64()).thread_system_calls, (Two{56, 435}));
  EXPECT_EQ(machine(aarch64()).last_system_calls, (Three{93, 94, 139}));
  EXPECT_EQ(machine(aarch64()).thread_system_calls, (Two{220, 435}));
  EXPECT_EQ(machine(s390x()).last_system_calls, (Three{1, 248, 173}));
  EXPECT_EQ(machine(s390x()).thread_system_calls, (Two{120, 435}));
}

// The psABIs: which registers calls preserve, what is below SP; the manuals: sizes of instructions.
TEST(CodeMachine, Registers) {
  const auto preserved = [](const AbiTraits& abi) {
    std::vector<int> numbers;
    for (int reg = 0; reg < machine(abi).num_registers; ++reg)
      if (!(machine(abi).call_clobbered >> reg & 1)) numbers.push_back(reg);
    return numbers;
  };
  EXPECT_EQ(preserved(amd64()), (std::vector{3, 6, 7, 12, 13, 14, 15}));
  const auto arm = preserved(aarch64());
  EXPECT_EQ(std::vector(arm.begin(), arm.begin() + 12),
            (std::vector{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31}));
  EXPECT_EQ(machine(amd64()).red_zone, 128u);
  EXPECT_EQ(machine(aarch64()).red_zone, 0u);
  EXPECT_EQ(machine(s390x()).red_zone, 0u);
  EXPECT_EQ(machine(amd64()).max_length, 15);
  EXPECT_EQ(machine(aarch64()).max_length, 4);
  EXPECT_EQ(machine(s390x()).max_length, 6);
  EXPECT_EQ(machine(amd64()).alignment, 1);
  EXPECT_EQ(machine(aarch64()).alignment, 4);
  EXPECT_EQ(machine(s390x()).alignment, 2);
}

} // namespace code_state_test
