// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the analysis, each by itself (lib/code/src/analysis): states that are joined, tables that are
// read, blocks that are divided, edges. What they do together is in the other tests of code.

#include "arrivals.h"
#include "branch.h"
#include "executor.h"
#include "guesses.h"
#include "joins.h"
#include "work_list.h"

#include "inputs.h"
#include "printers.h"
#include "sframe/base/budget.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace code_parts_test {

using namespace sframe;
using namespace sframe::code;
using Base = Value::Base;

constexpr std::uint64_t start = 0x401000, table = start + 0x10000;
constexpr std::uint8_t rax = 0, rdx = 1, rcx = 2, rbx = 3, rdi = 5, rbp = 6, rsp = 7;

const AbiTraits& amd64() {
  return traits(Abi::amd64);
}

State entry_state() {
  return State::at_entry(amd64().entry_row(), amd64(), machine(amd64()));
}

constexpr Value bounded(std::int32_t limit, bool is_firm, std::uint16_t name = 0) {
  return {Base::bounded, is_firm, static_cast<std::uint16_t>(1 + 512 * name), limit};
}
constexpr Value constant(std::int32_t value) {
  return {Base::constant, false, 0, value};
}
constexpr Value address(std::int32_t from_start) {
  return {Base::code, false, 0, from_start};
}

/// Words of constant data.
class World : public Environment {
public:
  std::map<std::uint64_t, std::int32_t> words;

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override {
    const auto at = words.find(address);
    if (at == words.end() || size != sizeof at->second) return {};
    return std::as_bytes(std::span(&at->second, 1));
  }
};

/// Code, and the parts that need no others above them.
struct Parts {
  explicit Parts(const std::string& bytes) : code_bytes(test::hex(bytes)) {
    set({.start = start, .bytes = code_bytes, .entry = amd64().entry_row()});
  }
  void set(const Function& function) {
    subject.set(function);
    effort.reset();
    code.reset();
    blocks.reset();
    tables.reset();
    transfer.reset();
  }
  Decoded& decoded(std::uint64_t offset) {
    const std::uint32_t known = code.at(start + offset);
    return code[known == no_index ? code.decode(start + offset) : known];
  }
  void apply(std::uint64_t offset, State& state) {
    Decoded& one = decoded(offset);
    transfer.apply(code.number_of(one), one, state);
  }

  std::vector<std::byte> code_bytes;
  Subject subject{amd64()};
  Effort effort{subject};
  Instructions code{subject, effort};
  Blocks blocks{subject, code, effort};
  JumpTables tables{subject, code, effort};
  Transfer transfer{subject, code, tables};
};

TEST(CodeWorkList, LowestAddressFirstEachOnce) {
  WorkList list;
  list.add(0x30, 0);
  list.add(0x10, 1);
  list.add(0x20, 2);
  list.add(0x10, 1);
  EXPECT_EQ(list.first(), 1u);
  EXPECT_EQ(list.take(), 1u);
  list.add(0x10, 1); // its state changed again
  EXPECT_EQ(list.take(), 1u);
  EXPECT_EQ(list.take(), 2u);
  EXPECT_EQ(list.take(), 0u);
  EXPECT_TRUE(list.empty());
}

/// What was given up may not run later: a limit was met, and its state is one of many that are wrong.
TEST(CodeWorkList, GivenUpBlocksStayOut) {
  WorkList list;
  list.add(0x10, 0);
  list.give_up();
  EXPECT_TRUE(list.empty());
  list.add(0x10, 0);
  EXPECT_TRUE(list.empty());
  list.clear();
  list.add(0x10, 0);
  EXPECT_FALSE(list.empty());
}

class CodeJoins : public ::testing::Test {
protected:
  Subject subject_{amd64()};
  Effort effort_{subject_};
  Joins joins_{subject_, effort_};
};

TEST_F(CodeJoins, EqualStatesChangeNothing) {
  State known = entry_state();
  EXPECT_FALSE(joins_.join(known, entry_state(), start, start));
  EXPECT_TRUE(joins_.conflicts().empty());
}

TEST_F(CodeJoins, ConflictOfARegister) {
  State known = entry_state(), other = entry_state();
  other.set_reg(rsp, Value::cfa(-16));
  EXPECT_TRUE(joins_.join(known, other, start + 8, start + 4));
  ASSERT_EQ(joins_.conflicts().size(), 1u);
  const Conflict& conflict = joins_.conflicts()[0];
  EXPECT_EQ(conflict.address, start + 8);
  EXPECT_EQ(conflict.second_from, start + 4);
  EXPECT_TRUE(conflict.in_register);
  EXPECT_EQ(conflict.reg, rsp);
  EXPECT_EQ(conflict.first, Value::cfa(-8));
  EXPECT_EQ(conflict.second, Value::cfa(-16));
  EXPECT_EQ(known.reg(rsp), (Value{Base::conflict, false, 0, 0}));

  // It stays the conflict of this place, whatever comes: so a block's state comes to rest.
  other.set_reg(rsp, Value::cfa(-24));
  EXPECT_FALSE(joins_.join(known, other, start + 8, start + 4));
  EXPECT_EQ(joins_.conflicts().size(), 1u);
  // At another place it is one of two values.
  State next = known;
  EXPECT_TRUE(joins_.join(next, other, start + 20, start + 16));
  ASSERT_EQ(joins_.conflicts().size(), 2u);
  EXPECT_EQ(joins_.conflicts()[1].first, known.reg(rsp));
}

TEST_F(CodeJoins, ValuesThatNoRowNeeds) {
  State known = entry_state(), other = entry_state();
  known.set_reg(rax, bounded(7, true, 1));
  other.set_reg(rax, bounded(7, true, 2));
  known.set_reg(rcx, constant(1));
  other.set_reg(rcx, constant(2));
  known.set_reg(rbx, Value::unknown());
  EXPECT_TRUE(joins_.join(known, other, start + 8, start + 4));
  EXPECT_EQ(known.reg(rax), bounded(7, true)); // the bound holds; which registers are copies, does not
  EXPECT_EQ(known.reg(rcx), Value::other());
  EXPECT_EQ(known.reg(rbx), Value::unknown());
  EXPECT_TRUE(joins_.conflicts().empty());
}

TEST_F(CodeJoins, Words) {
  State known = entry_state(), other = entry_state();
  known.store(Value::cfa(-16), Value::entry(rbp));
  known.store(Value::cfa(-24), Value::cfa(-8)); // an address of the frame, on one path only
  other.store(Value::cfa(-32), Value::entry(rbx));
  EXPECT_TRUE(joins_.join(known, other, start + 8, start + 4));
  EXPECT_EQ(known.word(Value::cfa(-8)), Value::entry(amd64().ra));
  EXPECT_EQ(known.word(Value::cfa(-16)).base, Base::conflict); // saved on one path: a row may not rest on it
  EXPECT_EQ(known.word(Value::cfa(-24)), Value::other());
  EXPECT_EQ(known.word(Value::cfa(-32)).base, Base::conflict);
  EXPECT_EQ(joins_.conflicts().size(), 2u);
  EXPECT_FALSE(joins_.join(known, other, start + 8, start + 4));
}

TEST_F(CodeJoins, AnotherCompareIsNone) {
  State known = entry_state(), other = entry_state();
  known.compare = {rdi, Effect::none, 7};
  other.compare = {rdi, Effect::none, 8};
  EXPECT_TRUE(joins_.join(known, other, start + 8, start + 4));
  EXPECT_EQ(known.compare.reg, Effect::none);
}

/// Conditions are those for which the branch is taken.
TEST(CodeBranch, BoundsOfAnIndex) {
  const Subject subject(amd64());
  const auto bound = [&](Condition condition, bool taken) {
    State state = entry_state();
    state.compare = {rdi, Effect::none, 7};
    EXPECT_TRUE(refine({.flow = Flow::branch, .condition = condition}, taken, state, subject, {}));
    return state.reg(rdi);
  };
  EXPECT_EQ(bound(Condition::above, false), bounded(7, true));
  EXPECT_EQ(bound(Condition::above, true), Value::other());
  EXPECT_EQ(bound(Condition::above_or_equal, false), bounded(6, true));
  EXPECT_EQ(bound(Condition::below, true), bounded(6, true));
  EXPECT_EQ(bound(Condition::below_or_equal, true), bounded(7, true));
  EXPECT_EQ(bound(Condition::equal, true), Value::other());
}

TEST(CodeBranch, CopiesHaveTheSameBound) {
  const Subject subject(amd64());
  State state = entry_state();
  state.set_reg(rdi, {Base::other, false, 5, 0}); // mov %edi,%eax gave both a name
  state.set_reg(rax, {Base::other, false, 5, 0});
  state.compare = {rdi, Effect::none, 7};
  EXPECT_TRUE(refine({.flow = Flow::branch, .condition = Condition::above}, false, state, subject, {}));
  EXPECT_EQ(state.reg(rax).base, Base::bounded);
  EXPECT_EQ(state.reg(rax).offset, 7);
  EXPECT_EQ(state.reg(rax), state.reg(rdi));
}

TEST(CodeBranch, LoopsThatProbeTheStack) {
  const Subject subject(amd64());
  State state = entry_state();
  state.set_reg(rsp, {Base::symbol, false, 9, 0});
  state.set_reg(rax, Value::cfa(-4096));
  state.compare = {rsp, rax, 0};
  const Instruction not_equal{.flow = Flow::branch, .condition = Condition::not_equal};
  State after = state;
  EXPECT_TRUE(refine(not_equal, false, after, subject, {}));
  EXPECT_EQ(after.reg(rsp), Value::cfa(-4096));
  State before = state;
  before.set_reg(rsp, Value::cfa(-8));
  EXPECT_FALSE(refine(not_equal, false, before, subject, {})); // the loop has yet to get there
  EXPECT_TRUE(refine(not_equal, true, before, subject, {}));
}

/// SP is CFA - 8, - 16, ...: it meets a limit that is a multiple of 8 below, and passes another.
TEST(CodeBranch, StepsMeetALimit) {
  const Subject subject(amd64());
  const Conflict conflicts[] = {{.first = Value::cfa(-8), .second = Value::cfa(-16)}};
  const Instruction above{.flow = Flow::branch, .condition = Condition::above};
  const auto sp_after = [&](std::int32_t limit) {
    State state = entry_state();
    state.set_reg(rsp, {Base::conflict, false, 0, 0});
    state.set_reg(rax, Value::cfa(limit));
    state.compare = {rsp, rax, 0};
    EXPECT_TRUE(refine(above, false, state, subject, conflicts));
    return state.reg(rsp);
  };
  EXPECT_EQ(sp_after(-64), Value::cfa(-64));
  EXPECT_EQ(sp_after(-60).base, Base::conflict);
}

TEST(CodeExits, JumpsThatReturn) {
  State state = entry_state();
  state.set_reg(rcx, Value::entry(amd64().ra));
  Instruction jump{.flow = Flow::indirect_jump, .jump_register = rcx};
  EXPECT_TRUE(returns_by_jump(jump, state, amd64()));
  EXPECT_EQ(return_address(jump, state, amd64()), Value::entry(amd64().ra));
  jump.jump_register = rax;
  EXPECT_FALSE(returns_by_jump(jump, state, amd64()));

  // s390x: r14 holds the return address, or what was read from a table.
  const AbiTraits& s390x = traits(Abi::s390x);
  const Subject subject(s390x);
  State z = State::at_entry(s390x.entry_row(), s390x, machine(s390x));
  const Instruction by_r14{.flow = Flow::ret, .jump_register = 14};
  EXPECT_FALSE(jumps_like_return(by_r14, z, subject));
  z.set_reg(14, {Base::table, false, 0, 0});
  EXPECT_TRUE(jumps_like_return(by_r14, z, subject));
}

TEST(CodeExits, Returns) {
  const Subject subject(amd64());
  const Instruction ret{.flow = Flow::ret};
  State state = entry_state();
  EXPECT_EQ(exit_of_return(ret, state, subject), Exit::returns);
  state.set_reg(rsp, Value::cfa(-16));
  EXPECT_EQ(exit_of_return(ret, state, subject), Exit::returns_wrong);
  state.store(Value::cfa(-16), constant(0));
  state.last_store = Value::cfa(-16); // push, ret
  EXPECT_EQ(exit_of_return(ret, state, subject), Exit::indirect_tail_call);
  state.set_reg(rsp, {Base::symbol, true, 9, 0});
  EXPECT_EQ(exit_of_return(ret, state, subject), Exit::returns_unknown);
}

TEST(CodeInstructions, PaddingAndWhatIsNoInstruction) {
  // ret; nopl (%rax); nop; a call that the end cuts
  Parts parts("c3 0f 1f 00 90 e8 00 00");
  for (const std::uint64_t offset : {0, 1, 4, 5}) parts.code.decode(start + offset);
  EXPECT_EQ(parts.code.after_padding(start + 1), start + 5);
  EXPECT_EQ(parts.code.after_padding(start), start);
  EXPECT_TRUE(parts.decoded(5).bad);
  EXPECT_EQ(parts.code.after(parts.decoded(0).instruction), 1u);
  EXPECT_EQ(parts.code.at(start + 2), no_index);
  EXPECT_EQ(parts.code.at(start + 8), no_index); // outside
  EXPECT_TRUE(parts.code.is_in_line(start + 4));
  EXPECT_FALSE(parts.code.is_in_line(start + 2));
}

/// jne 3f; nop; nop; 3: ret
TEST(CodeBlocks, DividedByALaterLeader) {
  Parts parts("75 02 90 90 c3");
  parts.blocks.discover(start);
  EXPECT_TRUE(parts.decoded(0).leader);
  EXPECT_TRUE(parts.decoded(4).leader);
  EXPECT_FALSE(parts.decoded(3).leader);
  EXPECT_EQ(parts.blocks.at(start), no_index); // no state has arrived

  Block* const block = parts.blocks.add(parts.code.at(start));
  ASSERT_TRUE(block);
  State state = entry_state();
  for (const std::uint64_t offset : {0, 2, 3})
    parts.blocks.reach(*block, parts.code.at(start + offset), state);
  ++block->visits;
  EXPECT_EQ(parts.blocks.end_of_block(0), 4u);
  EXPECT_TRUE(parts.blocks.ends_before(*block, parts.code.at(start + 4)));
  EXPECT_TRUE(parts.blocks.to_run().empty());

  (void)parts.blocks.make_leader(start + 3); // something jumps there: the block is run again, up to there
  EXPECT_EQ(parts.blocks.to_run().take(), 0u);
  EXPECT_TRUE(parts.blocks.is_reached(parts.code.at(start + 2)));
  EXPECT_FALSE(parts.blocks.is_reached(parts.code.at(start + 3)));
  EXPECT_TRUE(parts.blocks.ends_before(*block, parts.code.at(start + 3)));
}

TEST(CodeBlocks, Literals) {
  Parts parts("90 90 90 90 90 90 90 90");
  parts.blocks.add_literals(start + 2, start + 6);
  EXPECT_EQ(parts.blocks.end_of_literals(1), 1u);
  EXPECT_EQ(parts.blocks.end_of_literals(2), 6u);
  EXPECT_EQ(parts.blocks.end_of_literals(5), 6u);
  EXPECT_EQ(parts.blocks.end_of_literals(6), 6u);
}

/// movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; nop; nop; ret
class CodeJumpTables : public ::testing::Test {
protected:
  CodeJumpTables() {
    parts_.subject.function.environment = &world_;
    for (std::uint64_t i = 0; i < 3; ++i) world_.words[table + 4 * i] = entry(9 + i);
    world_.words[table + 12] = entry(1); // inside an instruction: another table, or data
  }
  /// What the table holds for a place in the function.
  static std::int32_t entry(std::uint64_t offset) {
    return static_cast<std::int32_t>(start + offset - table);
  }
  std::optional<JumpTables::Targets> targets(const Value& index) {
    State state = entry_state();
    state.set_reg(rdx, address(table - start));
    state.set_reg(rdi, index);
    parts_.apply(0, state);
    EXPECT_EQ(state.reg(rax).base, Base::table);
    parts_.apply(4, state);
    return parts_.tables.targets(state.reg(rax));
  }

  World world_;
  Parts parts_{"48 63 04 ba 48 01 d0 ff e0 90 90 c3"};
};

TEST_F(CodeJumpTables, WithABound) {
  const auto found = targets(bounded(1, true));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_guess);
  EXPECT_EQ(std::vector(found->addresses.begin(), found->addresses.end()),
            (std::vector{start + 9, start + 10}));
}

/// It is read while entries lead to instructions.
TEST_F(CodeJumpTables, WithoutABound) {
  const auto found = targets(Value::other());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_guess);
  EXPECT_EQ(std::vector(found->addresses.begin(), found->addresses.end()),
            (std::vector{start + 9, start + 10, start + 11}));
}

TEST_F(CodeJumpTables, TooLargeABoundIsAGuess) {
  const auto found = targets(bounded(3, true));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_guess);
  EXPECT_EQ(found->addresses.size(), 3u);
}

TEST_F(CodeJumpTables, NotConstant) {
  world_.words.clear();
  EXPECT_FALSE(targets(bounded(1, true)));
  EXPECT_FALSE(parts_.tables.targets(Value::other()));
}

/// and $-32,%rsp; push %rbx; lea -8(%rbp),%rsp
TEST(CodeTransfer, AStackPointerThatCannotBeFollowedGetsAName) {
  Parts parts("48 83 e4 e0 53 48 8d 65 f8");
  State state = entry_state();
  state.set_reg(rbp, Value::cfa(-16));
  parts.apply(0, state);
  const Value aligned = state.reg(rsp);
  EXPECT_EQ(aligned.base, Base::symbol);
  EXPECT_FALSE(parts.decoded(0).sp_lost); // alignment is no obstacle
  parts.apply(4, state);
  EXPECT_EQ(state.reg(rsp).base, Base::symbol);
  EXPECT_EQ(state.reg(rsp).id, aligned.id);
  EXPECT_EQ(state.reg(rsp).offset, -8);
  EXPECT_EQ(state.word(state.reg(rsp)), Value::entry(rbx));
  parts.apply(5, state);
  EXPECT_EQ(state.reg(rsp), Value::cfa(-24));
}

TEST(CodeTransfer, Calls) {
  Parts parts("e8 00 00 00 00");
  State state = entry_state();
  state.store(Value::cfa(-24), Value::entry(rbx)); // below SP
  state.set_reg(rax, Value::cfa(-16));
  parts.transfer.return_from_call(parts.decoded(0).instruction, state);
  EXPECT_EQ(state.reg(rbx), Value::entry(rbx));
  EXPECT_EQ(state.reg(rax), Value::other());
  EXPECT_EQ(state.reg(rsp), Value::cfa(-8));
  EXPECT_EQ(state.word(Value::cfa(-24)), Value::other());
  parts.transfer.enter_internal_call(parts.decoded(0).instruction, state);
  EXPECT_EQ(state.reg(rsp), Value::cfa(-16));
}

TEST(CodeGuesses, TheLastStateOfEach) {
  Parts parts("90 90 90");
  for (const std::uint64_t offset : {0, 1, 2}) parts.code.decode(start + offset);
  Guesses guesses(parts.code, parts.effort);
  const std::uint64_t targets[] = {start + 1, start + 2};
  State first = entry_state(), second = entry_state();
  second.set_reg(rsp, Value::cfa(-16));
  guesses.add(0, first, std::span(targets).first(1));
  guesses.add(1, first, std::span(targets).last(1));
  guesses.add(0, second, targets);
  std::vector<std::tuple<std::uint64_t, Value, std::uint32_t>> followed;
  const auto follow = [&](std::uint64_t target, const State& state, std::uint32_t from) {
    followed.emplace_back(target, state.reg(rsp), from);
    return true;
  };
  while (!guesses.empty()) guesses.take(follow);
  EXPECT_EQ(followed,
            (std::vector<std::tuple<std::uint64_t, Value, std::uint32_t>>{{start + 2, Value::cfa(-8), 1},
                                                                          {start + 1, Value::cfa(-16), 0},
                                                                          {start + 2, Value::cfa(-16), 0}}));
  guesses.add(0, first, std::span(targets).first(1)); // it was seen again
  EXPECT_FALSE(guesses.empty());
}

TEST(CodeEffort, LimitByTheSize) {
  Parts parts("90");
  constexpr std::uint64_t for_a_byte = 32, always = 1 << 16;
  parts.effort.add(always + for_a_byte);
  EXPECT_TRUE(parts.effort.may_run());
  parts.effort.add();
  EXPECT_FALSE(parts.effort.may_run());
}

/// Little is done on credit; what is much has to be paid.
TEST(CodeEffort, Budget) {
  Parts parts("90 90");
  Budget budget(Limits::strict, 0);
  parts.set({.start = start, .bytes = parts.code_bytes, .entry = amd64().entry_row(), .budget = &budget});
  EXPECT_FALSE(parts.decoded(0).bad);
  const std::uint64_t left = budget.left(Resource::code_steps);
  EXPECT_TRUE(parts.effort.pay()); // on credit
  EXPECT_EQ(budget.left(Resource::code_steps), left);
  EXPECT_TRUE(parts.effort.pay_all());
  EXPECT_EQ(budget.left(Resource::code_steps), left - parts.effort.cost());
  parts.effort.add(left);
  EXPECT_FALSE(parts.effort.pay());
  EXPECT_FALSE(parts.effort.limit_met()); // of the function's own
}

/// Notes all edges.
class Recorder final : public Edges {
public:
  void jump(std::uint64_t target, const State& state, std::uint32_t) override {
    add("jump", target);
    last = state;
  }
  void guess(std::span<const std::uint64_t> targets, const State&, std::uint32_t) override {
    for (const std::uint64_t target : targets) add("guess", target);
  }
  void unwind(std::uint64_t landing_pad, const State&, std::uint32_t) override { add("unwind", landing_pad); }
  void skip(std::uint64_t begin, std::uint64_t) override { add("skip", begin); }
  bool must_restart() const override { return false; }

  std::vector<std::pair<std::string, std::uint64_t>> edges;
  State last;

private:
  void add(const char* kind, std::uint64_t target) { edges.emplace_back(kind, target - start); }
};

class CodeExecutor : public ::testing::Test {
protected:
  /// True if control goes on to the next instruction.
  bool step(Parts& parts, std::uint64_t offset, State& state, Edges* edges) {
    Joins joins(parts.subject, parts.effort);
    FunctionEnds ends(parts.subject, parts.code, parts.transfer, parts.effort);
    CalleeEffects callees(parts.subject, parts.code, parts.effort);
    Executor executor(parts.subject, parts.code, parts.blocks, parts.transfer, parts.tables, joins, ends,
                      callees);
    return executor.step(parts.code.number_of(parts.decoded(offset)), state, edges);
  }
  using Seen = std::vector<std::pair<std::string, std::uint64_t>>;
  Recorder edges_;
};

/// cmp $7,%edi; jbe 6f; nop; 6: ret
TEST_F(CodeExecutor, ABranchTellsSomethingOnEitherSide) {
  Parts parts("83 ff 07 76 01 90 c3");
  State state = entry_state();
  EXPECT_TRUE(step(parts, 0, state, &edges_));
  EXPECT_TRUE(step(parts, 3, state, &edges_));
  EXPECT_EQ(edges_.edges, (Seen{{"jump", 6}}));
  EXPECT_EQ(edges_.last.reg(rdi), bounded(7, true));
  EXPECT_EQ(state.reg(rdi), Value::other());
  EXPECT_FALSE(step(parts, 6, state, &edges_)); // returns
}

TEST_F(CodeExecutor, CallsMayThrow) {
  Parts parts("e8 fb ff 00 00 90 c3");
  const CallSite sites[] = {{start, start + 5, start + 6}};
  parts.subject.function.call_sites = sites;
  State state = entry_state();
  EXPECT_TRUE(step(parts, 0, state, &edges_));
  EXPECT_EQ(edges_.edges, (Seen{{"unwind", 6}}));
  EXPECT_TRUE(step(parts, 0, state, nullptr)); // nobody asks
  EXPECT_EQ(edges_.edges.size(), 1u);
}

TEST_F(CodeExecutor, JumpsOut) {
  Parts parts("e9 fb ff 00 00 ff e0");
  State state = entry_state();
  EXPECT_FALSE(step(parts, 0, state, &edges_));
  EXPECT_FALSE(step(parts, 5, state, &edges_)); // with the frame as at the entry: a tail call
  EXPECT_FALSE(parts.decoded(5).unresolved);
  state.set_reg(rsp, Value::cfa(-16));
  EXPECT_FALSE(step(parts, 5, state, &edges_));
  EXPECT_TRUE(parts.decoded(5).unresolved);
  EXPECT_TRUE(edges_.edges.empty());
}

class CodeArrivals : public ::testing::Test {
protected:
  /// call far; nop; nop; ret
  Parts parts_{"e8 fb ff 00 00 90 90 c3"};
  Joins joins_{parts_.subject, parts_.effort};
  Guesses guesses_{parts_.code, parts_.effort};
  FunctionEnds ends_{parts_.subject, parts_.code, parts_.transfer, parts_.effort};
  Arrivals arrivals_{parts_.subject, parts_.code, parts_.blocks, joins_, guesses_, ends_, parts_.effort};

  void SetUp() override { parts_.blocks.discover(start); }
  static State at(std::int32_t sp) {
    State state = entry_state();
    state.set_reg(rsp, Value::cfa(sp));
    return state;
  }
  const State& in(std::uint64_t offset) { return parts_.blocks[parts_.blocks.at(start + offset)].in; }
};

TEST_F(CodeArrivals, TheFirstMakesABlockTheNextAreJoined) {
  arrivals_.jump(start + 5, at(-8), 0);
  ASSERT_NE(parts_.blocks.at(start + 5), no_index);
  EXPECT_EQ(in(5).reg(rsp), Value::cfa(-8));
  EXPECT_EQ(parts_.blocks.to_run().take(), 0u);
  arrivals_.jump(start + 5, at(-8), 0); // nothing new
  EXPECT_TRUE(parts_.blocks.to_run().empty());
  arrivals_.jump(start + 5, at(-16), 0);
  EXPECT_EQ(in(5).reg(rsp).base, Base::conflict);
  EXPECT_FALSE(parts_.blocks.to_run().empty());
}

/// The code after a call is reached otherwise with SP elsewhere: the call does not return. Where the call's
/// state came first, everything begins again.
TEST_F(CodeArrivals, ACallThatDoesNotReturn) {
  arrivals_.jump(start + 6, at(-8), 0);
  arrivals_.fall_from_call(start + 6, at(-16), 0);
  EXPECT_TRUE(parts_.decoded(0).does_not_return);
  EXPECT_EQ(in(6).reg(rsp), Value::cfa(-8));
  EXPECT_FALSE(arrivals_.must_restart());

  parts_.decoded(0).does_not_return = false;
  arrivals_.fall_from_call(start + 7, at(-16), 0);
  arrivals_.jump(start + 7, at(-8), 0);
  EXPECT_TRUE(parts_.decoded(0).does_not_return);
  EXPECT_TRUE(arrivals_.must_restart());
  arrivals_.forget_flow();
  EXPECT_FALSE(arrivals_.must_restart());
}

/// With rows, what is only guessed changes nothing that is certain.
TEST_F(CodeArrivals, GuessesChangeLittle) {
  const FrameRow rows[] = {amd64().entry_row()};
  parts_.subject.function.rows = rows;
  arrivals_.jump(start + 5, at(-8), 0);
  arrivals_.set_certainty(Certainty::guessed);
  arrivals_.jump(start + 5, at(-16), 0);
  EXPECT_EQ(in(5).reg(rsp), Value::cfa(-8));
  arrivals_.jump(start + 6, at(-16), 0);
  EXPECT_EQ(parts_.blocks[parts_.blocks.at(start + 6)].certainty, Certainty::guessed);
}

/// A call whose frame does not fit the pad's row is followed only if nothing else leads to the pad.
TEST_F(CodeArrivals, DoubtfulLandingPads) {
  const FrameRow rows[] = {{0, Rule::value(rsp, 8), Rule::fixed(), Rule::same(), false},
                           {6, Rule::value(rbx, 16), Rule::fixed(), Rule::same(), false}};
  parts_.subject.function.rows = rows;
  arrivals_.unwind(start + 6, at(-8), 0); // rbx is the caller's
  EXPECT_EQ(parts_.blocks.at(start + 6), no_index);
  EXPECT_EQ(arrivals_.num_doubtful_pads(), 1u);
  State fits = at(-32);
  fits.set_reg(rbx, Value::cfa(-16));
  arrivals_.unwind(start + 6, fits, 0);
  EXPECT_EQ(in(6).reg(rbx), Value::cfa(-16));
  arrivals_.drop_reached_pads();
  EXPECT_EQ(arrivals_.num_doubtful_pads(), 0u);
}

} // namespace code_parts_test
