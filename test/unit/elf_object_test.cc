// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocatable objects: one address space for their sections, and adding the section and its relocations.

#include "elf_builder.h"
#include "inputs.h"

#include "sframe/builder.h"
#include "sframe/edit/rewrite.h"
#include "sframe/elf/object.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace sframe::elf {
namespace elf_object_test {

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
    EXPECT_EQ(layout->end() % 8, 0u) << asked;
  }
}

// What follows the sections has an address that is a multiple of 8, whatever their sizes.
TEST(ObjectLayout, EndsAligned) {
  for (std::size_t size = 1; size <= 24; ++size) {
    test::TestElf file;
    file.sections.push_back({".text", sht_progbits, shf_alloc | shf_execinstr, 0, Bytes(size)});
    const auto bytes = file.build();
    const auto layout = ObjectLayout::make(*Image::parse(bytes));
    ASSERT_TRUE(layout);
    const std::uint64_t end = layout->image().sections()[1].address + size;
    EXPECT_EQ(layout->end() % 8, 0u) << size;
    EXPECT_GT(layout->end(), end);
    EXPECT_LE(layout->end(), end + 8);
  }
}

// Starts that do not count from their field (no flag FUNC_START_PCREL, and versions that do not know it) are
// made to; a function that cannot be read is an error, not a section with other starts.
TEST(ObjectLayout, SectionsWithDamagedFunctions) {
  for (const char* name : {"row-type-unknown-v1-amd64-number-5", "row-type-unknown-v2-amd64-number-5"}) {
    test::TestElf file;
    file.sections.push_back({".sframe", sht_gnu_sframe, shf_alloc, 0, test::case_section(name)});
    const auto bytes = file.build();
    const auto image = Image::parse(bytes);
    ASSERT_TRUE(image);
    ASSERT_EQ(image->sframe_tables().size(), 1u);
    const auto contents = ObjectLayout::sframe_contents(*image, image->sframe_tables()[0]);
    ASSERT_FALSE(contents) << name;
    EXPECT_EQ(contents.error().section, ".sframe");
  }
}

// Each of several sections counts on its own, and those with the flag stay as they are.
TEST(ObjectLayout, StartsCountFromTheirField) {
  const auto section_of = [](bool pcrel) {
    Builder builder({.version = VersionNumber::v2, .pcrel = pcrel});
    const FrameRow row = traits(Abi::amd64).entry_row();
    for (const std::uint64_t start : {0x1000, 0x2000})
      EXPECT_TRUE(builder.add({.start = start, .size = 2}, {&row, 1}));
    return builder.finish(0).value_or(Bytes());
  };
  const Bytes plain = section_of(false), relative = section_of(true);
  const std::vector<std::vector<Bytes>> cases = {
      {plain}, {relative}, {plain, relative, plain}, {relative, plain}};
  for (const auto& parts : cases) {
    test::TestElf file;
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    file.sections.push_back({".sframe", sht_gnu_sframe, shf_alloc, 0, all});
    const auto bytes = file.build();
    const auto image = Image::parse(bytes);
    ASSERT_TRUE(image);
    const auto contents = ObjectLayout::sframe_contents(*image, image->sframe_tables()[0]);
    ASSERT_TRUE(contents) << contents.error().text();
    ASSERT_EQ(contents->bytes().size(), all.size());
    std::size_t at = 0;
    for (const Bytes& part : parts) {
      const auto made = contents->bytes().subspan(at, part.size());
      if (part == relative) {
        EXPECT_TRUE(std::ranges::equal(made, part));
      } else {
        // The header has 28 bytes, an FDE 20; its first field is the start.
        for (const std::uint32_t i : {0u, 1u}) {
          std::uint32_t start;
          std::memcpy(&start, made.data() + 28 + 20 * i, 4);
          EXPECT_EQ(start, 0x1000 * (i + 1) + 28 + 20 * i);
        }
      }
      at += part.size();
    }
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
  const auto edit = edit::add_section_to_object(*layout, builder.finish(layout->end()).value_or(Bytes()));
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
      {"local, wherever it is", {{global, 1, 3}, {weak, 1, 3}, {local, 1, 1}}, 3, 2},
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

// The fields that Image does not show are read from the file.
TEST(ObjectRewrite, HeadersOfTheNewSections) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto after =
        with_function(object_with(section_symbols, order, 183).build(), 1, 0, VersionNumber::v3);
    ASSERT_TRUE(after) << after.error().text();
    const auto image = Image::parse(*after);
    const elf::SectionHeader* section = image->find_section(".sframe");
    const elf::SectionHeader* relocations = image->find_section(".rela.sframe");
    ASSERT_TRUE(section && relocations);
    const auto number = [&](std::uint64_t at, unsigned size) {
      std::uint64_t value = 0;
      for (unsigned i = 0; i < size; ++i)
        value |= std::to_integer<std::uint64_t>((*after)[at + i])
                 << 8 * (order == ByteOrder::little ? i : size - 1 - i);
      return value;
    };
    const std::uint64_t headers = number(40, 8);
    EXPECT_EQ(headers % 8, 0u);
    EXPECT_EQ(headers + 64 * image->sections().size(), after->size())
        << "the headers are the end of the file";
    EXPECT_EQ(section->type, sht_gnu_sframe);
    EXPECT_EQ(section->flags, shf_alloc);
    EXPECT_EQ(section->align, 8u);
    EXPECT_EQ(section->offset % 8, 0u);
    EXPECT_EQ(section->link, 0u);
    EXPECT_EQ(section->info, 0u);
    EXPECT_EQ(relocations->type, sht_rela);
    EXPECT_EQ(relocations->flags, 0x40u); // SHF_INFO_LINK
    EXPECT_EQ(relocations->align, 8u);
    EXPECT_EQ(relocations->offset % 8, 0u);
    EXPECT_EQ(relocations->size, 24u);
    EXPECT_EQ(image->sections()[relocations->link].name, ".symtab");
    EXPECT_EQ(relocations->info, section->index);
    EXPECT_EQ(number(headers + 64 * relocations->index + 56, 8), 24u); // sh_entsize
    // The function's start is in the relocation alone, and no flag promises an order (0x1) of what the linker
    // puts together.
    const auto bytes = std::span(*after).subspan(section->offset, section->size);
    EXPECT_EQ(bytes[3] & std::byte(1), std::byte(0));
    for (std::size_t i = 28; i < 36; ++i) EXPECT_EQ(bytes[i], std::byte(0));
    EXPECT_EQ(Section::parse(bytes, 0)->num_fdes(), 1u);
  }
}

// Symbols of thread-local data and of files name no place in a section; an undefined, absolute or common one
// is in none.
TEST(ObjectRewrite, IgnoresSymbolsThatAreNoPlace) {
  constexpr unsigned file_symbol = 0x04, thread_local_symbol = 0x06;
  constexpr std::uint16_t absolute = 0xfff1, common = 0xfff2;
  const auto file = object_with({{file_symbol, 1, 0},
                                 {thread_local_symbol, 1, 0},
                                 {section_symbol, absolute, 0},
                                 {section_symbol, common, 0},
                                 {section_symbol, 200, 0}, // there is no such section
                                 {weak, 1, 1}});
  const auto result = with_function(file.build(), 1, 3, VersionNumber::v3);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(relocation_of(*result).symbol, 6u);
  EXPECT_EQ(relocation_of(*result).addend, 2);
}

// The first of equally good symbols.
TEST(ObjectRewrite, TakesTheFirstSymbol) {
  const auto result =
      with_function(object_with({{local, 1, 2}, {local, 1, 0}}).build(), 1, 3, VersionNumber::v3);
  ASSERT_TRUE(result);
  EXPECT_EQ(relocation_of(*result).symbol, 1u);
  EXPECT_EQ(relocation_of(*result).addend, 1);
}

// SHN_XINDEX: the section's number is in SHT_SYMTAB_SHNDX.
TEST(ObjectRewrite, ExtendedSectionNumbers) {
  auto file = object_with({{global, 1, 1}, {section_symbol, 0xffff, 0}, {section_symbol, 0xffff, 0}});
  file.sections.push_back(
      {".symtab_shndx", sht_symtab_shndx, 0, 0, test::Writer().u32(0).u32(0).u32(2).u32(1).bytes, 5, 0, 4});
  auto result = with_function(file.build(), 1, 3, VersionNumber::v3);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(relocation_of(*result).symbol, 3u);
  // The list is too short, or another table's.
  file.sections.back().bytes.resize(12);
  result = with_function(file.build(), 1, 3, VersionNumber::v3);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(relocation_of(*result).symbol, 1u);
  file.sections.back().bytes = test::Writer().u32(0).u32(0).u32(2).u32(1).bytes;
  file.sections.back().link = 6;
  result = with_function(file.build(), 1, 3, VersionNumber::v3);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(relocation_of(*result).symbol, 1u);
}

// Numbers from SHN_LORESERVE, 0xff00, on are no sections in a symbol, though a file has as many: those are in
// the list. The file's number of sections is in the null section.
TEST(ObjectRewrite, ManySections) {
  constexpr std::uint32_t number = 0xff00;
  auto file = object_with({{section_symbol, number, 0}, {section_symbol, 1, 0}});
  file.extended = true;
  file.sections.push_back(
      {".symtab_shndx", sht_symtab_shndx, 0, 0, test::Writer().u32(0).u32(0).u32(0).bytes, 5, 0, 4});
  file.sections.resize(number - 1, {"", sht_progbits, 0, 0, {}});
  file.sections.push_back({".text.last", sht_progbits, shf_alloc | shf_execinstr, 0, Bytes(2)});
  const auto none = with_function(file.build(), number, 0, VersionNumber::v3);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().text().find("no symbol for relocations that refer to this section"),
            std::string::npos)
      << none.error().text();
  file.sections[4].bytes[24 + 6] = file.sections[4].bytes[24 + 7] = std::byte(0xff); // SHN_XINDEX
  file.sections[6].bytes = test::Writer().u32(0).u32(number).u32(0).bytes;
  const auto after = with_function(file.build(), number, 0, VersionNumber::v3);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(relocation_of(*after).symbol, 1u);
  EXPECT_EQ((*after)[60], std::byte(0)); // e_shnum
  EXPECT_EQ((*after)[61], std::byte(0));
  EXPECT_EQ(Image::parse(*after)->sections().size(), number + 4u); // null, names and the two that are new
  EXPECT_EQ(with_function(*after, number, 0, VersionNumber::v3), after);
}

TEST(ObjectRewrite, AnInactiveSectionIsNoTable) {
  test::TestElf file = object_with(section_symbols);
  file.sections.push_back({".sframe", sht_null, 0, 0, Bytes(4)});
  const auto bytes = file.build();
  EXPECT_TRUE(Image::parse(bytes)->sframe_tables().empty());
  const auto once = with_function(bytes, 1, 0, VersionNumber::v3);
  EXPECT_EQ(once ? Image::parse(*once)->sframe_tables().size() : 1u, 1u);
}

// A section of the type, with another name, is replaced, and there is one table again.
TEST(ObjectRewrite, ReplacesASectionWithAnotherName) {
  test::TestElf file = object_with(section_symbols);
  file.sections.push_back({"other", sht_gnu_sframe, shf_alloc, 0, Bytes(4)});
  const auto once = with_function(file.build(), 1, 0, VersionNumber::v3);
  ASSERT_TRUE(once) << once.error().text();
  const auto tables = Image::parse(*once)->sframe_tables();
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.front().name, ".sframe");
  EXPECT_EQ(relocation_of(*once).symbol, 1u);
  EXPECT_EQ(with_function(*once, 1, 0, VersionNumber::v3), once);
}

TEST(ObjectRewrite, Refuses) {
  const auto expect_refused = [](const Bytes& file, std::string_view why) {
    const auto result = with_function(file, 1, 0, VersionNumber::v3);
    ASSERT_FALSE(result) << why;
    EXPECT_NE(result.error().text().find(why), std::string::npos) << result.error().text();
  };
  const test::TestElf good = object_with(section_symbols);
  test::TestElf file = good;
  file.sections.push_back({".sframe", sht_progbits, shf_alloc, 0, Bytes(4)});
  EXPECT_TRUE(with_function(file.build(), 1, 0, VersionNumber::v3));
  file.sections.push_back({".sframe", sht_progbits, shf_alloc, 0, Bytes(4)});
  expect_refused(file.build(), "more than one section .sframe");
  file.sections.back() = {"other", sht_gnu_sframe, shf_alloc, 0, Bytes(4)}; // its type makes it one
  expect_refused(file.build(), "more than one section .sframe");
  file.sections.pop_back();
  file.sections.back().type = sht_note;
  expect_refused(file.build(), "section has the name .sframe but another type");
  file.sections.back().type = sht_progbits;
  file.sections.back().flags |= shf_execinstr;
  const auto itself = with_function(file.build(), 7, 0, VersionNumber::v3);
  ASSERT_FALSE(itself);
  EXPECT_EQ(itself.error().what, "function does not start in an executable section");
  file.sections.back().flags |= 0x200; // SHF_GROUP
  expect_refused(file.build(), "section belongs to a section group");
  file.sections.back().flags = shf_alloc;
  file.sections.push_back({".rela.sframe", sht_rela, 0, 0, Bytes(24), 5, 7, 24});
  EXPECT_TRUE(with_function(file.build(), 1, 0, VersionNumber::v3));
  file.sections.push_back({".rel.sframe", sht_rel, 0, 0, Bytes(16), 5, 7, 16});
  expect_refused(file.build(), "more than one relocation section of .sframe");
  file.sections.back().info = 1; // of another section
  EXPECT_TRUE(with_function(file.build(), 1, 0, VersionNumber::v3));

  file = good;
  file.sections.push_back({".more", sht_symtab, 0, 0, Bytes(24), 6, 1, 24});
  expect_refused(file.build(), "more than one symbol table");
  file = good;
  file.sections[4].type = sht_progbits;
  expect_refused(file.build(), "no symbol table for the relocations");
  file = good;
  file.sections[0].flags = shf_alloc;
  expect_refused(file.build(), "function does not start in an executable section");
  file = good;
  file.segments.push_back({pt_load, pf_r, 0x1000, Bytes(8), 8});
  expect_refused(file.build(), "relocatable object with program headers");

  // The number of the section names' section, at 62.
  Bytes names = good.build();
  names[62] = std::byte(0);
  expect_refused(names, "no section name table");
  for (const int number : {4, 100}) { // .comment, and nothing
    names[62] = static_cast<std::byte>(number);
    EXPECT_FALSE(with_function(names, 1, 0, VersionNumber::v3));
  }

  // Bytes after the headers: padding, then a signature.
  Bytes more = good.build();
  more.insert(more.end(), {std::byte(0), std::byte('\n'), std::byte(0)});
  EXPECT_EQ(with_function(more, 1, 0, VersionNumber::v3),
            with_function(good.build(), 1, 0, VersionNumber::v3));
  more.push_back(std::byte('~'));
  expect_refused(more, "data after the last section would be lost");
}

// One byte of two sections is one too many.
TEST(ObjectRewrite, SectionsThatTouchAndOverlap) {
  const Bytes good = object_with(section_symbols).build();
  const auto image = Image::parse(good);
  const std::uint64_t headers = good.size() - 64 * image->sections().size();
  const auto with = [&](std::uint32_t section, std::uint64_t offset, std::uint64_t size) {
    Bytes file = good;
    for (unsigned i = 0; i < 8; ++i) {
      file[headers + 64 * section + 24 + i] = std::byte(offset >> 8 * i);
      file[headers + 64 * section + 32 + i] = std::byte(size >> 8 * i);
    }
    return with_function(file, 1, 0, VersionNumber::v3);
  };
  const elf::SectionHeader &text = image->sections()[1], &comment = image->sections()[4];
  ASSERT_EQ(text.offset, 64u);
  EXPECT_TRUE(with(4, comment.offset, comment.size));
  EXPECT_TRUE(with(4, comment.offset, 8)) << "up to the next one's start";
  EXPECT_FALSE(with(4, comment.offset, 9));
  EXPECT_FALSE(with(4, comment.offset - 8, 8)) << "the end of .data";
  EXPECT_FALSE(with(1, 63, 5)) << "the ELF header";
  EXPECT_TRUE(with(4, 64, 0)) << "no bytes";
  EXPECT_FALSE(with(4, good.size(), 1));
  EXPECT_FALSE(with(4, good.size() + 8, 0x100));
}

// Names are a table that other sections use, too: what is in it stays.
TEST(ObjectRewrite, SectionNames) {
  auto file = object_with(section_symbols);
  const auto names_of = [](const Bytes& bytes) {
    const auto image = Image::parse(bytes);
    const elf::SectionHeader* names = image->find_section(".shstrtab");
    const auto span = std::span(bytes).subspan(names->offset, names->size);
    return std::string(reinterpret_cast<const char*>(span.data()), span.size());
  };
  const Bytes before = file.build();
  const Bytes after = *with_function(before, 1, 0, VersionNumber::v3);
  EXPECT_EQ(names_of(after), names_of(before) + std::string(".rela.sframe\0", 13));
  EXPECT_EQ(names_of(*with_function(after, 1, 0, VersionNumber::v3)), names_of(after));
  // The name is there, as the end of another one.
  file.sections.push_back({".old.rela.sframe", sht_progbits, 0, 0, Bytes(1)});
  const Bytes longer = file.build();
  EXPECT_EQ(names_of(*with_function(longer, 1, 0, VersionNumber::v3)), names_of(longer));
}

} // namespace elf_object_test
} // namespace sframe::elf
