// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of generated code. No code is executed: addresses are those of a buffer, or only numbers.

#include "allocations.h"

#include "sframe/jit/list.h"
#include "sframe/jit/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace jit_registry_test {

namespace jit = sframe::jit;
using jit::ErrorKind;
using sframe::FrameRow;
using sframe::Rule;

const sframe::AbiTraits& abi() {
  return sframe::traits(jit::host_abi());
}

/// Rows of code of this size, which are recognised by the offset of the CFA.
jit::Rows rows_of(std::uint32_t size, std::int32_t cfa = 16) {
  const FrameRow rows[] = {{0, Rule::value(abi().sp, cfa), Rule::at_cfa(-8), Rule::same(), false}};
  return jit::Rows::make({.size = size}, rows).value();
}

const void* at(std::uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

/// The offset of the CFA at the address; 0 if there is no row.
std::int32_t cfa_at(std::uint64_t pc) {
  sframe::SourcedRow found;
  return jit::Registry::find(pc, found) ? found.row.cfa.offset : 0;
}

/// Something that copies what publishers get.
class Recorder : public jit::Publisher {
public:
  bool add(const jit::PublishedCode& code) override {
    return works && code_.emplace(code.start, std::string(code.name)).second;
  }
  void drop(const jit::PublishedCode& code) override { EXPECT_EQ(1u, code_.erase(code.start)); }
  const std::map<std::uint64_t, std::string>& code() const { return code_; }

  bool works = true;

private:
  std::map<std::uint64_t, std::string> code_;
};

TEST(JitRegistry, FindsRowsOfAFunctionByTheirOffsets) {
  jit::Registry registry;
  const FrameRow rows[] = {
      {0, Rule::value(abi().sp, 16), Rule::at_cfa(-8), Rule::same(), false},
      {4, Rule::value(abi().sp, 32), Rule::at_cfa(-8), Rule::at_cfa(-16), false},
  };
  const auto made = jit::Rows::make({.size = 12, .signal_frame = true}, rows);
  ASSERT_TRUE(registry.add({at(0x1000), "f"}, *made));
  sframe::SourcedRow found;
  EXPECT_FALSE(jit::Registry::find(0xfff, found));
  ASSERT_TRUE(jit::Registry::find(0x1003, found));
  EXPECT_TRUE(found.row.same_rules(rows[0]));
  EXPECT_TRUE(found.signal_frame);
  ASSERT_TRUE(jit::Registry::find(0x1004, found));
  EXPECT_TRUE(found.row.same_rules(rows[1]));
  EXPECT_TRUE(jit::Registry::find(0x100b, found));
  EXPECT_FALSE(jit::Registry::find(0x100c, found));
}

TEST(JitRegistry, TemplateOfStubsRepeatsItsBlock) {
  jit::Registry registry;
  const FrameRow rows[] = {
      {0, Rule::value(abi().sp, 8), Rule::at_cfa(-8), Rule::same(), false},
      {6, Rule::value(abi().sp, 16), Rule::at_cfa(-8), Rule::same(), false},
  };
  const auto stubs = jit::Rows::make({.size = 160, .pc_type = sframe::PcType::mask, .rep_size = 16}, rows);
  ASSERT_TRUE(registry.add({at(0x1000), {}}, *stubs));
  ASSERT_TRUE(registry.add({at(0x8000), {}}, *stubs)); // the same rows elsewhere
  for (const std::uint64_t start : {0x1000, 0x1090, 0x8000, 0x8050}) {
    EXPECT_EQ(8, cfa_at(start + 5));
    EXPECT_EQ(16, cfa_at(start + 6));
  }
}

TEST(JitRegistry, RefusesRowsThatDoNotFit) {
  const auto error_of = [](std::uint32_t size, std::vector<FrameRow> rows) {
    return jit::Rows::make({.size = size}, rows).error();
  };
  const FrameRow row = {0, Rule::value(abi().sp, 16), Rule::at_cfa(-8), Rule::same(), false};
  FrameRow late = row;
  late.offset = 12;
  EXPECT_EQ(ErrorKind::bad_range, error_of(0, {row}).kind);
  const jit::Error past_end = error_of(12, {row, late});
  EXPECT_EQ(ErrorKind::rows, past_end.kind);
  EXPECT_EQ(sframe::RefusalReason::row_past_end, past_end.refusal.reason);
  EXPECT_EQ(1u, past_end.refusal.row);
  EXPECT_EQ(sframe::RefusalReason::row_order, error_of(12, {row, row}).refusal.reason);
  const jit::SavedRegister past[] = {{.from = 4, .to = 13, .reg = 3, .cfa_offset = -24}};
  EXPECT_EQ(ErrorKind::saved_register, jit::Rows::make({.size = 12}, std::span(&row, 1), past).error().kind);
}

TEST(JitRegistry, RefusesRangesThatOverlapOrWrap) {
  jit::Registry registry;
  const auto rows = rows_of(0x100);
  ASSERT_TRUE(registry.add({at(0x1000), {}}, rows));
  for (const std::uint64_t start : {0x1000, 0x10ff, 0xf01})
    EXPECT_EQ(ErrorKind::overlap, registry.add({at(start), {}}, rows).error().kind) << start;
  EXPECT_EQ(ErrorKind::overlap, registry.add({at(0xfff), {}}, rows_of(0x1000)).error().kind);
  EXPECT_TRUE(registry.add({at(0xf00), {}}, rows));
  EXPECT_TRUE(registry.add({at(0x1100), {}}, rows));
  EXPECT_EQ(ErrorKind::bad_range, registry.add({at(0), {}}, rows).error().kind);
  EXPECT_EQ(ErrorKind::bad_range, registry.add({at(~std::uint64_t{0} - 0xfe), {}}, rows).error().kind);
  EXPECT_TRUE(registry.add({at(~std::uint64_t{0} - 0xff), {}}, rows)); // its last byte is the last address
  EXPECT_EQ(16, cfa_at(~std::uint64_t{0}));
  const auto other = abi().id == sframe::Abi::s390x ? sframe::Abi::amd64 : sframe::Abi::s390x;
  const FrameRow row = {0, Rule::value(15, 160), Rule::same(), Rule::same(), false};
  EXPECT_EQ(ErrorKind::wrong_abi,
            registry.add({at(0x9000), {}}, *jit::Rows::make({.size = 8}, std::span(&row, 1), {}, other))
                .error()
                .kind);
}

TEST(JitRegistry, DroppedCodeHasNoRows) {
  Recorder recorder;
  jit::Registry registry;
  registry.publish_to(recorder);
  const auto live = registry.add({at(0x1000), "f"}, rows_of(0x100)).value();
  const auto removed = registry.add({at(0x2000), "g"}, rows_of(0x100)).value();
  const auto other = registry.add({at(0x3000), "h"}, rows_of(0x100)).value();
  ASSERT_TRUE(registry.remove(removed));
  ASSERT_TRUE(registry.remove(other));
  EXPECT_TRUE(registry.drop(live));
  EXPECT_TRUE(registry.drop(removed));
  EXPECT_EQ(0, cfa_at(0x1010));
  EXPECT_EQ(0, cfa_at(0x2010));
  EXPECT_EQ(16, cfa_at(0x3010));
  EXPECT_EQ((std::map<std::uint64_t, std::string>{{0x3000, "h"}}), recorder.code());
  for (const jit::Region gone : {live, removed, jit::Region{}}) {
    EXPECT_EQ(ErrorKind::no_region, registry.drop(gone).error().kind);
    EXPECT_EQ(ErrorKind::no_region, registry.remove(gone).error().kind);
  }
  EXPECT_EQ(0u, registry.usage().regions);
  EXPECT_EQ(1u, registry.usage().removed);
  // The number of other code at the same place.
  const auto again = registry.add({at(0x1000), "f"}, rows_of(0x100, 32)).value();
  EXPECT_FALSE(registry.drop(live));
  EXPECT_EQ(32, cfa_at(0x1010));
  EXPECT_TRUE(registry.drop(again));
  EXPECT_EQ(1u, registry.collect());
}

/// Without a single call of collect().
TEST(JitRegistry, MemoryOfDroppedCodeIsBounded) {
  jit::Registry registry;
  const auto rows = rows_of(0x10);
  std::vector<jit::Region> regions;
  for (std::uint64_t i = 0; i < 10; ++i)
    regions.push_back(*registry.add({at(0x1000 + i * 0x10), "name"}, rows));
  std::size_t most = 0;
  for (std::uint64_t i = 10; i < 40'000; ++i) {
    ASSERT_TRUE(registry.drop(regions[i % 10]));
    regions[i % 10] = *registry.add({at(0x1000 + i % 5000 * 0x10), "name"}, rows);
    most = std::max(most, registry.usage().bytes + registry.usage().to_be_freed);
  }
  EXPECT_EQ(10u, registry.usage().regions);
  EXPECT_LT(most, 100'000u);
}

/// SFrame 3, section 2.3: a function without rows is outermost throughout.
TEST(JitRegistry, CodeWithoutRowsIsOutermost) {
  jit::Registry registry;
  const auto none = jit::Rows::make({.size = 0x10}, {});
  ASSERT_TRUE(none);
  ASSERT_TRUE(registry.add({at(0x1000), "start"}, *none));
  sframe::SourcedRow found;
  for (const std::uint64_t pc : {0x1000, 0x100f}) {
    ASSERT_TRUE(jit::Registry::find(pc, found));
    EXPECT_TRUE(found.row.is_outermost());
  }
}

TEST(JitRegistry, RemovedCodeHasRowsUntilItIsCollected) {
  jit::Registry registry;
  const auto region = registry.add({at(0x1000), "f"}, rows_of(0x100));
  ASSERT_TRUE(registry.remove(*region));
  EXPECT_EQ(16, cfa_at(0x1010));
  EXPECT_EQ(ErrorKind::no_region, registry.remove(*region).error().kind);
  EXPECT_EQ(ErrorKind::no_region, registry.patch(*region, rows_of(0x100)).error().kind);
  EXPECT_EQ(ErrorKind::no_region, registry.move(*region, at(0x5000)).error().kind);
  EXPECT_EQ(1u, registry.usage().removed);
  EXPECT_EQ(1u, registry.collect());
  EXPECT_EQ(0, cfa_at(0x1010));
  EXPECT_EQ(0u, registry.usage().removed);
  EXPECT_EQ(0u, registry.collect());
}

TEST(JitRegistry, NewCodeReplacesRemovedCodeAtItsPlace) {
  jit::Registry registry;
  const auto first = registry.add({at(0x1000), {}}, rows_of(0x100, 16));
  const auto second = registry.add({at(0x1100), {}}, rows_of(0x100, 32));
  ASSERT_TRUE(registry.remove(*first));
  ASSERT_TRUE(registry.remove(*second));
  ASSERT_TRUE(registry.add({at(0x1080), {}}, rows_of(0x100, 48)));
  EXPECT_EQ(0, cfa_at(0x107f)); // the rest of the code in its place is not code any more
  EXPECT_EQ(48, cfa_at(0x1080));
  EXPECT_EQ(48, cfa_at(0x117f));
  EXPECT_EQ(0, cfa_at(0x1180));
  EXPECT_EQ(0u, registry.usage().removed);
}

TEST(JitRegistry, MovesAndPatches) {
  jit::Registry registry;
  auto region = registry.add({at(0x1000), "f"}, rows_of(0x100, 16));
  EXPECT_EQ(ErrorKind::overlap, registry.move(*region, at(0x1080)).error().kind);
  const auto moved = registry.move(*region, at(0x2000));
  ASSERT_TRUE(moved);
  EXPECT_EQ(16, cfa_at(0x1000)); // a thread may still be there
  EXPECT_EQ(16, cfa_at(0x2000));
  EXPECT_EQ(ErrorKind::wrong_size, registry.patch(*moved, rows_of(0x80)).error().kind);
  ASSERT_TRUE(registry.patch(*moved, rows_of(0x100, 64)));
  EXPECT_EQ(64, cfa_at(0x20ff));
  EXPECT_EQ(1u, registry.collect());
  EXPECT_EQ(0, cfa_at(0x1000));
  EXPECT_EQ(64, cfa_at(0x2000));
}

TEST(JitRegistry, PublishersLearnOfAllThatHasRows) {
  Recorder recorder, broken;
  broken.works = false;
  using Map = std::map<std::uint64_t, std::string>;
  {
    jit::Registry registry;
    ASSERT_TRUE(registry.add({at(0x500), "before"}, rows_of(0x10)));
    registry.publish_to(recorder);
    registry.publish_to(broken);
    const auto f = registry.add({at(0x1000), "f"}, rows_of(0x100));
    const auto g = registry.add({at(0x2000), "g"}, rows_of(0x100));
    EXPECT_EQ((Map{{0x1000, "f"}, {0x2000, "g"}}), recorder.code());
    EXPECT_EQ(2u, registry.usage().unpublished);
    ASSERT_TRUE(registry.remove(*f));
    ASSERT_TRUE(registry.move(*g, at(0x3000)));
    EXPECT_EQ((Map{{0x1000, "f"}, {0x2000, "g"}, {0x3000, "g"}}), recorder.code());
    registry.collect();
    EXPECT_EQ((Map{{0x3000, "g"}}), recorder.code());
  }
  EXPECT_TRUE(recorder.code().empty());
}

/// The registry has copies, of code that was moved, too.
TEST(JitRegistry, PublishersLearnOfSourceLines) {
  struct Lines : jit::Publisher {
    std::string seen;
    bool add(const jit::PublishedCode& code) override {
      for (const jit::SourceLine& one : code.lines)
        seen +=
            std::to_string(one.offset) + " " + std::string(one.file) + ":" + std::to_string(one.line) + "\n";
      return true;
    }
    void drop(const jit::PublishedCode&) override {}
  } lines;
  jit::Registry registry;
  registry.publish_to(lines);
  const std::size_t before = registry.usage().bytes;
  jit::Region region;
  {
    std::string first = "a.src", second = "b.src";
    const jit::SourceLine all[] = {{0, 1, first}, {4, 2, first}, {8, 3, second}, {9, 4, {}}};
    region = registry.add({at(0x1000), "f", all}, rows_of(0x10)).value();
    first.assign(first.size(), '?');
    second.assign(second.size(), '?');
  }
  lines.seen.clear();
  const auto moved = registry.move(region, at(0x2000));
  ASSERT_TRUE(moved);
  EXPECT_EQ("0 a.src:1\n4 a.src:2\n8 b.src:3\n9 :4\n", lines.seen);
  EXPECT_GT(registry.usage().bytes, before + 4 * sizeof(jit::SourceLine) + 10);
}

TEST(JitRegistry, RegistriesAreFoundTogetherAndLeaveTheList) {
  const auto* const before = sframe_jit_list.first.load();
  auto first = std::make_unique<jit::Registry>();
  auto second = std::make_unique<jit::Registry>();
  ASSERT_TRUE(first->add({at(0x1000), {}}, rows_of(0x100, 16)));
  ASSERT_TRUE(second->add({at(0x2000), {}}, rows_of(0x100, 32)));
  EXPECT_EQ(16, cfa_at(0x1000));
  EXPECT_EQ(32, cfa_at(0x2000));
  first.reset();
  EXPECT_EQ(0, cfa_at(0x1000));
  EXPECT_EQ(32, cfa_at(0x2000));
  second.reset();
  EXPECT_EQ(before, sframe_jit_list.first.load());
}

/// A process that has copied the list asks these.
TEST(JitRegistry, CountsChangesAndReplacements) {
  const auto changes = [] { return sframe_jit_list.changes.load(); };
  const auto replacements = [] { return sframe_jit_list.replacements.load(); };
  jit::Registry registry;
  std::uint64_t change = changes(), replacement = replacements();
  const auto region = registry.add({at(0x1000), {}}, rows_of(0x100, 16)).value();
  EXPECT_GT(changes(), std::exchange(change, changes()));
  ASSERT_TRUE(registry.add({at(0x2000), {}}, rows_of(0x100, 16)));
  EXPECT_GT(changes(), std::exchange(change, changes()));
  EXPECT_EQ(replacement, replacements()); // what was known holds
  ASSERT_TRUE(registry.patch(region, rows_of(0x100, 24)));
  EXPECT_GT(changes(), std::exchange(change, changes()));
  EXPECT_GT(replacements(), std::exchange(replacement, replacements()));
  ASSERT_TRUE(registry.remove(region));
  EXPECT_EQ(replacement, replacements()); // threads may be in it
  EXPECT_EQ(1u, registry.collect());
  EXPECT_GT(changes(), std::exchange(change, changes()));
  EXPECT_GT(replacements(), std::exchange(replacement, replacements()));
}

/// Random changes, compared with a map from addresses to what the rows say.
TEST(JitRegistry, AgreesWithAModel) {
  jit::Registry registry;
  std::mt19937 random(1);
  struct Added {
    jit::Region region;
    std::int32_t cfa;
    bool removed;
  };
  std::map<std::uint64_t, Added> model;
  const auto place = [&] { return 0x1000 + random() % 3000 * 0x10; };
  for (int i = 0; i < 40000; ++i) {
    const std::uint64_t start = place();
    const std::int32_t cfa = static_cast<std::int32_t>(8 + random() % 1000 * 8);
    const auto known = model.find(start);
    const bool live = known != model.end() && !known->second.removed;
    switch (random() % 9) {
    case 8:
      if (known == model.end()) break;
      ASSERT_TRUE(registry.drop(known->second.region));
      model.erase(known);
      break;
    case 0:
    case 1:
    case 2: {
      const auto added = registry.add({at(start), {}}, rows_of(0x10, cfa));
      ASSERT_EQ(!live, added.has_value());
      if (added) model[start] = {*added, cfa, false};
      break;
    }
    case 3:
    case 4:
      if (!live) break;
      ASSERT_TRUE(registry.remove(known->second.region));
      known->second.removed = true;
      break;
    case 5:
      if (!live) break;
      ASSERT_TRUE(registry.patch(known->second.region, rows_of(0x10, cfa)));
      known->second.cfa = cfa;
      break;
    case 6: {
      const std::uint64_t to = place();
      const auto target = model.find(to);
      if (!live || (target != model.end() && !target->second.removed)) break;
      const auto moved = registry.move(known->second.region, at(to));
      ASSERT_TRUE(moved);
      known->second.removed = true;
      const std::int32_t moved_cfa = known->second.cfa;
      model[to] = {*moved, moved_cfa, false};
      break;
    }
    case 7:
      if (random() % 500) break;
      ASSERT_EQ(static_cast<std::size_t>(
                    std::ranges::count_if(model, [](const auto& one) { return one.second.removed; })),
                registry.collect());
      std::erase_if(model, [](const auto& one) { return one.second.removed; });
    }
    const std::uint64_t probe = place();
    const auto expected = model.find(probe);
    ASSERT_EQ(expected == model.end() ? 0 : expected->second.cfa, cfa_at(probe + random() % 0x10)) << i;
  }
}

TEST(JitRegistry, MemoryIsBoundedByWhatThereIs) {
  jit::Registry registry;
  const auto rows = rows_of(0x10);
  std::vector<jit::Region> regions;
  for (std::uint64_t i = 0; i < 4000; ++i)
    regions.push_back(*registry.add({at(0x1000 + i * 0x10), "name"}, rows));
  const std::size_t full = registry.usage().bytes;
  EXPECT_EQ(4000u, registry.usage().regions);
  for (const jit::Region region : regions) ASSERT_TRUE(registry.remove(region));
  EXPECT_EQ(4000u, registry.collect());
  EXPECT_EQ(0u, registry.usage().to_be_freed); // nobody reads
  EXPECT_LT(registry.usage().bytes, 1000u);
  // Code that comes and goes at always the same or other places, with 10 regions at a time.
  std::size_t most = 0;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    regions[i % 10] = *registry.add({at(0x1000 + i * 7 % 5000 * 0x10), "name"}, rows);
    if (i < 9) continue;
    ASSERT_TRUE(registry.remove(regions[(i + 1) % 10]));
    if (i % 16 == 0) registry.collect();
    const jit::Registry::Usage usage = registry.usage();
    most = std::max(most, usage.bytes + usage.to_be_freed);
  }
  EXPECT_LT(most, full / 2);
}

TEST(JitRegistry, OutOfMemoryChangesNothing) {
  jit::Registry registry;
  const auto rows = rows_of(0x10, 24), others = rows_of(0x10, 32);
  const auto old = registry.add({at(0x1000), "old"}, rows).value();
  const auto other = registry.add({at(0x1010), "old"}, rows).value();
  ASSERT_TRUE(registry.remove(other));
  const auto expect_as_before = [&] {
    EXPECT_EQ(24, cfa_at(0x1000));
    EXPECT_EQ(24, cfa_at(0x1010));
    EXPECT_EQ(0, cfa_at(0x1020));
    EXPECT_EQ(1u, registry.usage().regions);
  };
  const int needed = sframe::test::with_little_memory([&] {
    const auto added = registry.add({at(0x1018), "a name"}, others); // over what was removed
    sframe::test::limit_allocations(std::nullopt);
    if (added) return true;
    EXPECT_EQ(ErrorKind::out_of_memory, added.error().kind);
    expect_as_before();
    return false;
  });
  EXPECT_GT(needed, 3);
  EXPECT_EQ(0, cfa_at(0x1010));
  EXPECT_EQ(32, cfa_at(0x1027));
  EXPECT_GT(sframe::test::with_little_memory([&] {
              const auto moved = registry.move(old, at(0x2000));
              return moved.has_value();
            }),
            3);
  EXPECT_EQ(24, cfa_at(0x1000));
  EXPECT_EQ(24, cfa_at(0x2000));
  sframe::test::with_little_memory([&] { return registry.drop(old).has_value(); });
  EXPECT_EQ(0, cfa_at(0x1000));
  EXPECT_EQ(24, cfa_at(0x2000));
  EXPECT_GT(sframe::test::with_little_memory([] {
              const FrameRow row = {0, Rule::value(abi().sp, 16), Rule::at_cfa(-8), Rule::same(), false};
              return jit::Rows::make({.size = 4}, std::span(&row, 1)).has_value();
            }),
            1);
}

/// Readers look up while two threads add, patch, move and remove. The rows at an address are always those of
/// the place, or there are none.
TEST(JitRegistry, ReadersSeeTheRightRowOrNoneWhileOthersWrite) {
  jit::Registry registry;
  constexpr std::uint64_t places = 64, size = 0x20;
  const auto start_of = [](std::uint64_t thread, std::uint64_t place) {
    return 0x10000 * (thread + 1) + place * size;
  };
  // CFA offsets: 8 * (1 + place), or 8 * (1001 + place) after a patch.
  const auto rows_for = [](std::uint64_t place, std::uint64_t more) {
    return rows_of(size, static_cast<std::int32_t>(8 * (1 + place + more)));
  };
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> hits = 0, wrong = 0;
  const auto write = [&](std::uint64_t thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    std::vector<std::optional<jit::Region>> regions(places);
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t place = random() % places;
      if (!regions[place]) {
        regions[place] = registry.add({at(start_of(thread, place)), "name"}, rows_for(place, 0)).value();
      } else if (random() % 2) {
        ASSERT_TRUE(registry.patch(*regions[place], rows_for(place, 1000)));
      } else {
        ASSERT_TRUE(random() % 2 ? registry.remove(*regions[place]) : registry.drop(*regions[place]));
        regions[place].reset();
      }
      if (i % 32 == 0) registry.collect();
    }
  };
  const auto read = [&] {
    std::mt19937 random(7);
    std::uint64_t found = 0;
    do {
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t place = random() % places;
        const auto cfa = static_cast<std::uint64_t>(cfa_at(start_of(random() % 2, place) + random() % size));
        found += cfa != 0;
        wrong += cfa != 0 && cfa != 8 * (1 + place) && cfa != 8 * (1001 + place);
      }
    } while (!done);
    hits += found;
  };
  std::vector<std::thread> readers, writers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  for (std::uint64_t i = 0; i < 2; ++i) writers.emplace_back(write, i);
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(0u, wrong);
  EXPECT_GT(hits, 0u);
}

} // namespace jit_registry_test
