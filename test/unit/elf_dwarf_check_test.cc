// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reading debug information costs, by llvm_dwarf_check.cc: 4 Mi steps, and 8 for each byte of the file.
// The layouts are those of DWARF 4 and 5, section 7.

#include "elf_builder.h"

#include <sframe/elf/llvm_dwarf.h>
#include <sframe/elf/llvm_dwarf_check.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::elf {
namespace elf_dwarf_check_test {

using Bytes = std::vector<std::byte>;
using test::Writer;

constexpr std::uint64_t all_steps = std::uint64_t{4} << 20;

/// A file with one unit.
class OneUnit {
public:
  /// `abbreviations`, without their end, and `entries`; the other sections by their names.
  OneUnit(unsigned version, const Bytes& abbreviations, const Bytes& entries,
          const std::map<std::string, Bytes>& others = {}) {
    test::TestElf file{.type = et_exec};
    Writer unit;
    unit.u16(version);
    version < 5 ? unit.u32(0).number(8, 1) : unit.number(1, 1).number(8, 1).u32(0);
    unit.append(entries);
    const auto add = [&](const std::string& name, const Bytes& bytes) {
      file.sections.push_back({name, sht_progbits, 0, 0, bytes});
    };
    add(".debug_info", Writer().u32(unit.bytes.size()).append(unit.bytes).bytes);
    add(".debug_abbrev", Writer().append(abbreviations).zeros(1).bytes);
    for (const auto& [name, bytes] : others) add(name, bytes);
    bytes_ = file.build();
    dwarf_ = LlvmDwarf::open(bytes_, LlvmDwarf::Relocations::Ignore);
  }

  llvm::DWARFContext& context() { return dwarf_->context(); }
  llvm::DWARFUnit& unit() { return *context().compile_units().begin()->get(); }
  bool take_list(DebugCheck& check, std::uint64_t offset) {
    return check.can_read_ranges(
        unit(), llvm::DWARFFormValue::createFromUValue(llvm::dwarf::DW_FORM_sec_offset, offset));
  }
  /// What `check` has left, in units of the list at `offset`.
  std::uint64_t lists_left(DebugCheck& check, std::uint64_t offset) {
    std::uint64_t count = 0;
    while (take_list(check, offset)) ++count;
    return count;
  }

private:
  Bytes bytes_;
  std::unique_ptr<LlvmDwarf> dwarf_;
};

/// A compile unit without children, whose attributes follow.
Writer unit_abbreviation() {
  return Writer().number(1, 1).number(0x11, 1).number(0, 1);
}

const Bytes& nothing() {
  static const Bytes bytes = unit_abbreviation().zeros(2).bytes;
  return bytes;
}

const Bytes one_entry{std::byte{1}};

/// .debug_ranges: a list of 8, and one of 1000 at the offset of its end.
Bytes old_lists() {
  Writer lists;
  for (const int count : {8, 1000}) {
    for (int i = 0; i < count; ++i) lists.u64(1).u64(2);
    lists.u64(0).u64(0);
  }
  return lists.bytes;
}
constexpr std::uint64_t old_list_steps = 8 * 8, long_list = 9 * 16;

TEST(ElfDwarfCheck, RangesCost) {
  OneUnit file(4, nothing(), one_entry, {{".debug_ranges", old_lists()}});
  DebugCheck check(file.context(), 0, false);
  EXPECT_EQ(file.lists_left(check, 0), all_steps / old_list_steps);
  EXPECT_FALSE(file.take_list(check, 0)) << "nothing is left";
  DebugCheck larger(file.context(), 1000, false);
  EXPECT_TRUE(file.take_list(larger, long_list));
  EXPECT_EQ(file.lists_left(larger, 0), all_steps / old_list_steps)
      << "8,000 more, of which 1,000 ranges took 8 each";
  DebugCheck unlimited(file.context(), 0, true);
  for (std::uint64_t i = 0; i <= all_steps / 8000; ++i) ASSERT_TRUE(file.take_list(unlimited, long_list));
}

// Images in memory, of which there may be many, also take from a budget that they share.
TEST(ElfDwarfCheck, ABudgetIsShared) {
  OneUnit file(4, nothing(), one_entry, {{".debug_ranges", old_lists()}});
  Budget budget(Limits::standard, 0);
  ASSERT_TRUE(budget.take(Resource::debug_steps, budget.left(Resource::debug_steps) - 4 * old_list_steps));
  DebugCheck first(file.context(), 0, false, &budget), second(file.context(), 0, false, &budget);
  EXPECT_TRUE(file.take_list(first, 0));
  EXPECT_EQ(budget.left(Resource::debug_steps), 2 * old_list_steps);
  EXPECT_TRUE(file.take_list(second, 0));
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_FALSE(file.take_list(first, 0));
  EXPECT_TRUE(budget.is_used_up(Resource::debug_steps));
}

// A list that does not end takes what there is; pairs of which one is 0 are no end.
TEST(ElfDwarfCheck, ListsWithoutAnEnd) {
  Writer lists;
  for (int i = 0; i < 8; ++i) lists.u64(1).u64(2);
  lists.u64(0).u64(0);
  for (int i = 0; i < 8; ++i) lists.u64(i % 2).u64(1 - i % 2);
  OneUnit file(4, nothing(), one_entry, {{".debug_ranges", lists.bytes}});
  DebugCheck check(file.context(), 8, false);
  EXPECT_TRUE(file.take_list(check, long_list));
  EXPECT_EQ(file.lists_left(check, 0), all_steps / old_list_steps);
  DebugCheck outside(file.context(), 0, false);
  EXPECT_TRUE(file.take_list(outside, 1 << 20));
  EXPECT_EQ(file.lists_left(outside, 0), all_steps / old_list_steps);
}

// Each kind of entry in a list of DWARF 5 (7.25), with operands of 0, which would end it.
TEST(ElfDwarfCheck, NewListsCost) {
  Writer lists;
  for (int i = 0; i < 7; ++i) lists.number(4, 1).zeros(2);
  lists.zeros(1);
  const std::uint64_t each = lists.bytes.size();
  const int operands[] = {1, 2, 2, 2, 8, 16, 9};
  for (std::uint64_t kind = 1; kind <= 7; ++kind) lists.number(kind, 1).zeros(operands[kind - 1]);
  lists.zeros(1);
  const std::uint64_t unknown = lists.bytes.size();
  lists.number(8, 1).number(4, 1).zeros(2);
  OneUnit file(5, nothing(), one_entry, {{".debug_rnglists", lists.bytes}});
  constexpr std::uint64_t steps = 8 * 8; // 7 entries and the end
  for (const std::uint64_t list : {std::uint64_t{0}, each}) {
    DebugCheck check(file.context(), 0, false);
    EXPECT_EQ(file.lists_left(check, list), all_steps / steps);
  }
  DebugCheck check(file.context(), 0, false);
  EXPECT_EQ(file.lists_left(check, unknown), all_steps / 8);
}

// A list is not read further than what is left allows, and then refused.
TEST(ElfDwarfCheck, ListsThatAreTooLong) {
  Writer lists;
  for (const int count : {7, 100}) {
    for (int i = 0; i < count; ++i) lists.number(4, 1).zeros(2);
    lists.zeros(1);
  }
  OneUnit recent(5, nothing(), one_entry, {{".debug_rnglists", lists.bytes}});
  OneUnit old(4, nothing(), one_entry, {{".debug_ranges", old_lists()}});
  for (OneUnit* const file : {&recent, &old}) {
    const bool is_old = file == &old;
    const std::uint64_t first = is_old ? long_list : 7 * 3 + 1; // and later ones: 16 are left, and 17
    const std::uint64_t sixteen = first + (is_old ? (1000 - 16) * 16 : (100 - 15) * 3);
    const std::uint64_t entry = is_old ? 16 : 3;
    for (const std::uint64_t list : {first, sixteen - entry, sixteen}) {
      DebugCheck check(file->context(), 0, false);
      for (std::uint64_t i = 2; i < all_steps / 64; ++i) ASSERT_TRUE(file->take_list(check, 0));
      EXPECT_EQ(file->take_list(check, list), list == sixteen) << "128 steps are left";
      EXPECT_FALSE(file->take_list(check, 0));
    }
  }
}

// 16 for each abbreviation and 4 for each attribute, once; a search through all of them for 32 bytes of a
// unit where their codes do not follow one another.
TEST(ElfDwarfCheck, AbbreviationsCost) {
  for (const bool in_order : {true, false}) {
    Writer abbreviations = unit_abbreviation();
    abbreviations.zeros(2);
    for (std::uint64_t code = 2; code <= 100; ++code) {
      const bool is_last = code == 100 && !in_order;
      abbreviations.number(is_last ? 101 : code, 1).number(0x34, 1).number(0, 1);
      for (int i = 0; i < 3; ++i) abbreviations.number(3, 1).number(0xb, 1);
      abbreviations.zeros(2);
    }
    const std::uint64_t attributes = 99 * 3, search = in_order ? 0 : (320 / 32) * 100;
    OneUnit file(4, abbreviations.bytes, Writer().number(1, 1).zeros(320 - 8).bytes,
                 {{".debug_ranges", old_lists()}});
    EXPECT_EQ(file.unit().getLength(), 320u);
    const std::uint64_t steps = 100 * 16 + attributes * 4 + search;
    EXPECT_EQ(steps % 4, 0u);
    DebugCheck check(file.context(), 0, false);
    EXPECT_TRUE(check.can_read(file.unit()));
    EXPECT_TRUE(check.can_read(file.unit()));
    EXPECT_EQ(file.lists_left(check, 0), (all_steps - steps) / old_list_steps);
    // To a step: the file's size gives back 8 for each byte.
    const std::uint64_t rest = (all_steps - steps) % old_list_steps;
    DebugCheck more(file.context(), (old_list_steps - rest + 7) / 8, false);
    EXPECT_TRUE(more.can_read(file.unit()));
    EXPECT_EQ(file.lists_left(more, 0), (all_steps - steps) / old_list_steps + 1);
  }
}

// Three for each byte of a unit, once.
TEST(ElfDwarfCheck, EntriesCost) {
  OneUnit file(4, nothing(), Writer().number(1, 1).zeros(64 * 10 - 8).bytes,
               {{".debug_ranges", old_lists()}});
  const std::uint64_t steps = 16 + 3 * 64 * 10;
  DebugCheck check(file.context(), 2, false); // 16 steps more
  EXPECT_TRUE(check.can_list(file.unit()));
  EXPECT_TRUE(check.can_list(file.unit()));
  EXPECT_EQ(file.lists_left(check, 0), (all_steps + 16 - steps) / old_list_steps);
}

/// A line table of a unit that has nothing else.
class Lines {
public:
  explicit Lines(const Bytes& table, bool longer = false)
      : file_(4, unit_abbreviation().number(0x10, 1).number(0x17, 1).zeros(2).bytes,
              Writer().number(1, 1).u32(0).bytes,
              {{".debug_ranges", old_lists()}, {".debug_line", with_length(table, longer)}}) {}

  /// False if nothing is left for it.
  bool is_read_in_the_end() {
    DebugCheck check(file_.context(), 0, false);
    EXPECT_TRUE(check.can_read(file_.unit()));
    (void)file_.lists_left(check, 0);
    return check.can_read_lines(file_.unit());
  }

  /// What it costs, as rounded() gives it; nothing if it is refused.
  std::optional<std::uint64_t> cost() {
    constexpr std::uint64_t abbreviation = 16 + 4;
    DebugCheck check(file_.context(), 0, false);
    if (!check.can_read_lines(file_.unit())) return std::nullopt;
    EXPECT_TRUE(check.can_read_lines(file_.unit()));
    return all_steps - abbreviation - file_.lists_left(check, 0) * old_list_steps;
  }

private:
  static Bytes with_length(const Bytes& table, bool longer) {
    Writer all;
    longer ? all.u32(0xffffffff).u64(table.size()) : all.u32(table.size());
    return all.append(table).bytes;
  }
  OneUnit file_;
};

/// What lists_left() rounds away.
std::uint64_t rounded(std::uint64_t steps) {
  constexpr std::uint64_t abbreviation = 16 + 4;
  return all_steps - abbreviation - (all_steps - abbreviation - steps) / old_list_steps * old_list_steps;
}

/// The header of a table of DWARF 5 (6.2.4) up to the formats of folders, with 9 standard opcodes.
Writer lines_header(bool longer) {
  Writer table;
  table.u16(5).number(8, 1).number(0, 1).number(longer ? 1 : 0, 1).zeros(longer ? 7 : 3); // header_length
  table.number(1, 1).number(1, 1).number(1, 1).number(0xfb, 1).number(14, 1).number(10, 1);
  for (const int operands : {0, 1, 1, 1, 1, 0, 0, 0, 1})
    table.number(static_cast<std::uint64_t>(operands), 1);
  return table;
}

// 4 for each byte.
TEST(ElfDwarfCheck, LinesCost) {
  for (const std::size_t size : {1600, 3200}) {
    Writer table;
    table.u16(4).zeros(size - 2);
    EXPECT_EQ(Lines(table.bytes).cost(), rounded(4 * size));
    EXPECT_EQ(Lines(table.bytes, true).cost(), rounded(4 * size));
    EXPECT_FALSE(Lines(table.bytes).is_read_in_the_end());
  }
}

// In DWARF 5, 14 for each folder and each file in addition.
TEST(ElfDwarfCheck, FilesOfLinesCost) {
  for (const bool longer : {false, true}) {
    Writer table = lines_header(longer);
    table.number(1, 1).number(1, 1).number(0xb, 1).number(100, 1).append(Bytes(100)); // a byte each
    table.number(2, 1).number(1, 1).number(0xb, 1).number(2, 1).number(0x19, 1); // and a flag without bytes
    table.number(0x80 | 72, 1).number(1, 1).append(Bytes(200)).number(0xff, 1);  // and the program
    EXPECT_EQ(Lines(table.bytes, longer).cost(), rounded(4 * table.bytes.size() + 14 * (100 + 200)));
    table.bytes.resize(table.bytes.size() - 151); // the header claims more than there are
    EXPECT_EQ(Lines(table.bytes, longer).cost(), rounded(4 * table.bytes.size() + 14 * (100 + 50)));
  }
}

// Entries without bytes could be any number; LLVM reads at most 8 formats of real ones.
TEST(ElfDwarfCheck, TablesOfFilesThatAreRefused) {
  const auto is_read = [](unsigned formats, int form, int entries) {
    Writer table = lines_header(false);
    table.number(0, 1).number(0, 1).number(formats, 1);
    for (unsigned i = 0; i < formats; ++i) table.number(1, 1).number(static_cast<std::uint64_t>(form), 1);
    return Lines(table.number(static_cast<std::uint64_t>(entries), 1).bytes).cost().has_value();
  };
  EXPECT_TRUE(is_read(8, 0xb, 0));
  EXPECT_FALSE(is_read(9, 0xb, 0));
  EXPECT_TRUE(is_read(1, 0x19, 0)); // flag_present
  EXPECT_FALSE(is_read(1, 0x19, 1));
  EXPECT_FALSE(is_read(1, 0x21, 1)); // implicit_const
  EXPECT_FALSE(is_read(0, 0, 1));
  EXPECT_TRUE(is_read(1, 0xb, 1)); // cut
}

// The first entries of units that .debug_aranges lacks are read, with their lists.
TEST(ElfDwarfCheck, UnitsWithoutRanges) {
  Writer ranges;
  ranges.u32(44).u16(2).u32(0).number(8, 1).number(0, 1).u32(0).u64(0x1000).u64(0x100).u64(0).u64(0);
  const Bytes abbreviation = unit_abbreviation().number(0x55, 1).number(0x17, 1).zeros(2).bytes;
  const Bytes entry = Writer().number(1, 1).u32(long_list).bytes;
  for (const bool known : {false, true}) {
    OneUnit file(4, abbreviation, entry,
                 {{".debug_ranges", old_lists()}, {".debug_aranges", known ? ranges.bytes : Bytes()}});
    DebugCheck check(file.context(), 0, false);
    EXPECT_TRUE(check.can_find_units());
    EXPECT_TRUE(check.can_find_units());
    const std::uint64_t steps = known ? 0 : 16 + 4 + 8 * 1000;
    EXPECT_EQ(file.lists_left(check, 0), (all_steps - steps) / old_list_steps);
    EXPECT_TRUE(check.can_find_units());
    DebugCheck poor(file.context(), 0, false);
    (void)file.lists_left(poor, 0);
    EXPECT_EQ(poor.can_find_units(), known);
    EXPECT_EQ(poor.can_find_units(), known);
  }
}

/// A unit of a .dwo file, in the same file as its skeleton.
Bytes split_unit(unsigned version) {
  Writer unit;
  unit.u16(version);
  version < 5 ? unit.u32(0).number(8, 1) : unit.number(5, 1).number(8, 1).u32(0).u64(0x1234);
  unit.append(one_entry);
  return Writer().u32(unit.bytes.size()).append(unit.bytes).bytes;
}

// LLVM reads the lists of split units of DWARF 4 in the program, from where the skeleton says; those of
// DWARF 5 are beside the unit.
TEST(ElfDwarfCheck, ListsOfSplitUnits) {
  constexpr std::uint64_t base = 16; // the second pair of the first list: 7 are left
  const Bytes skeleton = unit_abbreviation().number(0xb2, 1).number(0x42, 1).number(0x17, 1).zeros(2).bytes;
  const Bytes entry = Writer().number(1, 1).u32(base).bytes; // DW_AT_GNU_ranges_base
  const Bytes abbreviations = Writer().append(nothing()).zeros(1).bytes;
  Writer lists;
  for (int i = 0; i < 15; ++i) lists.number(4, 1).zeros(2);
  lists.zeros(1);
  for (const unsigned version : {4u, 5u}) {
    OneUnit file(4, skeleton, entry,
                 {{".debug_ranges", old_lists()},
                  {".debug_rnglists.dwo", lists.bytes},
                  {".debug_info.dwo", split_unit(version)},
                  {".debug_abbrev.dwo", abbreviations}});
    llvm::DWARFUnit& split = *file.context().dwo_compile_units().begin()->get();
    ASSERT_TRUE(split.isDWOUnit());
    DebugCheck check(file.context(), 0, false);
    EXPECT_EQ(check.can_read_split(file.unit(), split), version == 4);
    EXPECT_EQ(check.can_read_split(file.unit(), split), version == 4);
    // Another skeleton with lists elsewhere; for this class, any unit does.
    EXPECT_EQ(check.can_read_split(split, split), version == 5);
    EXPECT_EQ(check.can_read_split(file.unit(), split), version == 4);
    const auto list = llvm::DWARFFormValue::createFromUValue(llvm::dwarf::DW_FORM_sec_offset, 0);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(check.can_read_ranges(split, list));
    const std::uint64_t steps = 8 * 8 * (version == 4 ? 7 : 16);
    EXPECT_EQ(file.lists_left(check, 0), (all_steps - steps) / old_list_steps);
  }
}

// A header and nothing else.
TEST(ElfDwarfCheck, UnitWithoutEntries) {
  OneUnit file(4, nothing(), {});
  DebugCheck check(file.context(), 0, false);
  EXPECT_TRUE(check.can_list(file.unit()));
  EXPECT_TRUE(check.can_look_up(file.unit()));
  EXPECT_FALSE(check.has_functions(file.unit()));
}

// LLVM would take the end of a list inside for that of the unit's list, which is cut off.
TEST(ElfDwarfCheck, UnitWithoutAnEnd) {
  Writer abbreviations; // a unit and a function with entries inside, and one without
  for (const int byte : {1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0, 0, 3, 0x34, 0, 0, 0})
    abbreviations.number(static_cast<std::uint64_t>(byte), 1);
  for (const bool is_whole : {true, false}) {
    Writer entries;
    entries.number(1, 1).number(2, 1).number(3, 1).zeros(is_whole ? 2 : 1);
    OneUnit file(4, abbreviations.bytes, entries.bytes);
    DebugCheck check(file.context(), 0, false);
    EXPECT_TRUE(check.can_read(file.unit()));
    EXPECT_EQ(check.can_list(file.unit()), is_whole);
    EXPECT_EQ(check.can_look_up(file.unit()), is_whole);
  }
}

} // namespace elf_dwarf_check_test
} // namespace sframe::elf
