// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call frame information in fewer bytes: hand-assembled sections, the bytes that the encoding must have
// (counted by hand), and tables that the proof must refuse. The CIE of all tests is that of AMD64 compilers:
// "zR", code alignment 1, data alignment -8, CFA = r7 + 8, RA (r16) at CFA - 8.

#include "cfi_assembler.h"
#include "sframe/shrink/compare.h"
#include "sframe/shrink/shrink.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <vector>

namespace shrink_plan_test {

using namespace sframe;
using test::Bytes;
using test::CfiAssembler;

constexpr std::uint64_t address = 0x400000, new_address = 0x300000, header_address = 0x2f0000;

Bytes code(std::initializer_list<int> instructions) {
  return Bytes().raw(instructions);
}

/// A section in the making, with one CIE.
class Section {
public:
  explicit Section(std::string_view letters = "zR", const Bytes& more_initial = Bytes()) : letters_(letters) {
    Bytes body = assembler_.body();
    body.u8(1).text(letters).uleb(1).sleb(-8).u8(16);
    const bool has_lsda = letters.find('L') != std::string_view::npos;
    const bool has_personality = letters.find('P') != std::string_view::npos;
    body.uleb((has_lsda ? 2u : 1u) + (has_personality ? 5u : 0u));
    if (has_personality) body.u8(3).u32(0x500000); // udata4
    if (has_lsda) body.u8(0x1b);
    body.u8(0x1b).raw({0x0c, 7, 8, 0x90, 1}).append(more_initial);
    cie_ = assembler_.cie(body);
  }

  Section& function(std::uint64_t start, std::uint64_t size, const Bytes& instructions,
                    std::uint64_t lsda = 0) {
    Bytes body = assembler_.body();
    std::uint64_t place = address + assembler_.next_body();
    body.u32(start - place).u32(size);
    if (letters_.find('L') != std::string_view::npos) {
      body.uleb(4);
      place += body.size();
      body.u32(lsda == 0 ? 0 : lsda - place);
    } else {
      body.uleb(0);
    }
    assembler_.fde(cie_, body.append(instructions));
    return *this;
  }

  cfi::CfiSection get() {
    if (!ended_) assembler_.terminator();
    ended_ = true;
    return assembler_.section(Abi::amd64, address);
  }

private:
  std::string_view letters_;
  CfiAssembler assembler_;
  std::size_t cie_ = 0;
  bool ended_ = false;
};

struct Made {
  std::vector<cfi::Fde> fdes; ///< views of `tables`
  std::uint64_t copied = 0;
  shrink::Tables tables;

  std::vector<int> instructions(std::size_t number) const {
    std::vector<int> out;
    for (const std::byte byte : fdes.at(number).instructions) out.push_back(std::to_integer<int>(byte));
    return out;
  }
};

cfi::CfiSection section_of(const shrink::Tables& tables) {
  return {cfi::SectionKind::eh_frame, tables.eh_frame, new_address, traits(Abi::amd64)};
}

/// Makes the new tables and requires that they are proved.
Made make(const cfi::CfiSection& before, const shrink::Options& options = {}) {
  Made made;
  const auto plan = shrink::Plan::make(before, options);
  EXPECT_TRUE(plan) << plan.error().text();
  if (!plan) return made;
  made.tables = plan->write(new_address, header_address).value();
  made.copied = plan->copied();
  EXPECT_EQ(made.tables.eh_frame.size(), plan->eh_frame_size());
  EXPECT_EQ(made.tables.eh_frame_hdr.size(), plan->eh_frame_hdr_size());
  const cfi::CfiSection after = section_of(made.tables);
  const auto same = shrink::compare(before, {after, made.tables.eh_frame_hdr, header_address},
                                    {.is_padding = options.is_padding, .loose = options.loose});
  EXPECT_TRUE(same) << same.error().text();
  for (auto fdes = after.fdes();;) {
    const auto fde = fdes.next();
    if (!fde || !*fde) break;
    made.fdes.push_back(**fde);
  }
  EXPECT_EQ(made.fdes.size(), plan->fdes());
  return made;
}

std::string why_not(const cfi::CfiSection& section) {
  const auto plan = shrink::Plan::make(section, {});
  return plan ? "" : plan.error().what;
}

/// push %rbx; ...; pop %rbx; ret
Bytes saves_rbx() {
  return code({0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8});
}

/// Options with these ranges free in every function.
shrink::Options loose_at(std::vector<AddressRange> ranges) {
  return {.loose = [ranges = std::move(ranges)](const AddressRange&) { return std::span(ranges); }};
}

TEST(ShrinkPlan, StatesWithoutSitesAreLeftOut) {
  Section section;
  section.function(0x1000, 16, saves_rbx());
  const auto all = section.get();
  // After the pop: sp+16 stays.
  const Made without_last = make(all, loose_at({{0x1007, 9}}));
  EXPECT_EQ(without_last.instructions(0), (std::vector<int>{0x41, 0x0e, 16, 0x83, 2}));
  // The first two addresses after the push, and the first after the pop: at the last of them.
  const Made later = make(all, loose_at({{0x1001, 2}, {0x1007, 1}}));
  EXPECT_EQ(later.instructions(0), (std::vector<int>{0x42, 0x0e, 16, 0x83, 2, 0x45, 0x0e, 8}));
  // All between the push and the pop: what differs then is where rbx is.
  EXPECT_EQ(make(all, loose_at({{0x1001, 6}})).instructions(0), (std::vector<int>{0x47, 0x83, 2}));

  const auto why = [&](const shrink::CompareOptions& options) {
    const auto same = shrink::compare(
        all, {section_of(without_last.tables), without_last.tables.eh_frame_hdr, header_address}, options);
    return same ? "" : same.error().what;
  };
  EXPECT_EQ(why({}), "other rules at 0x1007");
  EXPECT_EQ(why({.loose = loose_at({{0x1007, 4}}).loose}), "other rules at 0x100b");
  EXPECT_EQ(why({.loose = loose_at({{0x1008, 8}}).loose}), "other rules at 0x1007");
}

TEST(ShrinkPlan, TheAddressesWithOtherRulesAreListed) {
  Section section;
  section.function(0x1000, 16, saves_rbx());
  const auto all = section.get();
  const Made made = make(all, loose_at({{0x1001, 2}, {0x1007, 9}}));
  const auto same =
      shrink::compare(all, {section_of(made.tables), made.tables.eh_frame_hdr, header_address},
                      {.loose = loose_at({{0x1001, 2}, {0x1007, 9}}).loose, .level = shrink::Level::sync});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->level, shrink::Level::sync);
  EXPECT_EQ(std::vector(same->different.ranges().begin(), same->different.ranges().end()),
            (std::vector<AddressRange>{{0x1001, 1}, {0x1007, 9}}));
}

TEST(ShrinkPlan, OnlyPlainStatesAreLeftOut) {
  for (const auto& instructions : {code({0x41, 0x0f, 2, 0x77, 8, 0x46, 0x0c, 7, 8}),  // an expression
                                   code({0x41, 0x0c, 10, 0, 0x46, 0x0c, 7, 8}),       // CFA = r10
                                   code({0x41, 0x0e, 16, 0x90, 2, 0x46, 0x0e, 8})}) { // RA elsewhere
    Section section;
    section.function(0x1000, 16, instructions);
    const auto all = section.get();
    EXPECT_EQ(make(all, loose_at({{0x1001, 2}, {0x1007, 9}})).instructions(0), make(all).instructions(0));
  }
  Section signal("zRS");
  signal.function(0x1000, 16, saves_rbx());
  const auto all = signal.get();
  EXPECT_EQ(make(all, loose_at({{0x1007, 9}})).instructions(0), make(all).instructions(0));
}

TEST(ShrinkPlan, JoinsNeighboursAndRestoresTheState) {
  Section section;
  section.function(0x1000, 8, saves_rbx()).function(0x1008, 8, saves_rbx());
  const Made made = make(section.get());
  ASSERT_EQ(made.fdes.size(), 1u);
  EXPECT_EQ(made.fdes[0].start, 0x1000u);
  EXPECT_EQ(made.fdes[0].size, 16u);
  // At g+0 only the rule of rbx (r3) goes: one byte. What g+1 has is what f+1 had: remembered (one byte) and
  // restored (one byte) there, in place of four.
  EXPECT_EQ(made.instructions(0), (std::vector<int>{0x41, 0x0e, 16, 0x83, 2, 0x0a, 0x46, 0x0e, 8, //
                                                    0x41, 0xc3, 0x41, 0x0b, 0x46, 0x0e, 8}));
}

TEST(ShrinkPlan, RemembersWhatIsCheaperThanAList) {
  // Five registers: to undo them takes five bytes and two for the CFA, to remember and restore two.
  const Bytes saves = code({0x41, 0x0e, 48, 0x83, 6, 0x86, 5, 0x8c, 4, 0x8d, 3, 0x8e, 2});
  Section section;
  section.function(0x1000, 8, saves).function(0x1008, 8, code({}));
  const Made made = make(section.get());
  ASSERT_EQ(made.fdes.size(), 1u);
  EXPECT_EQ(made.instructions(0), (std::vector<int>{0x0a, 0x41, 0x0e, 48, 0x83, 6, 0x86, 5, 0x8c, 4, 0x8d, 3,
                                                    0x8e, 2, 0x47, 0x0b}));
}

TEST(ShrinkPlan, JoinsOverPaddingOnly) {
  Section section;
  section.function(0x1000, 8, saves_rbx()).function(0x1010, 8, saves_rbx());
  EXPECT_EQ(make(section.get()).fdes.size(), 2u);
  shrink::Options options;
  options.is_padding = [](const AddressRange& range) { return range == AddressRange{0x1008, 8}; };
  EXPECT_EQ(make(section.get(), options).fdes.size(), 1u);
  options.join = false;
  EXPECT_EQ(make(section.get(), options).fdes.size(), 2u);
}

TEST(ShrinkPlan, ObeysTheCap) {
  Section section;
  for (unsigned i = 0; i < 16; ++i) section.function(0x1000 + 8 * i, 8, saves_rbx());
  shrink::Options options;
  options.max_cfi_bytes = 40; // 9 for the first one, 8 for each further one, 7 for the last: five in 40
  const Made made = make(section.get(), options);
  EXPECT_EQ(made.fdes.size(), 4u);
  for (const cfi::Fde& fde : made.fdes) EXPECT_LE(fde.instructions.size(), 40u);
  options.max_cfi_bytes = 4; // a function alone may have more
  EXPECT_EQ(make(section.get(), options).fdes.size(), 16u);
}

TEST(ShrinkPlan, HasAnotherCapWithoutPersonalityRoutines) {
  shrink::Options options;
  options.max_cfi_bytes = 4;
  options.max_plain_cfi_bytes = 40;
  for (const char* augmentation : {"zR", "zPR"}) {
    Section section(augmentation);
    for (unsigned i = 0; i < 16; ++i) section.function(0x1000 + 8 * i, 8, saves_rbx());
    EXPECT_EQ(make(section.get(), options).fdes.size(), *(augmentation + 1) == 'P' ? 16u : 4u);
  }
}

TEST(ShrinkPlan, KeepsFunctionsWithExceptionTablesAlone) {
  Section section("zLR");
  section.function(0x1000, 8, saves_rbx(), 0x500000).function(0x1008, 8, saves_rbx());
  section.function(0x1010, 8, saves_rbx());
  const Made made = make(section.get());
  ASSERT_EQ(made.fdes.size(), 2u);
  ASSERT_TRUE(made.fdes[0].lsda);
  EXPECT_EQ(made.fdes[0].lsda->value, 0x500000u);
  EXPECT_FALSE(made.fdes[1].lsda);
  EXPECT_EQ(made.fdes[1].size, 16u);
}

TEST(ShrinkPlan, KeepsSignalFramesAlone) {
  Section section("zRS");
  section.function(0x1000, 8, code({})).function(0x1008, 8, code({}));
  EXPECT_EQ(make(section.get()).fdes.size(), 2u);
}

TEST(ShrinkPlan, CopiesWhatIsNotUnderstood) {
  Section section;
  section.function(0x1000, 8, code({0x41, 0x2e, 16, 0x0e, 16})); // DW_CFA_GNU_args_size
  section.function(0x1008, 8, code({0x41, 0xd0}));               // restore of RA, which has a rule in the CIE
  section.function(0x1010, 8, code({0x0f, 3, 0x77, 8, 0x06, 0x0e, 8})); // an offset under an expression
  section.function(0x1018, 8, code({0x41, 0x0e, 16, 0x0a, 0x0a, 0x0b, 0x0b, 0x41, 0x0b})); // no state left
  const Made made = make(section.get());
  ASSERT_EQ(made.fdes.size(), 4u);
  EXPECT_EQ(made.copied, 4u);
  EXPECT_EQ(made.instructions(0), (std::vector<int>{0x41, 0x2e, 16, 0x0e, 16}));
  EXPECT_EQ(made.instructions(1), (std::vector<int>{0x41, 0xd0}));
}

TEST(ShrinkPlan, KeepsExpressions) {
  Section section;
  const Bytes drap =
      code({0x41, 0x0c, 10, 0, 0x44, 0x10, 6,    2,    0x76, 0, 0x44, 0x0f, 3, 0x76, 0x78, 6, //
            0x44, 0x16, 3,  2, 0x76, 8,    0x44, 0x0c, 7,    8});
  section.function(0x1000, 32, drap).function(0x1020, 32, drap);
  EXPECT_EQ(make(section.get()).fdes.size(), 1u);
}

TEST(ShrinkPlan, AlignsEntries) {
  Section section;
  section.function(0x1000, 8, saves_rbx()).function(0x1010, 8, code({0x41, 0x0e, 16}));
  shrink::Options options;
  options.alignment = 4;
  const Made made = make(section.get(), options);
  for (const cfi::Fde& fde : made.fdes) EXPECT_EQ(fde.offset % 4, 0u);
}

TEST(ShrinkPlan, RefusesWhatWouldBeLost) {
  Section overlap;
  overlap.function(0x1000, 8, code({})).function(0x1007, 8, code({}));
  EXPECT_EQ(why_not(overlap.get()), "FDEs overlap");
  Section empty;
  empty.function(0x1000, 0, code({}));
  EXPECT_EQ(why_not(empty.get()), "FDE of no address");
  Section unknown;
  unknown.function(0x1000, 8, code({0x3f}));
  EXPECT_EQ(why_not(unknown.get()), "DW_CFA_set_loc, or an unknown instruction");
  EXPECT_EQ(why_not(Section().get()), "no FDE");
}

/// Why `after` is not a table for what `before` says.
std::string difference(Section& before, Section& after) {
  const Made made = make(after.get());
  const auto same =
      shrink::compare(before.get(), {section_of(made.tables), made.tables.eh_frame_hdr, header_address}, {});
  return same ? "" : same.error().what;
}

TEST(ShrinkCompare, FindsEachDifference) {
  Section before;
  before.function(0x1000, 8, saves_rbx()).function(0x1008, 8, saves_rbx());
  const auto with = [&](std::uint64_t start, std::uint64_t size, const Bytes& instructions) {
    Section other;
    other.function(start, size, instructions).function(0x1008, 8, saves_rbx());
    return difference(before, other);
  };
  EXPECT_EQ(with(0x1000, 8, saves_rbx()), "");
  EXPECT_EQ(with(0x1001, 7, saves_rbx()), "no FDE any more at 0x1000");
  EXPECT_EQ(with(0x1000, 7, saves_rbx()), "an FDE with other bounds at 0x1000");
  EXPECT_EQ(with(0x1000, 8, code({0x42, 0x0e, 16, 0x83, 2, 0x45, 0x0e, 8})), "other rules at 0x1001");
  EXPECT_EQ(with(0x1000, 8, code({0x41, 0x0e, 16, 0x83, 3, 0x46, 0x0e, 8})), "other rules at 0x1001");
  EXPECT_EQ(with(0x1000, 8, code({0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8, 0x2e, 8})),
            "other rules at 0x1007");
  Section signal("zRS");
  signal.function(0x1000, 8, saves_rbx()).function(0x1008, 8, saves_rbx());
  EXPECT_EQ(difference(before, signal), "another CIE at 0x1000");
}

// A first version of the encoder put rules into the CIE and restored registers: DWARF restores the CIE's
// rule, libgcc none.
TEST(ShrinkCompare, TriesBothMeaningsOfRestore) {
  Section before;
  before.function(0x1000, 8, code({0x41, 0x83, 2, 0x41, 0xc3}));
  Section after("zR", code({0x83, 2}));
  after.function(0x1000, 8, code({0x08, 3, 0x41, 0x83, 2, 0x41, 0xc3}));
  EXPECT_NE(difference(before, after), "");
  // With the rule at all addresses, DWARF's meaning changes nothing at the end, and libgcc's does.
  Section always;
  always.function(0x1000, 8, code({0x83, 2}));
  Section restored("zR", code({0x83, 2}));
  restored.function(0x1000, 8, code({0x41, 0xc3}));
  EXPECT_EQ(difference(always, restored), "other rules at 0x1001");
}

TEST(ShrinkCompare, ChecksTheSearchTable) {
  Section section;
  section.function(0x1000, 8, saves_rbx()).function(0x1010, 8, saves_rbx());
  Made made = make(section.get());
  const auto why = [&] {
    const auto same = shrink::compare(
        section.get(), {section_of(made.tables), made.tables.eh_frame_hdr, header_address}, {});
    return same ? "" : same.error().what;
  };
  ASSERT_EQ(made.tables.eh_frame_hdr.size(), 12u + 2 * 8);
  auto& header = made.tables.eh_frame_hdr;
  std::swap_ranges(header.begin() + 12, header.begin() + 20, header.begin() + 20);
  EXPECT_EQ(why(), "entry 0 is not that of the FDE for 0x1000");
  std::swap_ranges(header.begin() + 12, header.begin() + 20, header.begin() + 20);
  header[8] = std::byte(1);
  EXPECT_EQ(why(), "another number of FDEs");
}

} // namespace shrink_plan_test
