// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocatable objects: one address space for their sections, and adding the section and its relocations.

#include "elf_builder.h"

#include "sframe/builder.h"
#include "sframe/elf/object.h"
#include "sframe/elf/rewrite.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace sframe::elf {
namespace {

using Bytes = std::vector<std::byte>;

// st_info: binding and type.
constexpr unsigned local = 0x00, global = 0x10, weak = 0x20, section_symbol = 0x03;

struct TestSymbol {
  unsigned info;
  std::uint16_t section;
  std::uint64_t value;
};

/// 1 .text.a (5 bytes), 2 .text.b (3 bytes), 3 .data, 4 .comment (not loaded), 5 .symtab, 6 .strtab
test::TestElf object_with(const std::vector<TestSymbol>& symbols, ByteOrder order = ByteOrder::little,
                          std::uint16_t machine = 62) {
  Bytes table = test::symbol(0, 0, 0, 0, 0, order);
  for (const TestSymbol& s : symbols) {
    const Bytes entry = test::symbol(0, s.info, s.section, s.value, 0, order);
    table.insert(table.end(), entry.begin(), entry.end());
  }
  constexpr std::uint64_t code = shf_alloc | shf_execinstr;
  test::TestElf file{.order = order, .type = et_rel, .machine = machine};
  file.sections = {{".text.a", sht_progbits, code, 0, Bytes(5)},
                   {".text.b", sht_progbits, code, 0, Bytes(3)},
                   {".data", sht_progbits, shf_alloc | shf_write, 0, Bytes(9)},
                   {".comment", sht_progbits, 0, 0, Bytes(7)},
                   {".symtab", sht_symtab, 0, 0, table, 6, 1, 24},
                   {".strtab", sht_strtab, 0, 0, Bytes(1)}};
  return file;
}

const std::vector<TestSymbol> section_symbols = {{section_symbol, 1, 0}, {section_symbol, 2, 0}};

TEST(ObjectLayout, LoadedSectionsDoNotOverlap) {
  const Bytes bytes = object_with(section_symbols).build();
  const auto layout = ObjectLayout::make(*Image::parse(bytes));
  ASSERT_TRUE(layout);
  const auto sections = layout->image().sections();
  std::uint64_t last_end = 0;
  for (const std::uint32_t index : {1, 2, 3}) {
    EXPECT_GT(sections[index].address, last_end) << "a byte at least is between two sections";
    last_end = sections[index].address + sections[index].size;
    for (const std::uint64_t offset : {std::uint64_t(0), sections[index].size}) {
      const auto location = layout->locate(sections[index].address + offset);
      ASSERT_TRUE(location);
      EXPECT_EQ(location->section, index);
      EXPECT_EQ(location->offset, offset);
    }
    EXPECT_FALSE(layout->locate(last_end + 1) && layout->locate(last_end + 1)->section == index);
  }
  EXPECT_EQ(sections[4].address, 0u) << "what is not loaded stays where linkers leave it";
  EXPECT_FALSE(layout->locate(0)) << "a field that no relocation fills in is no address";
  EXPECT_GT(layout->end(), last_end);
  EXPECT_EQ(layout->end() % 8, 0u);
}

// Alignment is what a section asks for, up to 64 KiB; one that is no power of two is not followed.
TEST(ObjectLayout, AlignsSections) {
  for (const auto& [asked, multiple] : {std::pair{1ull, 1ull},
                                        {64ull, 64ull},
                                        {0x10000ull, 0x10000ull},
                                        {0x100000ull, 0x10000ull},
                                        {48ull, 1ull},
                                        {0ull, 1ull}}) {
    Bytes bytes = object_with(section_symbols).build();
    const std::size_t headers = bytes.size() - Image::parse(bytes)->sections().size() * 64;
    const auto field = test::Writer().u64(asked).bytes;
    std::ranges::copy(
        field, bytes.begin() + static_cast<std::ptrdiff_t>(headers + 2 * 64 + 0x30)); // .text.b: sh_addralign
    const auto layout = ObjectLayout::make(*Image::parse(bytes));
    ASSERT_TRUE(layout);
    const auto sections = layout->image().sections();
    const std::uint64_t end = sections[1].address + sections[1].size;
    EXPECT_EQ(sections[2].address % multiple, 0u) << asked;
    EXPECT_GT(sections[2].address, end);
    EXPECT_LE(sections[2].address, end + multiple) << asked;
  }
}

TEST(ObjectLayout, AppliesRelocationsForItsAddresses) {
  auto file = object_with(section_symbols);
  file.sections.push_back({".eh_frame", sht_progbits, shf_alloc, 0, Bytes(12)});
  // R_X86_64_PC32 at 4 against symbol 2 (.text.b) + 1
  file.sections.push_back(
      {".rela.eh_frame", sht_rela, 0, 0, test::Writer().u64(4).u64(2ull << 32 | 2).u64(1).bytes, 5, 7, 24});
  const Bytes bytes = file.build();
  const auto layout = ObjectLayout::make(*Image::parse(bytes));
  ASSERT_TRUE(layout);
  const auto sections = layout->image().sections();
  const auto contents = layout->image().relocated_contents(sections[7]);
  ASSERT_TRUE(contents);
  std::int32_t distance;
  std::memcpy(&distance, contents->bytes().data() + 4, 4);
  EXPECT_EQ(sections[7].address + 4 + distance, sections[2].address + 1);
}

TEST(ObjectLayout, RefusesSectionsBeyondTheFile) {
  Bytes bytes = object_with(section_symbols).build();
  const std::uint64_t headers = Image::parse(bytes)->sections().size() * 64;
  bytes[bytes.size() - headers + 64 + 0x20 + 3] = std::byte(0x10); // .text.a: sh_size + 2^28
  const auto layout = ObjectLayout::make(*Image::parse(bytes));
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().section, ".text.a");
}

/// The object with a section that has one function at `offset` of section `index`.
Result<Bytes> with_function(const Bytes& file, std::uint32_t index, std::uint64_t offset,
                            VersionNumber version) {
  const auto layout = ObjectLayout::make(*Image::parse(file));
  if (!layout) return unexpected(layout.error());
  Builder builder({.version = version, .abi = layout->image().abi()->id});
  const FrameRow row = layout->image().abi()->entry_row();
  const auto added =
      builder.add({.start = layout->image().sections()[index].address + offset, .size = 2}, {&row, 1});
  if (!added) return fail(message(added.error().reason));
  const auto edit = add_section_to_object(*layout, builder.finish(layout->end()).value_or(Bytes()));
  if (!edit) return unexpected(edit.error());
  return edit->apply(file);
}

/// The one relocation of `.sframe`.
Relocation relocation_of(const Bytes& file) {
  const auto image = Image::parse(file);
  const elf::SectionHeader* section = image->find_section(".sframe");
  if (!section) return {};
  const auto relocations = image->relocations(*section);
  return relocations && relocations->size() == 1 ? relocations->front() : Relocation{};
}

struct SymbolCase {
  const char* what;
  std::vector<TestSymbol> symbols;
  std::uint32_t chosen;
  std::int64_t addend; ///< for the function at 3 in .text.a
};

TEST(ObjectRewrite, PrefersReliableSymbols) {
  const SymbolCase cases[] = {
      {"section", {{local, 1, 2}, {section_symbol, 1, 0}, {global, 1, 3}}, 2, 3},
      {"local", {{local, 1, 1}, {global, 1, 3}, {weak, 1, 3}}, 1, 2},
      {"global rather than weak", {{local, 2, 0}, {weak, 1, 3}, {global, 1, 4}}, 3, -1},
      {"weak where there is nothing else", {{local, 2, 0}, {weak, 1, 3}}, 2, 0},
  };
  for (const SymbolCase& c : cases) {
    const auto result = with_function(object_with(c.symbols).build(), 1, 3, VersionNumber::v3);
    ASSERT_TRUE(result) << c.what << ": " << result.error().text();
    const Relocation relocation = relocation_of(*result);
    EXPECT_EQ(relocation.symbol, c.chosen) << c.what;
    EXPECT_EQ(relocation.addend, c.addend) << c.what;
    EXPECT_EQ(relocation.section, 1u) << c.what;
  }
  const auto none = with_function(object_with({{local, 2, 0}}).build(), 1, 3, VersionNumber::v3);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().section, ".text.a");
}

TEST(ObjectRewrite, WritesTheRelocationsOfEachMachine) {
  struct MachineTraits {
    std::uint16_t id;
    ByteOrder order;
    std::uint32_t wide, narrow; ///< types for version 3 and those before
  };
  const MachineTraits machines[] = {{62, ByteOrder::little, 24, 2},     // R_X86_64_PC64, R_X86_64_PC32
                                    {183, ByteOrder::little, 260, 261}, // R_AARCH64_PREL64, R_AARCH64_PREL32
                                    {183, ByteOrder::big, 260, 261},
                                    {22, ByteOrder::big, 23, 5}}; // R_390_PC64, R_390_PC32
  for (const MachineTraits& machine : machines)
    for (const auto version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
      const auto result =
          with_function(object_with(section_symbols, machine.order, machine.id).build(), 2, 1, version);
      ASSERT_TRUE(result) << result.error().text();
      const Relocation relocation = relocation_of(*result);
      EXPECT_EQ(relocation.offset, 28u) << "the first index entry is after the header";
      EXPECT_EQ(relocation.type, version == VersionNumber::v3 ? machine.wide : machine.narrow);
      EXPECT_EQ(relocation.section, 2u);
      EXPECT_EQ(relocation.addend, 1);
    }
}

TEST(ObjectRewrite, KeepsEverythingElse) {
  for (const bool extended : {false, true}) {
    auto file = object_with(section_symbols);
    file.extended = extended;
    const Bytes before = file.build();
    const auto after = with_function(before, 1, 0, VersionNumber::v3);
    ASSERT_TRUE(after);
    const auto old_image = Image::parse(before), new_image = Image::parse(*after);
    ASSERT_TRUE(new_image);
    EXPECT_TRUE(new_image->problems().empty());
    ASSERT_EQ(new_image->sections().size(), old_image->sections().size() + 2);
    for (const elf::SectionHeader& old : old_image->sections()) {
      const elf::SectionHeader& kept = new_image->sections()[old.index];
      EXPECT_EQ(kept.name, old.name);
      EXPECT_EQ(kept.flags, old.flags);
      EXPECT_EQ(kept.link, old.link);
      if (old.name == ".shstrtab") continue;
      const auto a = old_image->contents(old), b = new_image->contents(kept);
      ASSERT_TRUE(a && b);
      EXPECT_TRUE(std::ranges::equal(a->bytes(), b->bytes())) << old.name;
    }
    EXPECT_EQ(with_function(*after, 1, 0, VersionNumber::v3), after) << "doing it twice gives the same";
  }
}

} // namespace
} // namespace sframe::elf
