// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis with control flow that cannot be followed reliably, with paths that disagree, and with wrong
// rows.

#include "code_listing.h"
#include "sframe/base/budget.h"
#include "sframe/bytes.h"

namespace code_amd64_flow_test {

using namespace sframe;
using namespace sframe::code;
using namespace sframe::test;
using namespace sframe::test::listing;
using sframe::test::listing::amd64, sframe::test::listing::start;

constexpr Line no_return[] = {
    {"48 83 ec 08", "sub $8,%rsp", "sp+8 same"},
    {"85 ff", "test %edi,%edi", "sp+16 same"},
    {"75 05", "jne 1f", "sp+16 same"},
    {"48 83 c4 08", "add $8,%rsp", "sp+16 same"},
    {"c3", "ret", "sp+8 same"},
    {"e8 ee ff 00 00", "call far", "sp+16 same"},
    {"0f 1f 00", "nopl (%rax)", ""},
    {"b8 01 00 00 00", "mov $1,%eax", "sp+8 same"},
    {"c3", "ret", "sp+8 same"},
};

/// Without rows and names nothing speaks against the call coming back.
TEST(CodeAmd64, KnownNames) {
  Listing listing(no_return);
  World world;
  listing.function().environment = &world;
  EXPECT_EQ(listing.certainty_at(7), Certainty::certain);
  EXPECT_EQ(listing.exit_at(8), Exit::returns_wrong);
  world.noreturn = far;
  EXPECT_EQ(listing.certainty_at(7), Certainty::unreached);
  const auto gaps = listing.run().gaps();
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].begin, listing.address(7)); // padding does not count
}

/// Code that follows a call has another height by a jump that is only guessed: the call may not return
/// either.
TEST(CodeAmd64, GuessedJumpToCodeAfterACall) {
  constexpr Line lines[] = {
      {"48 83 ec 18", "sub $24,%rsp", ""},
      {"85 ff", "test %edi,%edi", ""},
      {"74 0e", "je 1f", ""},
      {"e8 f3 ff 00 00", "call far", ""},
      {"85 c0", "test %eax,%eax", ""},
      {"78 0c", "js 2f", ""},
      {"48 83 c4 18", "add $24,%rsp", ""},
      {"c3", "ret", ""},
      {"50", "1: push %rax", ""},
      {"51", "push %rcx", ""},
      {"e8 e3 00 01 00", "call far + 0x100", ""},
      {"48 89 07", "2: mov %rax,(%rdi)", ""},
      {"0f 0b", "ud2", ""},
  };
  struct MayNotReturn : World {
    bool may_not_return(std::optional<std::uint64_t> target, std::uint64_t,
                        const code::StartSigns&) override {
      return target == far;
    }
  };
  Listing listing(lines);
  World world;
  listing.function().environment = &world;
  EXPECT_EQ(listing.certainty_at(11), Certainty::certain);
  MayNotReturn doubt;
  listing.function().environment = &doubt;
  EXPECT_EQ(listing.certainty_at(4), Certainty::guessed);
  EXPECT_EQ(listing.certainty_at(11), Certainty::guessed);
  EXPECT_EQ(listing.run().state_at(listing.address(11))->reg(7), Value::cfa(-32));
}

/// A table without a bound is read while it makes sense, and what it leads to is a guess.
TEST(CodeAmd64, UnboundedTable) {
  std::vector<Line> lines(std::begin(jump_table), std::end(jump_table));
  lines[1] = {"39 f7 90", "cmp %esi,%edi; nop", ""};
  Listing listing(lines);
  World world;
  world.words[table] = static_cast<std::uint32_t>(listing.address(8) - table);
  world.words[table + 4] = static_cast<std::uint32_t>(listing.address(8) + 2 - table); // amid an instruction
  world.words[table + 8] = static_cast<std::uint32_t>(listing.address(11) - table);
  listing.function().environment = &world;
  EXPECT_EQ(listing.certainty_at(8), Certainty::guessed);
  EXPECT_EQ(listing.certainty_at(11), Certainty::unreached);
}

/// The index is the logarithm of a size: there are no entries for the least ones, and what is there instead
/// leads anywhere.
TEST(CodeAmd64, TableWithoutFirstEntries) {
  std::vector<Line> lines(std::begin(jump_table), std::end(jump_table));
  lines[1] = {"39 f7 90", "cmp %esi,%edi; nop", ""};
  Listing listing(lines);
  const auto entry = [&](std::size_t line) {
    return static_cast<std::uint32_t>(listing.address(line) - table);
  };
  World world;
  world.words[table] = 0x2feb111a;
  world.words[table + 4] = entry(14) + 1; // a part of the function, by chance, but then another table
  world.words[table + 8] = entry(8) + 2;
  world.words[table + 12] = entry(8);
  world.words[table + 16] = entry(11);
  listing.function().environment = &world;
  EXPECT_EQ(listing.certainty_at(8), Certainty::guessed);
  EXPECT_EQ(listing.certainty_at(11), Certainty::guessed);
  for (const std::uint64_t missing : {8, 9}) {
    world.words.clear();
    world.words[table + 4 * missing] = entry(8);
    EXPECT_EQ(listing.certainty_at(8), missing == 8 ? Certainty::guessed : Certainty::unreached);
  }
}

/// The table is not at the address that is the base register's: lea adds the distance again.
TEST(CodeAmd64, TableAtDistance) {
  std::vector<Line> lines(std::begin(jump_table), std::end(jump_table));
  lines[2] = {"77 24", "ja 4f", "sp+16 same"};
  lines[5] = {"48 63 44 ba 10", "movslq 16(%rdx,%rdi,4),%rax", "sp+16 same"};
  lines[6] = {"48 8d 44 02 10", "lea 16(%rdx,%rax),%rax", "sp+16 same"};
  Listing listing(lines);
  World world;
  for (const std::uint64_t i : {0, 1, 2})
    world.words[table + 16 + 4 * i] =
        static_cast<std::uint32_t>(listing.address(i == 1 ? 8 : 11) - table - 16);
  listing.function().environment = &world;
  EXPECT_EQ(listing.certainty_at(8), Certainty::certain);
  EXPECT_EQ(listing.certainty_at(11), Certainty::certain);
  listing.expect_rows();
}

/// A guess that leads into a block leaves it as certain as it is.
TEST(CodeAmd64, GuessIntoBlock) {
  constexpr Line lines[] = {
      {"55", "push %rbp", "sp+8 same"},
      {"53", "push %rbx", "sp+16 [cfa-16]"},
      {"89 ff", "mov %edi,%edi", "sp+24 [cfa-16]"},
      {"48 8d 15 f5 ff 01 00", "lea table(%rip),%rdx", "sp+24 [cfa-16]"},
      {"48 63 04 ba", "movslq (%rdx,%rdi,4),%rax", "sp+24 [cfa-16]"},
      {"48 01 d0", "add %rdx,%rax", "sp+24 [cfa-16]"},
      {"3e ff e0", "notrack jmp *%rax", "sp+24 [cfa-16]"},
      {"5b", "pop %rbx", "sp+24 [cfa-16]"},
      {"5d", "pop %rbp", "sp+16 [cfa-16]"},
      {"c3", "ret", "sp+8 same"},
  };
  Listing listing(lines);
  World world;
  world.words[table] = static_cast<std::uint32_t>(listing.address(7) - table);
  world.words[table + 4] = static_cast<std::uint32_t>(listing.address(1) - table); // of another table
  listing.function().environment = &world;
  listing.expect_rows();
  EXPECT_EQ(listing.certainty_at(1), Certainty::certain);
  EXPECT_EQ(listing.certainty_at(6), Certainty::certain);
  EXPECT_EQ(listing.certainty_at(7), Certainty::guessed);
}

TEST(CodeAmd64, UnknownJump) {
  constexpr Line lines[] = {{"55", "push %rbp", ""}, {"ff e0", "jmp *%rax", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  EXPECT_EQ(listing.exit_at(1), Exit::indirect_unknown);
  EXPECT_TRUE(listing.has(Obstacle::Kind::indirect_jump));
}

/// Two registers that were found equal show nothing of what one of them holds afterwards.
TEST(CodeAmd64, ComparedWithWhatIsOverwritten) {
  constexpr Line lines[] = {
      {"4c 8d 5c 24 f8", "lea -8(%rsp),%r11", "sp+8 same"},
      {"4c 39 dc", "cmp %r11,%rsp", "sp+8 same"},
      {"4d 8d 5b f0", "lea -16(%r11),%r11", "sp+8 same"},
      {"75 01", "jne 1f", "sp+8 same"},
      {"90", "nop", "sp+8 same"},
      {"c3", "ret", "sp+8 same"},
  };
  Listing listing(lines);
  listing.expect_rows();
}

TEST(CodeAmd64, WrongReturn) {
  constexpr Line lines[] = {{"50", "push %rax", ""}, {"50", "push %rax", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  EXPECT_EQ(listing.exit_at(2), Exit::returns_wrong);
}

TEST(CodeAmd64, LostStackPointer) {
  constexpr Line lines[] = {{"48 8b 67 30", "mov 0x30(%rdi),%rsp", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  EXPECT_EQ(listing.exit_at(1), Exit::returns_unknown);
  EXPECT_TRUE(listing.has(Obstacle::Kind::sp_lost));
}

/// and $-32, %rsp; ret: where SP is now is not known.
TEST(CodeAmd64, ReturnFromAnAlignedStack) {
  constexpr Line lines[] = {{"48 83 e4 e0", "and $-32,%rsp", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  EXPECT_EQ(listing.exit_at(1), Exit::returns_unknown);
}

/// Paths that meet with different heights: a conflict, which remembers both.
TEST(CodeAmd64, Conflict) {
  constexpr Line lines[] = {{"85 ff", "test %edi,%edi", ""},
                            {"75 01", "jne 1f", ""},
                            {"50", "push %rax", ""},
                            {"c3", "1: ret", ""}};
  Listing listing(lines);
  const Results& results = listing.run();
  const State* state = results.state_at(listing.address(3));
  ASSERT_TRUE(state);
  const Value sp = state->reg(amd64().sp);
  ASSERT_EQ(sp.base, Value::Base::conflict);
  const Conflict& conflict = results.conflicts()[sp.id];
  EXPECT_EQ(conflict.address, listing.address(3));
  EXPECT_EQ(std::minmax(conflict.first.offset, conflict.second.offset), std::minmax(-16, -8));
  EXPECT_TRUE(conflict.in_register);
  EXPECT_EQ(conflict.reg, amd64().sp);
  EXPECT_EQ(check(row(0, 8), *state, amd64()).cfa.agreement, Agreement::conflicts);
  EXPECT_EQ(check(row(0, 8), *state, amd64()).ra.agreement, Agreement::agrees);
}

/// The same for a word on the stack: one path has saved RBX there.
TEST(CodeAmd64, ConflictInMemory) {
  constexpr Line lines[] = {{"50", "push %rax", ""},   {"85 ff", "test %edi,%edi", ""},
                            {"75 04", "jne 1f", ""},   {"48 89 1c 24", "mov %rbx,(%rsp)", ""},
                            {"5b", "1: pop %rbx", ""}, {"c3", "ret", ""}};
  constexpr std::uint16_t rbx = 3;
  Listing listing(lines);
  const Results& results = listing.run();
  const State* state = results.state_at(listing.address(5));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reg(amd64().sp), Value::cfa(-8));
  const Value popped = state->reg(rbx);
  ASSERT_EQ(popped.base, Value::Base::conflict);
  const Conflict& conflict = results.conflicts()[popped.id];
  EXPECT_EQ(conflict.address, listing.address(4));
  EXPECT_FALSE(conflict.in_register);
  EXPECT_EQ(conflict.location, Value::cfa(-16));
  EXPECT_TRUE(conflict.first == Value::entry(rbx) || conflict.second == Value::entry(rbx));
}

/// A cold part: it starts with what the hot part has done.
TEST(CodeAmd64, ColdPart) {
  constexpr Line lines[] = {{"e8 f4 ff 00 00", "call far", ""}, {"5d", "pop %rbp", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  listing.function().entry = {0, Rule::value(amd64().sp, 16), Rule::fixed(), Rule::at_cfa(-16), false};
  EXPECT_EQ(listing.exit_at(2), Exit::returns);
  const auto last = listing.run().row_at(listing.address(2));
  ASSERT_TRUE(last);
  EXPECT_TRUE(last->same_rules(amd64().entry_row()));
}

/// The same where the first row counts from FP: SP is not known then.
TEST(CodeAmd64, ColdPartWithFramePointer) {
  constexpr Line lines[] = {{"e8 f4 ff 00 00", "call far", ""}, {"c9", "leave", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  listing.function().entry = {0, Rule::value(amd64().fp, 16), Rule::fixed(), Rule::at_cfa(-16), false};
  EXPECT_EQ(listing.exit_at(2), Exit::returns);
}

/// Each kind of wrong row is distinguished from a right one.
TEST(CodeAmd64, WrongRows) {
  Listing listing(frame_pointer);
  const State* state = listing.run().state_at(listing.address(4));
  ASSERT_TRUE(state);
  const AbiTraits& abi = amd64();
  const FrameRow right{0, Rule::value(abi.fp, 16), Rule::fixed(), Rule::at_cfa(-16), false};
  EXPECT_EQ(check(right, *state, abi).worst(), Agreement::agrees);
  const auto with = [&](auto change) {
    FrameRow wrong = right;
    change(wrong);
    return check(wrong, *state, abi);
  };
  using enum Agreement;
  EXPECT_EQ(with([](FrameRow& r) { r.cfa.offset = 24; }).cfa.agreement, contradicts);
  EXPECT_EQ(with([&](FrameRow& r) { r.cfa.base = abi.sp; }).cfa.agreement, contradicts);
  EXPECT_EQ(with([](FrameRow& r) { r.cfa.base = 3; }).cfa.agreement, contradicts);
  EXPECT_EQ(with([](FrameRow& r) { r.ra = Rule::at_cfa(-16); }).ra.agreement, contradicts);
  EXPECT_EQ(with([](FrameRow& r) { r.fp = Rule::at_cfa(-24); }).fp.agreement, contradicts);
  EXPECT_EQ(with([](FrameRow& r) { r.fp = Rule::same(); }).fp.agreement, contradicts);
}

/// One Analyzer for one function after the other.
TEST(CodeAmd64, Reuse) {
  Analyzer analyzer(amd64());
  const auto frame = test::hex("55 48 89 e5 5d c3"), leaf = test::hex("c3");
  for (int i = 0; i < 3; ++i) {
    const Results& first = analyzer.run({.start = start, .bytes = frame, .entry = amd64().entry_row()});
    EXPECT_EQ(first.num_instructions(), 4u);
    EXPECT_EQ(first.row_at(start + 4)->cfa, Rule::value(amd64().sp, 16));
    EXPECT_EQ(first.row_at(start + 3)->cfa, Rule::value(amd64().sp, 16)); // amid an instruction
    const Results& second = analyzer.run({.start = start, .bytes = leaf, .entry = amd64().entry_row()});
    EXPECT_EQ(second.num_instructions(), 1u);
    EXPECT_FALSE(second.state_at(start + 4));
  }
  EXPECT_EQ(analyzer.run({.start = start, .bytes = {}, .entry = amd64().entry_row()}).num_instructions(), 0u);
}

/// A budget pays for every run, and what it does not suffice for is not analysed.
TEST(CodeAmd64, Budget) {
  Budget budget(Limits::standard, 0);
  Analyzer analyzer(amd64());
  const std::vector<std::byte> code(100'000, std::byte(0x90));
  const Function function{.start = start, .bytes = code, .entry = amd64().entry_row(), .budget = &budget};
  EXPECT_EQ(analyzer.run(function).num_instructions(), code.size());
  EXPECT_FALSE(budget.is_used_up());
  for (int i = 0; i < 50; ++i) (void)analyzer.run(function);
  EXPECT_TRUE(budget.is_used_up(Resource::code_steps));
  const Results& results = analyzer.run(function);
  EXPECT_EQ(results.num_instructions(), 0u);
  ASSERT_EQ(results.obstacles().size(), 1u);
  EXPECT_EQ(results.obstacles()[0].kind, Obstacle::Kind::limit);
}

/// A visit costs a step for each instruction, a join of states that differ more than an instruction does.
TEST(CodeAmd64, CostOfVisitsAndJoins) {
  constexpr std::uint64_t on_credit = 256; // what a run need not pay at once
  Budget budget(Limits::standard, std::uint64_t{1} << 24);
  Analyzer analyzer(amd64());
  const auto cost = [&](auto action) {
    const std::uint64_t before = budget.left(Resource::code_steps);
    action();
    return before - budget.left(Resource::code_steps);
  };
  std::vector<std::byte> nops(100'000, std::byte(0x90));
  const Results& results =
      analyzer.run({.start = start, .bytes = nops, .entry = amd64().entry_row(), .budget = &budget});
  const std::uint64_t visit = cost([&] { results.visit([](const Reached&) {}); });
  EXPECT_GE(visit, nops.size() - on_credit);
  EXPECT_LE(visit, nops.size() + 2 * on_credit);

  // mov $N, %eax; jne to the return at the end, again and again
  constexpr std::uint32_t joins = 1000, size = 11;
  const auto code = [&](bool differ) {
    std::vector<std::byte> bytes(joins * size + 1);
    for (std::uint32_t i = 0; i < joins; ++i) {
      std::byte* const at = bytes.data() + i * size;
      at[0] = std::byte{0xb8};
      sframe::store(at + 1, differ ? i : 0, ByteOrder::little);
      at[5] = std::byte{0x0f}, at[6] = std::byte{0x85};
      sframe::store(at + 7, (joins - 1 - i) * size, ByteOrder::little);
    }
    bytes.back() = std::byte{0xc3};
    return bytes;
  };
  const auto run = [&](const std::vector<std::byte>& bytes) {
    return cost([&] {
      const Results& ran =
          analyzer.run({.start = start, .bytes = bytes, .entry = amd64().entry_row(), .budget = &budget});
      EXPECT_TRUE(ran.state_at(start + bytes.size() - 1));
    });
  };
  const std::uint64_t same = run(code(false)), different = run(code(true));
  EXPECT_GE(different, same + 4 * joins - on_credit);
}

/// mov $N, %eax; syscall; ret. exit, exit_group and rt_sigreturn do not come back; after clone and clone3
/// nothing is certain, since they come back on another stack, too, unless rows show that this does not
/// matter.
TEST(CodeAmd64, SystemCalls) {
  const auto after = [](const char* mov, std::span<const FrameRow> rows) {
    const Line lines[] = {{mov, "mov $N,%eax", ""}, {"0f 05", "syscall", ""}, {"c3", "ret", ""}};
    Listing listing(lines);
    listing.function().rows = rows;
    return std::pair(listing.exit_at(1), listing.certainty_at(2));
  };
  const auto returns = std::pair(Exit::none, Certainty::certain);
  const FrameRow rows[] = {row(0, 8)};
  for (const char* last : {"b8 3c 00 00 00", "b8 e7 00 00 00", "b8 0f 00 00 00"}) {
    EXPECT_EQ(after(last, {}), std::pair(Exit::stops, Certainty::unreached));
    EXPECT_EQ(after(last, rows).first, Exit::stops);
    EXPECT_NE(after(last, rows).second, Certainty::certain);
  }
  for (const char* thread : {"b8 38 00 00 00", "b8 b3 01 00 00"}) {
    EXPECT_EQ(after(thread, {}), std::pair(Exit::none, Certainty::guessed));
    EXPECT_EQ(after(thread, rows), returns);
  }
  EXPECT_EQ(after("b8 3b 00 00 00", {}), returns);
  EXPECT_EQ(after("89 f8 90 90 90", {}), returns); // mov %edi, %eax: not known
}

/// A call of an instruction that control does not leave does not return. hlt goes on after an interrupt.
TEST(CodeAmd64, CallOfATrap) {
  constexpr Line lines[] = {{"e8 fb ff 00 00", "call far", ""}, {"c3", "ret", ""}};
  struct Callees : World {
    std::vector<std::byte> bytes;
    std::span<const std::byte> code(std::uint64_t address, std::uint64_t) override {
      return address == far ? std::span<const std::byte>(bytes) : std::span<const std::byte>();
    }
  };
  Listing listing(lines);
  Callees callees;
  listing.function().environment = &callees;
  EXPECT_EQ(listing.certainty_at(1), Certainty::certain);
  callees.bytes = hex("0f 0b");
  EXPECT_EQ(listing.certainty_at(1), Certainty::unreached);
  callees.bytes = hex("f4 c3");
  EXPECT_EQ(listing.certainty_at(1), Certainty::certain);
}

/// Code that no row describes jumps into a block that has run, before and after it in the file: all of the
/// block is still reached, and only the code without a row is not.
TEST(CodeAmd64, JumpIntoABlockFromCodeWithoutARow) {
  constexpr Line before[] = {
      {"eb 02", "jmp 1f", ""},
      {"eb 04", "jmp 2f", ""},
      {"85 ff", "1: test %edi,%edi", ""},
      {"85 f6", "test %esi,%esi", ""},
      {"85 d2", "2: test %edx,%edx", ""},
      {"c3", "ret", ""},
  };
  constexpr Line after[] = {
      {"85 ff", "test %edi,%edi", ""},
      {"85 f6", "1: test %esi,%esi", ""},
      {"c3", "ret", ""},
      {"eb fb", "jmp 1b", ""},
      {"90", "nop", ""},
  };
  const auto expect = [](std::span<const Line> lines, const FrameRow& only, std::size_t first,
                         std::size_t last) {
    Listing listing(lines);
    listing.function().rows = std::span(&only, 1);
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(listing.certainty_at(i), i < first || i > last ? Certainty::certain : Certainty::unreached)
          << lines[i].assembly;
    const auto gaps = listing.run().gaps();
    ASSERT_EQ(gaps.size(), 1u);
    EXPECT_EQ(gaps[0].begin, listing.address(first));
    EXPECT_EQ(gaps[0].end, last + 1 < lines.size() ? listing.address(last + 1) : listing.address(last) + 1);
  };
  expect(before, row(4, 8), 1, 1);
  expect(after, row(7, 8), 3, 4); // with the padding at the end
}

/// What is guessed counts where its path meets a certain one: after alloca, a call returns perhaps.
TEST(CodeAmd64, GuessedPathMeetsACertainOne) {
  constexpr Line lines[] = {
      {"53", "push %rbx", ""},
      {"48 89 e3", "mov %rsp,%rbx", ""},
      {"85 ff", "test %edi,%edi", ""},
      {"74 08", "je 1f", ""},
      {"48 29 c4", "sub %rax,%rsp", ""},
      {"e8 f0 ff 00 00", "call far", ""},
      {"ff d6", "1: call *%rsi", ""},
      {"48 89 dc", "mov %rbx,%rsp", ""},
      {"5b", "pop %rbx", ""},
      {"c3", "ret", ""},
  };
  struct MayNotReturn : World {
    bool may_not_return(std::optional<std::uint64_t> target, std::uint64_t,
                        const code::StartSigns&) override {
      return target == far;
    }
  };
  Listing listing(lines);
  MayNotReturn doubt;
  listing.function().environment = &doubt;
  EXPECT_EQ(listing.certainty_at(6), Certainty::certain);
  const Results& results = listing.run();
  EXPECT_FALSE(results.state_at(listing.address(6))->reg(7).base == Value::Base::cfa); // %rsp
  EXPECT_EQ(results.state_at(listing.address(6))->reg(3), Value::cfa(-16));            // %rbx
}

/// A number that only one of two paths sets is not known after them, whichever is seen first.
TEST(CodeAmd64, JoinsNumbers) {
  constexpr Line lines[] = {
      {"b8 3c 00 00 00", "mov $60,%eax", ""}, {"85 ff", "test %edi,%edi", ""}, {"75 05", "jne 1f", ""},
      {"b8 27 00 00 00", "mov $39,%eax", ""}, {"0f 05", "1: syscall", ""},     {"c3", "ret", ""}};
  Listing first(lines);
  EXPECT_EQ(first.exit_at(4), Exit::none);
  EXPECT_EQ(first.certainty_at(5), Certainty::certain);
  std::vector<Line> swapped(std::begin(lines), std::end(lines));
  std::swap(swapped[0], swapped[3]);
  Listing second(swapped);
  EXPECT_EQ(second.exit_at(4), Exit::none);
  EXPECT_EQ(second.certainty_at(5), Certainty::certain);
}

TEST(CodeAmd64, Masks) {
  constexpr Line lines[] = {{"b8 47 00 00 00", "mov $71,%eax", ""},
                            {"83 e0 3c", "and $60,%eax", ""},
                            {"83 e7 1f", "and $31,%edi", ""},
                            {"83 e6 07", "and $7,%esi", ""},
                            {"83 e6 14", "and $20,%esi", ""}, // at most 7 still
                            {"c3", "ret", ""}};
  Listing listing(lines);
  const State* state = listing.run().state_at(listing.address(5));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reg(0), (Value{Value::Base::constant, false, 0, 71 & 60}));
  EXPECT_EQ(state->reg(5).base, Value::Base::bounded);
  EXPECT_EQ(state->reg(5).offset, 31);
  EXPECT_EQ(state->reg(4).base, Value::Base::bounded);
  EXPECT_EQ(state->reg(4).offset, 7);
}

/// Nothing after the last instruction of a run is decoded.
TEST(CodeAmd64, DecodesWhatIsReached) {
  for (const char* last : {"c3", "0f 0b", "eb fe", "ff e0"}) { // ret, ud2, jmp ., jmp *%rax
    const Line lines[] = {{"55", "push %rbp", ""}, {last, "", ""}, {"90", "nop", ""}, {"c3", "ret", ""}};
    Listing listing(lines);
    EXPECT_EQ(listing.run().num_instructions(), 2u) << last;
  }
}

/// The compare allows entries that cannot be read: nothing is known of the table.
TEST(CodeAmd64, UnreadableTable) {
  Listing listing(jump_table);
  World world;
  for (std::uint32_t i = 0; i < 2; ++i)
    world.words[table + 4 * i] = static_cast<std::uint32_t>(listing.address(8) - table);
  listing.function().environment = &world;
  EXPECT_EQ(listing.exit_at(7), Exit::indirect_unknown);
  EXPECT_EQ(listing.certainty_at(8), Certainty::unreached);
  EXPECT_TRUE(listing.has(Obstacle::Kind::indirect_jump));
}

/// A landing pad at the very start of a cold part has a nop before it, whose row is none of the pad's.
TEST(CodeAmd64, ColdPartThatStartsWithPad) {
  constexpr Line lines[] = {{"90", "nop", ""}, {"58", "pop %rax", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  const FrameRow rows[] = {row(0, 8), row(1, 16), row(2, 8)};
  listing.function().rows = rows;
  EXPECT_EQ(listing.certainty_at(0), Certainty::unreached);
  EXPECT_EQ(listing.certainty_at(1), Certainty::assumed);
  EXPECT_EQ(listing.exit_at(2), Exit::returns);
  // Where the rows do not change, it is the entry.
  const FrameRow plain[] = {row(0, 8), row(2, 16)};
  listing.function().rows = plain;
  EXPECT_EQ(listing.certainty_at(0), Certainty::certain);
  EXPECT_EQ(listing.certainty_at(1), Certainty::certain);
}

/// The row of an address amid an instruction is the instruction's, with its offset.
TEST(CodeAmd64, RowsOfAddresses) {
  Listing listing(frame_pointer);
  const Results& results = listing.run();
  for (std::uint64_t at = listing.address(3); at < listing.address(4); ++at) {
    const auto row = results.row_at(at);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->offset, listing.address(3) - start);
  }
  EXPECT_FALSE(results.row_at(start - 1));
  EXPECT_FALSE(results.row_at(listing.address(6) + 1));
  EXPECT_FALSE(results.state_at(listing.address(3) + 1));
}

/// push, ret: a jump to what was pushed.
TEST(CodeAmd64, PushedTarget) {
  constexpr Line lines[] = {{"50", "push %rax", ""}, {"c3", "ret", ""}};
  Listing listing(lines);
  EXPECT_EQ(listing.exit_at(1), Exit::indirect_tail_call);
  constexpr Line twice[] = {
      {"50", "push %rax", ""}, {"50", "push %rax", ""}, {"58", "pop %rax", ""}, {"c3", "ret", ""}};
  Listing other(twice);
  EXPECT_EQ(other.exit_at(3), Exit::returns_wrong); // what it stored last is elsewhere
}

TEST(CodeAmd64, RunsOff) {
  constexpr Line lines[] = {{"55", "push %rbp", ""}, {"5d", "pop %rbp", ""}};
  Listing listing(lines);
  EXPECT_TRUE(listing.has(Obstacle::Kind::runs_off));
  constexpr Line call[] = {{"55", "push %rbp", ""}, {"e8 f4 ff 00 00", "call far", ""}, {"90", "nop", ""}};
  Listing ends_with_call(call);
  EXPECT_FALSE(ends_with_call.has(Obstacle::Kind::runs_off));
  constexpr Line cut[] = {{"55", "push %rbp", ""}, {"e8 f4 ff", "call, cut", ""}};
  Listing is_cut(cut);
  EXPECT_TRUE(is_cut.has(Obstacle::Kind::undecodable));
}

/// The word that pushf leaves is no register's, and popf writes none: as kernels save and restore the flags.
TEST(CodeAmd64, Flags) {
  constexpr Line save[] = {
      {"9c", "pushfq", "sp+8 same"}, {"58", "pop %rax", "sp+16 same"}, {"c3", "ret", "sp+8 same"}};
  Listing saves(save);
  saves.expect_rows();
  EXPECT_EQ(saves.run().state_at(saves.address(2))->reg(0), Value::other());
  constexpr Line restore[] = {
      {"57", "push %rdi", "sp+8 same"}, {"9d", "popfq", "sp+16 same"}, {"c3", "ret", "sp+8 same"}};
  Listing restores(restore);
  restores.expect_rows();
  EXPECT_EQ(restores.exit_at(2), Exit::returns);
}

/// A word that each round writes anew differs from that of the first round; rounds after the second show
/// nothing new.
TEST(CodeAmd64, LoopThatOverwritesASavedRegister) {
  constexpr Line lines[] = {
      {"53", "push %rbx", "sp+8 same"},        {"48 89 2c 24", "1: mov %rbp,(%rsp)", "sp+16 same"},
      {"ff cf", "dec %edi", "sp+16 [cfa-16]"}, {"75 f8", "jne 1b", "sp+16 [cfa-16]"},
      {"58", "pop %rax", "sp+16 [cfa-16]"},    {"c3", "ret", "sp+8 same"}};
  Listing listing(lines);
  listing.expect_rows();
  EXPECT_FALSE(listing.has(Obstacle::Kind::limit));
}

} // namespace code_amd64_flow_test
