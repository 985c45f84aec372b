// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize(): every address keeps its rules, and the section is as small as any that joins
// neighbours.

#include "inputs.h"
#include "sframe/base/parallel.h"
#include "sframe/builder.h"
#include "sframe/convert.h"
#include "sframe/optimize.h"
#include "sframe/section.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace sframe {
namespace sframe_optimize_test {

struct Added {
  Fde fde;
  std::vector<FrameRow> rows;
};

FrameRow row(std::uint32_t offset, std::int32_t cfa, bool saves_fp = false) {
  return {offset, Rule::value(7, cfa), Rule::fixed(), saves_fp ? Rule::at_cfa(-16) : Rule::same(), false};
}

/// A rule that only a flexible FDE has.
FrameRow flexible(std::uint32_t offset) {
  return {offset, Rule::value(10, 0), Rule::at_cfa(-8), Rule::same(), false};
}

Builder build(const BuildOptions& options, std::span<const Added> functions) {
  Builder builder(options);
  for (const Added& f : functions) {
    const auto added = builder.add(f.fde, f.rows);
    EXPECT_TRUE(added) << message(added.error().reason);
  }
  return builder;
}

/// Gaps of up to 8 bytes are padding.
const auto joins_small_gaps = [](const AddressRange& between) { return between.size <= 8; };

/// Neighbours in each way: gaps, equal and unequal marks, rows that repeat, sizes about the limits of
/// offsets.
std::vector<Added> random_functions(std::mt19937& random, VersionNumber version, std::size_t count) {
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  std::vector<Added> functions;
  std::uint64_t at = 0x10000;
  std::vector<std::vector<FrameRow>> used;
  for (std::size_t i = 0; i < count; ++i) {
    Added f;
    f.fde.start = at;
    const std::uint32_t large = below(12) == 0 ? 70000 : below(3) == 0 ? 700 : 60;
    f.fde.size = 1 + below(large);
    if (below(10) == 0) f.fde.signal_frame = traits(version).has_signal;
    if (below(15) == 0 && traits(version).empty_is_outermost) {
      functions.push_back(f);
      at += f.fde.size;
      continue;
    }
    const bool flex = traits(version).has_flex && below(6) == 0;
    if (!used.empty() && below(2) == 0) f.rows = used[below(static_cast<std::uint32_t>(used.size()))];
    while (!f.rows.empty() && f.rows.back().offset >= f.fde.size) f.rows.pop_back();
    if (f.rows.empty()) {
      std::uint32_t offset = below(20) == 0 ? std::min(1u, f.fde.size - 1) : 0;
      const std::uint32_t step = 1 + f.fde.size / (1 + below(60));
      for (; offset < f.fde.size; offset += 1 + below(step))
        f.rows.push_back(flex && below(3) == 0
                             ? flexible(offset)
                             : row(offset, 8 * static_cast<std::int32_t>(1 + below(4)), below(2) == 0));
      used.push_back(f.rows);
    }
    functions.push_back(f);
    at += f.fde.size + (below(3) == 0 ? below(20) : 0);
    if (below(20) == 0) at -= std::min(f.fde.size - 1, below(10)); // overlaps
  }
  return functions;
}

std::string text_of(const expected<std::optional<Match>, Error>& found) {
  if (!found) return "error";
  if (!*found) return "nothing";
  const FrameRow& r = (*found)->row;
  std::string text = (*found)->fde.signal_frame ? "signal " : "";
  for (const Rule& rule : {r.cfa, r.ra, r.fp})
    text += std::to_string(static_cast<int>(rule.kind)) + ":" + std::to_string(rule.base) + ":" +
            std::to_string(rule.offset) + " ";
  return text;
}

Section section_of(const std::vector<std::byte>& bytes) {
  auto section = Section::parse(bytes, 0x1000);
  EXPECT_TRUE(section);
  return *section;
}

/// The addresses at which something changes in a section, and their neighbours.
std::vector<std::uint64_t> edges(const Section& section) {
  std::vector<std::uint64_t> all;
  const auto add = [&](std::uint64_t address) { all.insert(all.end(), {address - 1, address, address + 1}); };
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    add(fde->start);
    add(fde->start + fde->size);
    RowCursor rows = section.rows(*fde);
    for (FrameRow r; rows.next(r);) add(fde->start + r.offset);
  }
  return all;
}

void expect_same_rules(const Builder& plain, const Builder& optimized, bool over_gaps) {
  const auto before_bytes = plain.finish(0x1000), after_bytes = optimized.finish(0x1000);
  ASSERT_TRUE(before_bytes && after_bytes);
  const Section before = section_of(*before_bytes), after = section_of(*after_bytes);
  std::vector<std::uint64_t> addresses = edges(before);
  const auto more = edges(after);
  addresses.insert(addresses.end(), more.begin(), more.end());
  for (const std::uint64_t address : addresses) {
    std::string expected = text_of(before.find(address)), now = text_of(after.find(address));
    if (over_gaps && now != expected && !*before.find_fde(address)) {
      // Padding, with the rules of the code before it.
      std::uint64_t code = address - 1;
      while (!*before.find_fde(code) && address - code <= 8) --code;
      expected = text_of(before.find(code));
    }
    ASSERT_EQ(now, expected) << std::hex << address;
  }
}

using Goal = OptimizeOptions::Goal;

TEST(Optimize, EveryAddressKeepsItsRules) {
  std::mt19937 random(16);
  for (const VersionTraits* version : all_versions())
    for (const bool share : {false, true})
      for (const Goal goal : {Goal::size, Goal::lookup, Goal::smallest})
        for (int turn = 0; turn < 8; ++turn) {
          const auto functions = random_functions(random, VersionNumber{version->number}, 60);
          const BuildOptions options{.version = VersionNumber{version->number},
                                     .byte_order = turn % 2 ? ByteOrder::big : ByteOrder::little,
                                     .share_rows = share};
          const Builder plain = build(options, functions);
          Builder optimized = build(options, functions);
          optimized.optimize({.goal = goal, .max_rows = 12, .may_join = joins_small_gaps});
          SCOPED_TRACE(version->number);
          expect_same_rules(plain, optimized, goal != Goal::lookup);
          if (goal != Goal::lookup) {
            EXPECT_LT(optimized.size(), plain.size());
          }
          EXPECT_EQ(optimized.finish(0x1000)->size(), optimized.size());
          if (HasFatalFailure()) return;
        }
}

TEST(Optimize, LookupLimitsTheRowsOfEveryFunctionThatCanBeSplit) {
  std::vector<Added> functions;
  for (std::uint32_t i = 0; i < 5; ++i) {
    functions.push_back({{.start = 0x1000 + i * 0x1000, .size = 0x1000}, {}});
    for (std::uint32_t r = 0; r < 30 * i + 1; ++r)
      functions.back().rows.push_back(row(r * 3, 8 + 8 * (r % 2)));
  }
  functions[3].fde.signal_frame = true;
  Builder builder = build({}, functions);
  builder.optimize({.goal = OptimizeOptions::Goal::lookup, .max_rows = 10});
  expect_same_rules(build({}, functions), builder, false);
  const auto bytes = builder.finish(0x1000);
  const Section section = section_of(*bytes);
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    EXPECT_TRUE(fde->signal_frame || fde->num_fres <= 10) << fde->num_fres;
  }
  EXPECT_GE(section.num_fdes(), 1u + 4 + 7 + 1 + 13);
}

/// The rows of functions [first, end) as those of one.
Added joined(std::span<const Added> functions) {
  Added all = functions.front();
  all.rows.clear();
  all.fde.size =
      static_cast<std::uint32_t>(functions.back().fde.start + functions.back().fde.size - all.fde.start);
  for (const Added& f : functions)
    for (FrameRow r : f.rows) {
      r.offset += static_cast<std::uint32_t>(f.fde.start - all.fde.start);
      all.rows.push_back(r); // add() leaves out what repeats
    }
  return all;
}

TEST(Optimize, FindsTheSmallestSectionWithoutSharing) {
  std::mt19937 random(3);
  for (int turn = 0; turn < 60; ++turn) {
    std::vector<Added> functions;
    std::uint64_t at = 0x1000;
    for (std::size_t i = 0; i < 8; ++i) {
      Added f{{.start = at, .size = static_cast<std::uint32_t>(8 + random() % 120)}, {}};
      for (std::uint32_t offset = 0; offset < f.fde.size && f.rows.size() < 6;
           offset += 1 + static_cast<std::uint32_t>(random() % 30))
        f.rows.push_back(row(offset, static_cast<std::int32_t>(8 << random() % 6)));
      functions.push_back(f);
      at += f.fde.size;
    }
    const VersionNumber version = turn % 2 ? VersionNumber::v2 : VersionNumber::v3;
    std::uint64_t smallest = build({.version = version}, functions).size();
    for (unsigned cuts = 0; cuts < 1u << 7; ++cuts) {
      std::vector<Added> groups;
      std::size_t first = 0;
      bool too_many = false;
      for (std::size_t i = 0; i < functions.size(); ++i)
        if (i + 1 == functions.size() || cuts >> i & 1) {
          groups.push_back(joined(std::span(functions).subspan(first, i + 1 - first)));
          first = i + 1;
        }
      for (const Added& group : groups) {
        Builder one({.version = version});
        ASSERT_TRUE(one.add(group.fde, group.rows));
        too_many |= one.num_fres() > 15;
      }
      if (!too_many) smallest = std::min(smallest, build({.version = version}, groups).size());
    }
    Builder builder = build({.version = version}, functions);
    builder.optimize({.max_rows = 15});
    EXPECT_EQ(builder.size(), smallest) << turn;
  }
}

TEST(Optimize, TypesChangeWhereThatSavesFdes) {
  constexpr auto fdes_of = [](const Builder& builder) {
    const auto bytes = builder.finish(0x1000);
    std::vector<EncodedFde> fdes;
    const Section section = section_of(*bytes);
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) fdes.push_back(*section.fde(i));
    return fdes;
  };
  // Default and flexible functions in turn: all become flexible. Offsets have one byte in 256 bytes of code.
  std::vector<Added> turns;
  for (std::uint32_t i = 0; i < 60; ++i)
    turns.push_back({{.start = 0x1000 + 16 * i, .size = 16},
                     {i % 2 ? flexible(0) : row(0, 8), row(4, 16 + 8 * static_cast<std::int32_t>(i % 3))}});
  Builder optimized = build({}, turns);
  optimized.optimize({});
  expect_same_rules(build({}, turns), optimized, false);
  EXPECT_EQ(fdes_of(optimized).size(), 60u * 16 / 256 + 1);
  for (const EncodedFde& fde : fdes_of(optimized)) EXPECT_EQ(fde.fde_type, FdeType::flex);

  // Two rows need a flexible FDE, in the middle of a large function: only they get one.
  Added large{{.start = 0x1000, .size = 200}, {}};
  for (std::uint32_t i = 0; i < 100; ++i)
    large.rows.push_back(i == 50 || i == 51 ? flexible(2 * i) : row(2 * i, 8 + 8 * (i % 2)));
  large.rows[51].cfa.offset = 16;
  // Enough functions of both types that it is tried.
  std::vector<Added> some{large};
  for (std::uint32_t i = 0; i < 4; ++i)
    some.push_back({{.start = 0x8000 + 0x1000 * i, .size = 16}, {i % 2 ? flexible(0) : row(0, 8)}});
  optimized = build({}, some);
  EXPECT_EQ(fdes_of(optimized)[0].fde_type, FdeType::flex);
  optimized.optimize({});
  expect_same_rules(build({}, some), optimized, false);
  std::uint32_t flexible_rows = 0, functions = 0;
  for (const EncodedFde& fde : fdes_of(optimized))
    if (fde.start < 0x8000) {
      flexible_rows += fde.fde_type == FdeType::flex ? fde.num_fres : 0;
      ++functions;
    }
  EXPECT_EQ(flexible_rows, 2u);
  EXPECT_EQ(functions, 3u);
  // 98 rows have one word less, two FDEs are added.
  EXPECT_EQ(optimized.size(), build({}, some).size() - 98 + 2 * (16 + 5));
}

TEST(Optimize, FindsTheSmallestCutAtAnyRowWithoutSharing) {
  std::mt19937 random(4);
  int smaller_than_size = 0;
  for (int turn = 0; turn < 24; ++turn) {
    // Some large steps between rows: offsets of four bytes cost more than another FDE.
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    std::vector<Added> functions;
    std::vector<FrameRow> rows; // of all functions, from the first one's start
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      Added f{{.start = 0x1000 + at}, {}};
      std::uint32_t offset = 0;
      for (std::uint32_t r = 0; r < 4; ++r) {
        f.rows.push_back(row(offset, static_cast<std::int32_t>(8 << below(3)), below(2) == 0));
        rows.push_back(f.rows.back());
        rows.back().offset += at;
        offset += below(5) == 0 ? 70000 : 1 + below(150);
      }
      f.fde.size = offset;
      at += offset;
      functions.push_back(f);
    }
    const VersionNumber version = turn % 2 ? VersionNumber::v2 : VersionNumber::v3;
    std::uint64_t smallest = build({.version = version}, functions).size();
    for (unsigned cuts = 0; cuts < 1u << 11; ++cuts) {
      std::vector<Added> groups;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == 0 || cuts >> (i - 1) & 1) groups.push_back({{.start = 0x1000 + rows[i].offset}, {}});
        Added& group = groups.back();
        group.rows.push_back(rows[i]);
        group.rows.back().offset -= static_cast<std::uint32_t>(group.fde.start - 0x1000);
        const std::uint32_t end = i + 1 == rows.size() ? at : rows[i + 1].offset;
        group.fde.size = static_cast<std::uint32_t>(0x1000 + end - group.fde.start);
      }
      smallest = std::min(smallest, build({.version = version}, groups).size());
    }
    Builder builder = build({.version = version}, functions);
    builder.optimize({.goal = Goal::smallest});
    EXPECT_EQ(builder.size(), smallest) << turn;
    Builder for_size = build({.version = version}, functions);
    for_size.optimize({});
    smaller_than_size += builder.size() < for_size.size();
  }
  EXPECT_GT(smaller_than_size, 0);
}

TEST(Optimize, SmallestSharesPartsOfFunctions) {
  // 10 functions, too far from each other to be joined. The last 12 rows of all are the same, but each one
  // has two others before, and other offsets.
  std::vector<Added> functions;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const auto cfa = static_cast<std::int32_t>(20 + 8 * i); // unlike the others
    functions.push_back({{.start = 0x1000 + 0x1000 * i, .size = 100}, {row(0, 8), row(1, cfa)}});
    for (std::uint32_t r = 0; r < 12; ++r)
      functions.back().rows.push_back(row(10 + i + 3 * r, 24 + 8 * static_cast<std::int32_t>(r)));
  }
  const BuildOptions options{.share_rows = true};
  const Builder plain = build(options, functions);
  Builder for_size = plain, smallest = plain;
  for_size.optimize({});
  smallest.optimize({.goal = Goal::smallest});
  // Rows of 3 bytes: offset, info and the CFA's word. Split, a function has an index entry more, and its
  // attributes and first rows to itself.
  const VersionTraits& v3 = traits(VersionNumber::v3);
  const std::uint64_t entry = v3.entry_size, attributes = v3.attribute_size;
  EXPECT_EQ(plain.size(), header_size + 10 * (entry + attributes + 14 * 3));
  EXPECT_EQ(for_size.size(), plain.size());
  EXPECT_EQ(smallest.size(), header_size + 10 * (2 * entry + attributes + 2 * 3) + attributes + 12 * 3);
  EXPECT_EQ(smallest.num_fdes(), 20u);
  expect_same_rules(plain, smallest, false);
}

TEST(Optimize, SmallestIsNeverLargerThanSize) {
  std::mt19937 random(7);
  for (const VersionTraits* version : all_versions())
    for (const bool share : {false, true})
      for (const bool repeat : {false, true})
        for (int turn = 0; turn < 10; ++turn) {
          const auto functions = random_functions(random, VersionNumber{version->number}, 100);
          const BuildOptions options{.version = VersionNumber{version->number}, .share_rows = share};
          Builder for_size = build(options, functions), smallest = build(options, functions);
          OptimizeOptions how{.max_rows = 9, .repeat = repeat, .may_join = joins_small_gaps};
          for_size.optimize(how);
          how.goal = Goal::smallest;
          smallest.optimize(how);
          EXPECT_LE(smallest.size(), for_size.size());
          if (!repeat) continue;
          const auto bytes = smallest.finish(0x1000);
          smallest.optimize(how);
          EXPECT_EQ(*smallest.finish(0x1000), *bytes) << "a fixed point";
        }
}

/// As a file that is converted from its own section again.
TEST(Optimize, SectionsThatAreReadAgainStayTheSame) {
  std::mt19937 random(11);
  for (const VersionTraits* version : all_versions())
    for (const Goal goal : {Goal::size, Goal::smallest})
      for (int turn = 0; turn < 20; ++turn) {
        const BuildOptions options{.version = VersionNumber{version->number}, .share_rows = true};
        Builder builder = build(options, random_functions(random, VersionNumber{version->number}, 100));
        const OptimizeOptions how{.goal = goal, .max_rows = 9, .repeat = true, .may_join = joins_small_gaps};
        builder.optimize(how);
        const auto bytes = builder.finish(0x1000);
        const Section section = section_of(*bytes);
        auto again = reencode({&section, 1}, options, 0x1000, 0x1000);
        ASSERT_TRUE(again && again->refused.empty());
        again->builder.optimize(how);
        ASSERT_EQ(*again->builder.finish(0x1000), *bytes) << "version " << int{version->number};
      }
}

TEST(Optimize, SmallestKeepsTheLimitOfRows) {
  // Alternating rules: nothing is left out where functions are joined.
  std::vector<Added> functions;
  std::uint64_t at = 0x1000;
  for (const std::uint32_t rows : {3u, 50u, 4u, 4u, 4u, 2u, 20u}) {
    functions.push_back({{.start = at, .size = 2 * rows}, {}});
    for (std::uint32_t r = 0; r < rows; ++r) functions.back().rows.push_back(row(2 * r, 8 + 8 * (r % 2)));
    at += 2 * rows;
  }
  for (const bool share : {false, true}) {
    Builder builder = build({.share_rows = share}, functions);
    builder.optimize({.goal = Goal::smallest, .max_rows = 8});
    const auto bytes = builder.finish(0x1000);
    const Section section = section_of(*bytes);
    for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
      const auto fde = section.fde(i);
      const auto same_start = [&](const Added& f) {
        return f.fde.start == fde->start && f.fde.size == fde->size;
      };
      EXPECT_TRUE(fde->num_fres <= 8 || std::ranges::any_of(functions, same_start)) << fde->num_fres;
    }
    EXPECT_LT(section.num_fdes(), functions.size() + 8);
  }
}

/// Time and memory follow the bytes of a section, not the rows that it has by sharing.
TEST(Optimize, SmallestIsAsSizeIfFewBytesAreManyRows) {
  std::vector<Added> functions;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    functions.push_back({{.start = 0x10000 + 0x10000 * std::uint64_t{i}, .size = 0x4000}, {}});
    for (std::uint32_t r = 0; r < 1000; ++r)
      functions.back().rows.push_back(row(r, static_cast<std::int32_t>(8 + 8 * (r * r % 7))));
  }
  Builder smallest = build({.share_rows = true}, functions),
          for_size = build({.share_rows = true}, functions);
  ASSERT_GT(smallest.num_fres(), smallest.size());
  smallest.optimize({.goal = Goal::smallest, .max_rows = 65535});
  for_size.optimize({.max_rows = 65535});
  EXPECT_EQ(*smallest.finish(0x1000), *for_size.finish(0x1000));
}

TEST(Optimize, BeginningsOfRunsAreSharedWhereTheIndexHasTheNumberOfRows) {
  // Too far from each other to be joined. Each but the last has the first rows of the next one.
  std::vector<Added> functions;
  for (const std::uint32_t rows : {2u, 4u, 1u, 3u}) {
    functions.push_back({{.start = 0x1000 + 0x1000 * functions.size(), .size = 64}, {}});
    for (std::uint32_t r = 0; r < rows; ++r)
      functions.back().rows.push_back(row(r * 4, static_cast<std::int32_t>(8 + 8 * r)));
  }
  // Their offsets have two bytes, so they share nothing with the others.
  functions.push_back({{.start = 0x9000, .size = 0x1000}, {row(0, 8), row(0x100, 16)}});
  constexpr std::uint64_t row_size = 3; // offset, info and the CFA's word
  for (const VersionTraits* version : all_versions()) {
    SCOPED_TRACE(version->number);
    const BuildOptions options{.version = VersionNumber{version->number}, .share_rows = true};
    const Builder plain = build(options, functions);
    Builder optimized = build(options, functions);
    optimized.optimize({});
    const bool in_index = version->attribute_size == 0;
    const std::uint64_t rest = header_size + 5 * version->entry_size + 2 * (row_size + 1);
    if (in_index) {
      EXPECT_EQ(plain.size(), rest + (1 + 2 + 3 + 4) * row_size);
      EXPECT_EQ(optimized.size(), rest + 4 * row_size);
    } else {
      EXPECT_EQ(optimized.size(), plain.size());
    }
    expect_same_rules(plain, optimized, false);
    const auto bytes = optimized.finish(0x1000);
    const auto flipped = flip_byte_order(*bytes);
    ASSERT_TRUE(flipped) << flipped.error().offset;
    EXPECT_EQ(*flip_byte_order(*flipped), *bytes);
    for (const Added& f : functions)
      EXPECT_EQ(text_of(section_of(*flipped).find(f.fde.start + 5)),
                text_of(section_of(*bytes).find(f.fde.start + 5)));
    // What is added later finds its place as well.
    ASSERT_TRUE(optimized.add({.start = 0x20000, .size = 64}, functions[1].rows));
    ASSERT_TRUE(optimized.add({.start = 0x21000, .size = 64}, std::vector{row(0, 80)}));
    EXPECT_EQ(text_of(section_of(*optimized.finish(0x1000)).find(0x2000d)),
              text_of(section_of(*bytes).find(0x200d)));
    const auto later = optimized.finish(0x1000);
    const auto found = section_of(*later).find(0x21001);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->row.cfa, Rule::value(7, 80));
    optimized.clear();
    ASSERT_TRUE(optimized.add({.start = 0x2000, .size = 64}, functions[1].rows));
    EXPECT_EQ(text_of(section_of(*optimized.finish(0x1000)).find(0x200d)),
              text_of(section_of(*bytes).find(0x200d)));
  }
}

TEST(Optimize, DoesNotDependOnTheOrderOfAdding) {
  std::mt19937 random(5);
  auto functions = random_functions(random, VersionNumber::v3, 200);
  // Where functions overlap, so may their starts.
  const auto same_start = [](const Added& a, const Added& b) { return a.fde.start == b.fde.start; };
  functions.erase(std::unique(functions.begin(), functions.end(), same_start), functions.end());
  for (const Goal goal : {Goal::size, Goal::smallest}) {
    std::vector<std::byte> first;
    for (int turn = 0; turn < 4; ++turn) {
      Builder builder = build({.share_rows = true}, functions);
      builder.optimize({.goal = goal, .may_join = joins_small_gaps});
      auto bytes = builder.finish(0x1000);
      ASSERT_TRUE(bytes);
      if (first.empty()) first = *bytes;
      EXPECT_EQ(*bytes, first);
      std::ranges::shuffle(functions, random);
    }
  }
}

TEST(Optimize, AnnouncesEndsOfFunctionsBeforeItAsks) {
  const std::vector<FrameRow> rows = {row(0, 8), row(1, 16)};
  std::vector<Added> functions;
  for (std::uint64_t i = 0; i < 100; ++i) functions.push_back({{.start = 0x1000 + i * 16, .size = 14}, rows});
  Builder builder = build({}, functions), same = build({}, functions);
  same.optimize({.may_join = [](const AddressRange&) { return true; }});
  std::set<std::uint64_t> announced;
  std::uint64_t last = 0;
  int asked = 0, unexpected = 0;
  builder.optimize({.may_join =
                        [&](const AddressRange& between) {
                          ++asked;
                          unexpected += !announced.contains(between.start);
                          return true;
                        },
                    .expect =
                        [&](std::uint64_t end) {
                          EXPECT_GT(end, last);
                          last = end;
                          announced.insert(end);
                        }});
  EXPECT_EQ(asked, 99);
  EXPECT_LT(unexpected, 25); // the first ones
  EXPECT_EQ(builder.finish(0x8000).value(), same.finish(0x8000).value());
}

TEST(Optimize, JoinsOnlyWhereItMay) {
  const std::vector<FrameRow> rows = {row(0, 8), row(1, 16)};
  const auto fdes = [&](const Fde& a, const Fde& b, bool may = true) {
    Builder builder = build({}, std::vector<Added>{{a, rows}, {b, rows}});
    builder.optimize({.may_join = [&](const AddressRange&) { return may; }});
    return builder.num_fdes();
  };
  const Fde a{.start = 0x1000, .size = 16}, b{.start = 0x1010, .size = 16};
  EXPECT_EQ(fdes(a, b), 1u);
  EXPECT_EQ(fdes(a, b, false), 2u);
  Fde other = b;
  other.signal_frame = true;
  EXPECT_EQ(fdes(a, other), 2u);
  other = b;
  other.start += 256;
  EXPECT_EQ(fdes(a, other), 1u);
  ++other.start;
  EXPECT_EQ(fdes(a, other), 2u) << "too far away";
  other.start = 0x100f;
  EXPECT_EQ(fdes(a, other), 2u) << "overlap";

  Builder builder =
      build({}, std::vector<Added>{{a, rows}, {other = {.start = 0x1011, .size = 1}, {row(0, 8)}}});
  builder.optimize({});
  EXPECT_EQ(builder.num_fdes(), 2u) << "over a gap only if it is known to be padding";
}

/// Calls for_each with each way to run pieces of work; none may make a difference.
TEST(Optimize, PiecesMayBeSearchedInAnyOrderAndAtTheSameTime) {
  const auto in_order = [](std::size_t pieces, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < pieces; ++i) work(i);
  };
  const auto reversed = [](std::size_t pieces, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = pieces; i-- != 0;) work(i);
  };
  const auto on_threads = [](unsigned threads) {
    return [=](std::size_t pieces, const std::function<void(std::size_t)>& work) {
      for_each_parallel(pieces, threads, work);
    };
  };
  std::mt19937 random(11);
  for (const VersionNumber version : {VersionNumber::v2, VersionNumber::v3})
    for (const Goal goal : {Goal::size, Goal::lookup}) {
      const auto functions = random_functions(random, version, 20000);
      const BuildOptions options{.version = version, .share_rows = true};
      const auto optimized = [&](const auto& for_each) {
        Builder builder = build(options, functions);
        OptimizeOptions how{.goal = goal, .may_join = joins_small_gaps};
        how.for_each = for_each;
        builder.optimize(how);
        return *builder.finish(0x1000);
      };
      std::size_t most_pieces = 0;
      const auto counting = [&](std::size_t pieces, const std::function<void(std::size_t)>& work) {
        most_pieces = std::max(most_pieces, pieces);
        in_order(pieces, work);
      };
      const auto alone = optimized(nullptr);
      EXPECT_TRUE(alone == optimized(counting));
      EXPECT_GE(most_pieces, 2u);
      EXPECT_TRUE(alone == optimized(reversed));
      for (const unsigned threads : {1u, 2u, 3u, 8u}) EXPECT_TRUE(alone == optimized(on_threads(threads)));
      if (goal == Goal::size) {
        EXPECT_LT(alone.size(), build(options, functions).size());
      }
    }
}

/// A piece ends somewhere: no rule may be lost there, and what is left is at most an FDE.
TEST(Optimize, JoinsAllButAFewOfManyFunctions) {
  std::vector<Added> functions;
  for (std::uint32_t i = 0; i < 30000; ++i)
    functions.push_back({{.start = 0x1000 + i * 4, .size = 4}, {row(0, 8 + 8 * static_cast<int>(i % 2))}});
  Builder builder = build({}, functions);
  builder.optimize({});
  EXPECT_LE(builder.num_fdes(), 30000u / 40 + 8);
  expect_same_rules(build({}, functions), builder, false);
}

/// Of a section that is marked as sorted and is not, a search finds some functions only.
bool is_in_order(const Section& section) {
  for (std::uint32_t i = 1; section.sorted() && i < section.num_fdes(); ++i)
    if (section.fde_start(i) < section.fde_start(i - 1)) return false;
  return true;
}

/// All well-formed sections in the inputs.
TEST(Optimize, SectionsKeepTheirRulesAndSettle) {
  int smaller = 0;
  for (const auto& path : test::inputs_ending(".sframe")) {
    SCOPED_TRACE(path);
    const auto file = test::read_file(path);
    const auto section = Section::parse(file, 0x1000);
    if (!section || section->check_index() || !is_in_order(*section)) continue;
    for (const Goal goal : {Goal::size, Goal::smallest, Goal::lookup}) {
      const auto bytes = optimize(*section, {.goal = goal, .max_rows = 5});
      if (!bytes) continue; // rows that cannot be read
      const auto after = Section::parse(*bytes, 0x1000);
      ASSERT_TRUE(after);
      const auto fixed = [&](const Section& s, std::uint64_t address) {
        auto found = s.find(address);
        if (found && *found)
          (*found)->row =
              resolve_fixed((*found)->row, s.header().fixed_ra_offset, s.header().fixed_fp_offset);
        return text_of(found);
      };
      for (const std::uint64_t address : edges(*section))
        ASSERT_EQ(fixed(*after, address), fixed(*section, address));
      for (const std::uint64_t address : edges(*after))
        ASSERT_EQ(fixed(*after, address), fixed(*section, address));
      EXPECT_EQ(*optimize(*after, {.goal = goal, .max_rows = 5}), *bytes);
      if (goal == Goal::lookup) continue;
      EXPECT_LE(bytes->size(), section->bytes().size());
      if (goal == Goal::smallest) {
        EXPECT_LE(bytes->size(), optimize(*section, {.max_rows = 5})->size());
      }
      smaller += bytes->size() < section->bytes().size();
    }
  }
  EXPECT_GT(smaller, 10);
}

// Neighbours of which none adds a row: the search by row ends though they could all be in one FDE, in time
// that is linear in their number.
TEST(Optimize, ManyFunctionsWithTheSameRow) {
  constexpr std::uint32_t count = 60000;
  Builder builder({.version = VersionNumber::v3, .share_rows = true});
  const FrameRow rows[] = {row(0, 16)};
  for (std::uint32_t i = 0; i < count; ++i)
    ASSERT_TRUE(builder.add({.start = 0x1000 + i * 2, .size = 2}, rows));
  builder.optimize({.goal = OptimizeOptions::Goal::smallest});
  EXPECT_LT(builder.num_fdes(), count / 200);
  const auto bytes = builder.finish(0).value();
  const auto section = Section::parse(bytes);
  ASSERT_TRUE(section);
  for (std::uint32_t i = 0; i < count; i += 97) {
    const auto match = section->find(0x1001 + i * 2);
    ASSERT_TRUE(match && *match);
    EXPECT_EQ((*match)->row.cfa, rows[0].cfa);
  }
}

/// A section with as many rows as bytes is searched by rows, one with more is not.
TEST(Optimize, SharingLimitsTheSearchByRows) {
  const auto section_with = [](std::uint32_t sharing) {
    Builder builder({.version = VersionNumber::v3, .abi = Abi::amd64, .share_rows = true});
    std::vector<FrameRow> rows; // in the first 256 bytes, but for the last one
    for (std::uint32_t i = 0; i < 31; ++i)
      rows.push_back(row(8 * i, 8 + 8 * static_cast<std::int32_t>(i % 7)));
    rows.push_back(row(600, 64));
    EXPECT_TRUE(builder.add({.start = 0x1000, .size = 640}, rows));
    rows.clear();
    for (std::uint32_t i = 0; i < 17; ++i) rows.push_back(row(i, 8 + 8 * static_cast<std::int32_t>(i % 5)));
    for (std::uint32_t i = 0; i < sharing; ++i)
      EXPECT_TRUE(builder.add({.start = 0x2000 + 0x1000 * i, .size = 17}, rows));
    return builder.finish(0).value_or(std::vector<std::byte>());
  };
  const auto size_of = [](const Section& section, OptimizeOptions::Goal goal) {
    const auto bytes = optimize(section, {.goal = goal});
    EXPECT_TRUE(bytes);
    return bytes ? bytes->size() : 0;
  };
  using enum OptimizeOptions::Goal;
  const auto as_many = section_with(201), more = section_with(202);
  const auto first = Section::parse(as_many), second = Section::parse(more);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->header().num_fres, as_many.size());
  EXPECT_GT(second->header().num_fres, more.size());
  EXPECT_LT(size_of(*first, size), as_many.size());
  EXPECT_LT(size_of(*first, smallest), size_of(*first, size));
  EXPECT_EQ(size_of(*second, smallest), size_of(*second, size));
}

} // namespace sframe_optimize_test
} // namespace sframe
