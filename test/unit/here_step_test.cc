// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of lib/here by each kind of rule, on a stack that is an array; the caches that keep rules; and
// which memory can be read. Private headers: no public one shows a single step.

#include "cache.h"
#include "cfi_assembler.h"
#include "full_cache.h"
#include "host.h"
#include "rule.h"
#include "stack_memory.h"
#include "step.h"
#include "workspace.h"

#include "sframe/cfi/expression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <pthread.h>
#include <random>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace here_step_test {

using namespace sframe;
using namespace sframe::here;
using Kind = Operation::Kind;
using unwind::StopReason;

const AbiTraits& abi() {
  return traits(host::abi);
}

std::uint64_t address_of(const void* place) {
  return reinterpret_cast<std::uint64_t>(place);
}

/// A frame with SP at the start of eight words, and the rules for it.
class HereStep : public testing::Test {
protected:
  static constexpr std::uint16_t saved =
      12; ///< a general register, of no particular role; call-saved on AMD64

  HereStep() {
    frame.registers.pc = 0x1234;
    frame.registers.set(abi().sp, address_of(words.data()));
    frame.registers.set(abi().fp, 0x77);
  }
  Operation sum(std::uint16_t base, std::int32_t offset, std::uint8_t reg = 0) {
    return {Kind::value, reg, base, offset};
  }
  Operation word(std::int32_t cfa_offset, std::uint8_t reg = 0) {
    return {Kind::stored, reg, Operation::cfa_base, cfa_offset};
  }
  Operation expression(Kind kind, std::vector<std::byte> bytes, std::uint8_t reg = 0) {
    const Operation result{kind, reg, static_cast<std::uint16_t>(bytes.size()),
                           static_cast<std::int32_t>(section.size())};
    section.insert(section.end(), bytes.begin(), bytes.end());
    return result;
  }
  StopReason step(std::vector<Operation> operations, std::uint8_t flags = 0) {
    StackMemory memory(address_of(words.data()));
    return here::step(frame, {operations, flags, section}, memory);
  }
  /// CFA 32 bytes above, return address in the word below the CFA.
  std::vector<Operation> usual(std::vector<Operation> more = {}) {
    std::vector<Operation> all = {sum(abi().sp, 32), word(-8)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::uint64_t caller_sp(std::int64_t cfa) {
    return address_of(words.data()) + static_cast<std::uint64_t>(cfa + abi().sp_from_cfa);
  }

  alignas(16) std::array<std::uint64_t, 64> words{0x10, 0x11, 0x12, 0x4000, 0x14, 0x15, 0x16, 0x17};
  std::vector<std::byte> section; ///< the expressions
  WalkFrame frame;
};

TEST_F(HereStep, SavedWords) {
  std::vector<Operation> operations = usual({word(-16, static_cast<std::uint8_t>(abi().fp))});
  operations[0] = sum(abi().sp, 32 - abi().sp_from_cfa); // so that the caller's SP is above
  operations[1] = word(-8 + abi().sp_from_cfa);
  operations[2].offset += abi().sp_from_cfa;
  ASSERT_EQ(step(operations), StopReason::none);
  EXPECT_EQ(frame.registers.pc, 0x4000u);
  EXPECT_EQ(frame.registers.get(abi().fp), 0x12u);
  EXPECT_EQ(frame.registers.get(abi().sp), address_of(&words[4]));
  EXPECT_FALSE(frame.pc_exact);
  EXPECT_EQ(frame.lookup_pc(), 0x3fffu);
}

#if defined(__x86_64__)
TEST_F(HereStep, RegistersThatAreNotMentioned) {
  frame.registers.set(saved, 0x99); // r12: calls keep it
  frame.registers.set(0, 0x98);     // rax: they do not
  const WalkFrame before = frame;
  ASSERT_EQ(step(usual()), StopReason::none);
  EXPECT_EQ(frame.registers.get(saved), 0x99u);
  EXPECT_EQ(frame.registers.get(abi().fp), 0x77u);
  EXPECT_FALSE(frame.registers.has(0));
  frame = before;
  ASSERT_EQ(step(usual(), FrameRule::other_registers_lost), StopReason::none);
  EXPECT_FALSE(frame.registers.has(saved));
  EXPECT_FALSE(frame.registers.has(abi().fp));
  EXPECT_EQ(frame.registers.get(abi().sp), address_of(&words[4]));
}

/// What cannot be recovered is unknown; only CFA and return address are needed.
TEST_F(HereStep, RegistersThatCannotBeRecovered) {
  frame.registers.set(saved, 0x99);
  ASSERT_EQ(step(usual({{Kind::stored, saved, 3, 0}, {Kind::undefined, 6, 0, 0}})), StopReason::none);
  EXPECT_FALSE(frame.registers.has(saved)); // rbx is not known
  EXPECT_FALSE(frame.registers.has(6));
}

TEST_F(HereStep, Faults) {
  const WalkFrame before = frame;
  const auto end = [&](std::vector<Operation> operations, std::uint8_t flags = 0) {
    frame = before;
    return step(std::move(operations), flags);
  };
  EXPECT_EQ(end({sum(3, 32), word(-8)}), StopReason::unknown_register); // rbx
  EXPECT_EQ(end({sum(abi().sp, 32), {Kind::undefined, 0, 0, 0}}), StopReason::bottom);
  EXPECT_EQ(end({{Kind::undefined, 0, 0, 0}, word(-8)}), StopReason::unknown_register);
  EXPECT_EQ(end({sum(abi().sp, 32), {Kind::stored, 0, abi().fp, 0}}), StopReason::unreadable_memory);
  words[3] = 0;
  EXPECT_EQ(end(usual()), StopReason::zero_pc);
  words[3] = 0x4000;
  // The caller's SP is higher; it may be the same for the innermost frame, and lower after a signal.
  EXPECT_EQ(end({sum(abi().sp, 0), word(24)}), StopReason::none);
  EXPECT_EQ(end({sum(abi().sp, -8), word(32)}), StopReason::cfa_not_growing);
  EXPECT_EQ(end({sum(abi().sp, -8), word(32)}, FrameRule::signal_frame), StopReason::none);
  EXPECT_TRUE(frame.pc_exact);
  frame = before;
  frame.pc_exact = false;
  EXPECT_EQ(step({sum(abi().sp, 0), word(24)}), StopReason::cfa_not_growing);
  // SP itself may be a register that was saved.
  EXPECT_EQ(end(usual({sum(Operation::cfa_base, 8, 7)})), StopReason::none);
  EXPECT_EQ(frame.registers.get(7), address_of(&words[5]));
  EXPECT_EQ(end(usual({{Kind::undefined, 7, 0, 0}})), StopReason::unknown_register);
}

/// DWARF 5, 2.5 and 6.4.2: the CFA is on the stack of an expression for a register, not of that for the CFA.
TEST_F(HereStep, Expressions) {
  constexpr auto op = [](int byte) { return std::byte(byte); };
  const auto breg_sp = [&](int offset) { return std::vector{op(0x77), op(offset)}; }; // DW_OP_breg7
  const WalkFrame before = frame;
  ASSERT_EQ(step({expression(Kind::val_expression, breg_sp(32)), word(-8)}), StopReason::none);
  EXPECT_EQ(frame.registers.get(7), address_of(&words[4]));
  frame = before;
  words[1] = address_of(&words[4]);
  ASSERT_EQ(step({expression(Kind::expression, breg_sp(8)), word(-8)}), StopReason::none);
  EXPECT_EQ(frame.registers.get(7), address_of(&words[4]));
  // RBP: the word 16 below the CFA (DW_OP_lit16, DW_OP_minus); R12: the CFA itself, plus 1
  // (DW_OP_plus_uconst)
  frame = before;
  ASSERT_EQ(step(usual({expression(Kind::expression, {op(0x40), op(0x1c)}, 6),
                        expression(Kind::val_expression, {op(0x23), op(1)}, saved)})),
            StopReason::none);
  EXPECT_EQ(frame.registers.get(6), 0x12u);
  EXPECT_EQ(frame.registers.get(saved), address_of(&words[4]) + 1);
  // The return address's column is the pc (DW_OP_breg16).
  frame = before;
  ASSERT_EQ(step({sum(7, 32), expression(Kind::val_expression, {op(0x80), op(1)})}), StopReason::none);
  EXPECT_EQ(frame.registers.pc, 0x1235u);
  // DW_OP_deref_size 2 of the word at SP + 8
  frame = before;
  words[1] = 0xabcd1234;
  ASSERT_EQ(step(usual({expression(Kind::val_expression, {op(0x77), op(8), op(0x94), op(2)}, saved)})),
            StopReason::none);
  EXPECT_EQ(frame.registers.get(saved), 0x1234u);
  // Faults: a register that is not known, memory that is not there, no such operation.
  const auto end = [&](std::vector<std::byte> bytes) {
    frame = before;
    return step({sum(7, 32), expression(Kind::val_expression, std::move(bytes))});
  };
  EXPECT_EQ(end({op(0x73), op(0)}), StopReason::unknown_register);
  EXPECT_EQ(end({op(0x30), op(0x06)}), StopReason::unreadable_memory); // DW_OP_lit0, DW_OP_deref
  EXPECT_EQ(end({op(0xff)}), StopReason::bad_table);
  EXPECT_EQ(end({op(0x22)}), StopReason::bad_table); // DW_OP_plus of one value
}

TEST(HerePlainRules, ArePacked) {
  for (const bool by_fp : {false, true})
    for (const std::int64_t size : {8, 16, 0x1000, 0xffff8})
      for (const std::int64_t fp : {0, -8, -16, -504}) {
        const PlainRule rule{by_fp, fp != 0, size, -8, fp};
        ASSERT_TRUE(host::can_pack(rule));
        EXPECT_EQ(host::unpack(host::pack(rule)), rule);
      }
  for (const PlainRule& rule : {PlainRule{false, false, 8, -16, 0}, PlainRule{false, false, 12, -8, 0},
                                PlainRule{false, false, -8, -8, 0}, PlainRule{false, false, 1 << 20, -8, 0},
                                PlainRule{false, true, 8, -8, -512}, PlainRule{false, true, 8, -8, 8},
                                PlainRule{false, true, 8, -8, -12}})
    EXPECT_FALSE(host::can_pack(rule)) << rule.cfa_offset << " " << rule.ra_offset << " " << rule.fp_offset;
}
#endif

/// An entry is found for its own address only, as it was put, with any number of operations.
TEST(HereFullCache, FindsWhatWasPut) {
  const FullRuleCache cache;
  ASSERT_TRUE(cache.complete());
  const std::vector<std::byte> section(3);
  Operations operations, found;
  for (std::size_t i = 0; i < operations.size(); ++i)
    operations[i] = {Kind::stored, static_cast<std::uint8_t>(i), Operation::cfa_base,
                     static_cast<std::int32_t>(i) - 8};
  constexpr std::uint64_t unit = 1 << host::instruction_shift, addresses = 5000;
  EXPECT_FALSE(cache.find(0x1000, section, found));
  std::size_t kept = 0;
  for (std::uint64_t i = 1; i <= addresses; ++i) {
    const std::size_t count = 2 + i % (operations.size() - 1);
    cache.put(i * unit, {std::span(operations).first(count), static_cast<std::uint8_t>(i), section});
    const auto rule = cache.find(i * unit, section, found);
    ASSERT_TRUE(rule);
    ASSERT_TRUE(std::ranges::equal(rule->operations, std::span(operations).first(count)));
    EXPECT_EQ(rule->flags, static_cast<std::uint8_t>(i));
    EXPECT_EQ(rule->section.data(), section.data());
  }
  for (std::uint64_t i = 1; i <= addresses; ++i)
    if (const auto rule = cache.find(i * unit, section, found)) {
      ++kept;
      EXPECT_EQ(rule->operations.size(), 2 + i % (operations.size() - 1));
    }
  EXPECT_GT(kept, 100u);
  EXPECT_LT(kept, addresses);
}

/// Threads that put other rules for the same addresses: a rule that is found is one of them, whole.
TEST(HereFullCache, RulesAreWhole) {
  const FullRuleCache cache;
  ASSERT_TRUE(cache.complete());
  std::vector<std::thread> threads;
  std::atomic<int> torn = 0;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      Operations mine, found;
      mine.fill({Kind::value, 1, 7, thread});
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t address = (1 + i % 3) << host::instruction_shift;
        cache.put(address, {std::span(mine).first(2 + static_cast<std::size_t>(thread) * 4), 0, {}});
        const auto rule = cache.find(address, {}, found);
        if (!rule) continue;
        const std::int32_t other = rule->operations[0].offset;
        torn +=
            rule->operations.size() != 2 + static_cast<std::size_t>(other) * 4 ||
            !std::ranges::all_of(rule->operations, [&](const Operation& op) { return op.offset == other; });
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
}

/// Addresses of one place: page numbers that differ, and offsets that make up for it.
std::array<std::uint64_t, 3> of_one_place() {
  const std::uint64_t unit = std::uint64_t{1} << host::instruction_shift;
  std::array<std::uint64_t, 3> found = {};
  std::size_t count = 0;
  for (std::uint64_t at = 0x401000; count < found.size(); at += 0x1357 * unit)
    if (AtomicRuleCache::place_of(at) == AtomicRuleCache::place_of(0x401000)) found[count++] = at;
  return found;
}

TEST(HereCache, TwoAddressesOfAPlace) {
  const auto cache = std::make_unique<AtomicRuleCache>();
  const auto [a, b, c] = of_one_place();
  const AtomicRuleCache::Place place = AtomicRuleCache::place_of(a);
  const auto rule = [](std::uint32_t packed) {
    return CachedRule::make(CachedRule::Kind::plain, false, packed);
  };
  CachedRule found;
  EXPECT_FALSE(cache->find(place, a, found));
  cache->put(a, rule(1));
  cache->put(b, rule(2));
  cache->put(b, rule(2)); // as two threads do that need it at the same time
  ASSERT_TRUE(cache->find(place, a, found));
  EXPECT_EQ(found.packed(), 1u);
  EXPECT_TRUE(found.permanent_and_plain());
  ASSERT_TRUE(cache->find(place, b, found));
  EXPECT_EQ(found.packed(), 2u);
  cache->put(c, rule(3)); // instead of the older one
  EXPECT_FALSE(cache->find(place, a, found));
  EXPECT_TRUE(cache->find(place, b, found));
  ASSERT_TRUE(cache->find(place, c, found));
  EXPECT_EQ(found.packed(), 3u);
}

TEST(HereCache, ThePlaceAfterAnother) {
  const auto cache = std::make_unique<AtomicRuleCache>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t from = random() >> 17, to = i % 3 ? from + 4 * (i % 7) : random() >> 17;
    EXPECT_EQ(cache->place_after(AtomicRuleCache::place_of(from), to), AtomicRuleCache::place_of(to));
  }
}

/// More at a time than there are in advance: each has memory of its own.
TEST(HereWorkspace, MoreThanThereAre) {
  std::array<std::optional<Workspace>, 40> all;
  std::set<const Scratch*> places;
  for (auto& one : all) {
    one.emplace();
    ASSERT_TRUE(one->get());
    one->get()->row.begin = 1;
    places.insert(one->get());
  }
  EXPECT_EQ(places.size(), all.size());
  for (auto& one : all) one.reset();
  EXPECT_TRUE(places.contains(Workspace().get()));
}

/// Pages with and without access: what is read must be readable as a whole, and errno stays.
TEST(HereMemory, ReadsOnlyWhatIsThere) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  void* const area = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  const std::uint64_t start = address_of(area);
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(start), page, PROT_NONE), 0);
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(start + 3 * page), page, PROT_NONE), 0);
  *reinterpret_cast<std::uint64_t*>(start + 2 * page) = 0x1122334455667788;
  StackMemory memory(start + page);
  std::uint64_t word = 0;
  errno = 77;
  EXPECT_FALSE(memory.load(start + page - 4, word));
  EXPECT_FALSE(memory.load(start, word));
  EXPECT_TRUE(memory.load(start + 2 * page, word));
  EXPECT_EQ(word, 0x1122334455667788u);
  EXPECT_TRUE(memory.load(start + page, word));
  EXPECT_EQ(word, 0u);
  EXPECT_TRUE(memory.load(start + 2 * page - 4, word)); // over the boundary of two pages
  EXPECT_EQ(word, 0x5566778800000000u);
  EXPECT_TRUE(memory.load(start + 3 * page - 8, word));
  EXPECT_FALSE(memory.load(start + 3 * page - 7, word));
  EXPECT_FALSE(memory.load(start + 3 * page, word));
  EXPECT_FALSE(memory.load(8, word));
  EXPECT_FALSE(memory.load(~std::uint64_t{0} - 3, word));
  EXPECT_FALSE(memory.load(~std::uint64_t{0} - 8192, word));
  std::array<std::byte, 4097> bytes;
  EXPECT_TRUE(memory.read(start + page, std::span(bytes).first(4096)));
  EXPECT_FALSE(StackMemory(0).read(start + page, bytes)); // more than is promised
  EXPECT_EQ(errno, 77);
  munmap(area, 4 * page);
}

/// A thread's stack and, without a gap, another one below it, which is unmapped after a walk began there.
struct TwoStacks {
  static constexpr std::uint64_t page = 4096, below = 16 * page, size = 256 * page;
  std::uint64_t start = 0;
  bool read_before = false, read_after = true;

  void walk() {
    const auto top = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    std::uint64_t word = 0;
    StackMemory first(start + below);
    for (std::uint64_t at = start + below; at <= top; at += page / 2) first.load(at, word);
    first.remember();
    StackMemory second(start + below - page / 2);
    read_before = second.load(start + below - page / 2, word);
    second.remember();
    munmap(reinterpret_cast<void*>(start), below);
    read_after = StackMemory(top).load(start + below - page / 2, word);
  }
};

TEST(HereMemory, AnotherStackBelowIsNotTheThreads) {
  TwoStacks stacks;
  void* const area =
      mmap(nullptr, TwoStacks::size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  stacks.start = address_of(area);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, reinterpret_cast<void*>(stacks.start + TwoStacks::below),
                        TwoStacks::size - TwoStacks::below);
  pthread_t thread;
  const auto run = [](void* of) -> void* {
    static_cast<TwoStacks*>(of)->walk();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &stacks), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(stacks.read_before);
  EXPECT_FALSE(stacks.read_after);
  munmap(reinterpret_cast<void*>(stacks.start + TwoStacks::below), TwoStacks::size - TwoStacks::below);
}

} // namespace here_step_test
