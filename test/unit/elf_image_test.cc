// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: headers, contents, relocations, addresses; of files from linkers and assemblers, of hand-made and
// of damaged files.

#include "elf_builder.h"
#include "inputs.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/elf/symbols.h"
#include "sframe/section.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace sframe::elf {
namespace elf_image_test {

using test::TestElf;
using test::Writer;

const char* const own_path = "/proc/self/exe";

TEST(ElfImage, ReadsThisProgram) {
  auto file = File::open(own_path);
  ASSERT_TRUE(file);
  auto image = Image::parse(file->bytes());
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->problems().empty());
  EXPECT_NE(image->type(), et_rel);
  EXPECT_TRUE(image->is_executable(image->entry()));

  const elf::SectionHeader* text = image->find_section(".text");
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->executable() && text->allocated());
  EXPECT_EQ(&image->sections()[text->index], text);
  auto contents = image->contents(*text);
  ASSERT_TRUE(contents);
  auto loaded = image->read(text->address, text->size);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->data(),
            contents->bytes().data()); // the same place in the file, by section and by address
  const auto ranges = image->executable_ranges();
  EXPECT_TRUE(
      std::ranges::any_of(ranges, [&](const CodeRange& range) { return range.section == text->index; }));
  EXPECT_TRUE(std::ranges::is_sorted(ranges, {}, &CodeRange::start));

  const elf::SectionHeader* bss = image->find_section(".bss");
  ASSERT_TRUE(bss);
  EXPECT_TRUE(image->contents(*bss)->empty());
  EXPECT_FALSE(image->read(0xffff'ffff'ffff'0000, 16));
}

TEST(ElfImage, RefusesWhatIsNotElf64) {
  auto bytes = TestElf{.sections = {{".text"}}}.build();
  ASSERT_TRUE(Image::parse(bytes));
  auto narrow = bytes;
  narrow[4] = std::byte(1);
  EXPECT_EQ(Image::parse(narrow).error().what, "32-bit ELF file; only 64-bit files are supported");
  EXPECT_EQ(Image::parse(std::span(bytes).first(40)).error().what,
            "ELF header runs past the end of the file");
  bytes[0] = std::byte('?');
  EXPECT_EQ(Image::parse(bytes).error().what, "not an ELF file");
}

/// In a relocated object, SFrame's functions start where the symbol table has functions.
TEST(ElfImage, RelocatesObjects) {
  unsigned functions = 0, objects = 0;
  for (const auto& path : test::inputs_ending("cc.o")) {
    if (path.filename().string().find("gas") == std::string::npos) continue;
    const auto bytes = test::read_file(path);
    auto image = Image::parse(bytes);
    ASSERT_TRUE(image) << path;
    ASSERT_TRUE(image->abi()) << path;
    EXPECT_TRUE(image->relocatable());
    const SymbolTable symbols = SymbolTable::load(*image);
    const auto tables = image->sframe_tables();
    ASSERT_EQ(tables.size(), 1u) << path;
    auto contents = image->contents(tables[0]);
    ASSERT_TRUE(contents) << path << contents.error().text();
    auto relocations = image->relocations(*tables[0].section);
    ASSERT_TRUE(relocations);
    auto section = sframe::Section::parse(contents->bytes(), tables[0].address);
    ASSERT_TRUE(section) << path;
    ASSERT_EQ(section->num_fdes(), relocations->size()) << path;
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i, ++functions) {
      const Relocation& relocation = (*relocations)[i];
      EXPECT_EQ(relocation.offset, section->index_offset() + i * section->version().entry_size);
      // Without FUNC_START_PCREL a start counts from the section, but assemblers make it relative to its
      // field all the same; linkers correct that.
      const bool pcrel = section->header().flags & flag_func_start_pcrel;
      const std::uint64_t start = section->fde_start(i) + (pcrel ? 0 : relocation.offset);
      const auto at = symbols.at(relocation.section, start);
      ASSERT_FALSE(at.empty()) << path << " function " << i;
      EXPECT_TRUE(at[0].function());
      if (pcrel) {
        EXPECT_EQ(section->fde(i)->size, at[0].size);
      }
    }
    ++objects;
  }
  EXPECT_GE(objects, 7u); // three versions for three ABIs and one for the fourth
  EXPECT_GE(functions, 40u);
}

/// .data at address 0x100 with two REL relocations against `here` (.data + 4): 32 bits absolute, 64 bits
/// relative.
TestElf rel_object(ByteOrder order, std::uint16_t machine, std::uint32_t absolute32,
                   std::uint32_t relative64) {
  TestElf file{.order = order, .machine = machine};
  file.sections.push_back(
      {".data", sht_progbits, shf_alloc, 0x100, Writer(order).u32(0x10).u32(0).u64(-8).bytes});
  Writer relocations(order);
  relocations.u64(0).u64(1ull << 32 | absolute32).u64(8).u64(1ull << 32 | relative64);
  file.sections.push_back({".rel.data", sht_rel, 0, 0, relocations.bytes, 3, 1, 16});
  Writer symbols(order);
  symbols.zeros(24).append(test::symbol(1, 0x10, 1, 4, 0, order));
  file.sections.push_back({".symtab", sht_symtab, 0, 0, symbols.bytes, 4, 1, 24});
  file.sections.push_back(
      {".strtab", sht_strtab, 0, 0, Writer().text(std::string_view("\0here\0", 6)).bytes});
  return file;
}

TEST(ElfImage, AppliesRelOfEveryMachine) {
  struct Case {
    ByteOrder order;
    std::uint16_t machine;
    std::uint32_t absolute32, relative64;
  };
  // R_X86_64_32, R_X86_64_PC64; R_AARCH64_ABS32, R_AARCH64_PREL64; R_390_32, R_390_PC64.
  for (const Case& c : {Case{ByteOrder::little, 62, 10, 24}, Case{ByteOrder::little, 183, 258, 260},
                        Case{ByteOrder::big, 183, 258, 260}, Case{ByteOrder::big, 22, 4, 23}}) {
    const auto bytes = rel_object(c.order, c.machine, c.absolute32, c.relative64).build();
    auto image = Image::parse(bytes);
    ASSERT_TRUE(image);
    const elf::SectionHeader* data = image->find_section(".data");
    ASSERT_TRUE(data);
    auto relocations = image->relocations(*data);
    ASSERT_TRUE(relocations);
    ASSERT_EQ(relocations->size(), 2u);
    EXPECT_EQ((*relocations)[0].symbol_name, "here");
    EXPECT_EQ((*relocations)[0].section, 1u);
    EXPECT_EQ((*relocations)[0].symbol_value, 0x104u);
    EXPECT_EQ((*relocations)[0].addend, 0x10);
    EXPECT_EQ((*relocations)[1].addend, -8);
    auto contents = image->relocated_contents(*data);
    ASSERT_TRUE(contents) << contents.error().text();
    // 0x104 + 0x10, and 0x104 - 8 - (0x100 + 8).
    const auto expected = Writer(c.order).u32(0x114).u32(0).u64(-12).bytes;
    EXPECT_TRUE(std::ranges::equal(contents->bytes(), expected)) << c.machine;
  }
}

TEST(ElfImage, ReportsRelocationsItCannotApply) {
  const auto unknown = rel_object(ByteOrder::little, 62, 10, 9).build(); // R_X86_64_GOTPCREL
  auto image = Image::parse(unknown);
  auto contents = image->relocated_contents(*image->find_section(".data"));
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().text(), "unsupported relocation type 9 (offset 0x8, section .data)");

  TestElf outside = rel_object(ByteOrder::little, 62, 10, 24);
  outside.sections[0].bytes.resize(15);
  const auto bytes = outside.build();
  image = Image::parse(bytes);
  contents = image->relocated_contents(*image->find_section(".data"));
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().text(), "relocation outside its section (offset 0x8, section .data)");
}

TEST(ElfImage, ReadsExtendedNumbersOfSections) {
  TestElf file{.extended = true};
  for (unsigned i = 0; i < 0xff10; ++i) file.sections.push_back({"s"});
  file.sections.push_back({".last", sht_progbits, shf_alloc, 0, Writer().u32(7).bytes});
  const auto bytes = file.build();
  auto image = Image::parse(bytes);
  ASSERT_TRUE(image);
  ASSERT_EQ(image->sections().size(), 0xff13u); // with section 0 and the names
  const elf::SectionHeader* last = image->find_section(".last");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->index, 0xff11u);
  EXPECT_EQ(image->contents(*last)->size(), 4u);
}

TEST(ElfImage, FindsTablesWithoutSectionHeaders) {
  TestElf file{.type = et_dyn};
  file.segments.push_back({pt_load, pf_r | pf_x, 0x1000, Writer().text("code").bytes, 0});
  file.segments.push_back({pt_gnu_sframe, pf_r, 0x2000, Writer().text("table").bytes, 0});
  file.segments.push_back({pt_note, pf_r, 0x3000, test::note("GNU", 3, Writer().u32(0xefbeadde).bytes), 0});
  const auto bytes = file.build();
  auto image = Image::parse(bytes);
  ASSERT_TRUE(image);
  const auto tables = image->sframe_tables();
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].address, 0x2000u);
  EXPECT_EQ(tables[0].name, "PT_GNU_SFRAME");
  EXPECT_EQ(image->contents(tables[0])->size(), 5u);
  EXPECT_EQ(to_hex(image->build_id()), "deadbeef");
  EXPECT_TRUE(image->is_executable(0x1003));
  EXPECT_FALSE(image->is_executable(0x1004));
  ASSERT_EQ(image->executable_ranges().size(), 1u);
  EXPECT_EQ(image->executable_ranges()[0].start, 0x1000u);
}

TEST(ElfImage, BoundsDecompression) {
  // An Elf64_Chdr: type zlib (1), reserved, size, alignment; then nothing.
  Writer header;
  header.u32(1).u32(0).u64(1ull << 40).u64(1);
  const auto bytes =
      TestElf{.sections = {{".debug_frame", sht_progbits, shf_compressed, 0, header.bytes}}}.build();
  auto image = Image::parse(bytes);
  auto contents = image->contents(image->sections()[1]);
  ASSERT_FALSE(contents);
  EXPECT_EQ(contents.error().what, "implausible decompressed size");
}

// Section headers may name any bytes: those outside the file are an error with the section's name.
TEST(ElfImage, SectionsOutsideTheFile) {
  const auto sound =
      TestElf{.sections = {{".debug_frame", sht_progbits, 0, 0, Writer().u64(1).bytes}}}.build();
  const std::size_t header = sound.size() - 2 * 64; // of 3: none, .debug_frame, .shstrtab
  struct Change {
    std::uint64_t offset, size;
    bool is_inside;
  };
  for (const Change& change : {Change{64, 8, true},
                               {sound.size(), 0, true},
                               {sound.size() - 8, 8, true},
                               {sound.size() - 8, 9, false},
                               {sound.size() + 1, 0, false},
                               {~std::uint64_t{0}, 2, false},
                               {8, ~std::uint64_t{0} - 4, false}}) {
    auto bytes = sound;
    const auto fields = Writer().u64(change.offset).u64(change.size).bytes;
    std::ranges::copy(fields, bytes.begin() + static_cast<std::ptrdiff_t>(header + 24));
    const auto image = Image::parse(bytes);
    if (!image) {
      EXPECT_FALSE(change.is_inside);
      continue;
    }
    const auto contents = image->contents(image->sections()[1]);
    ASSERT_EQ(contents.has_value(), change.is_inside) << change.offset << ", " << change.size;
    if (change.is_inside) {
      EXPECT_EQ(contents->bytes().data(), bytes.data() + change.offset);
      EXPECT_EQ(contents->bytes().size(), change.size);
    } else {
      EXPECT_EQ(contents.error().section, ".debug_frame");
    }
  }
}

// A section of another length than its notes: each note is whole, or is none.
TEST(ElfImage, BuildIdsInDamagedNotes) {
  const auto id = [](const std::vector<std::byte>& notes) {
    const auto bytes = TestElf{.sections = {{".note.gnu.build-id", sht_note, shf_alloc, 0, notes}}}.build();
    const auto image = Image::parse(bytes);
    EXPECT_TRUE(image);
    return image->build_id().size();
  };
  const auto note = [](std::uint32_t name_size, std::uint32_t body_size, std::string_view rest) {
    return Writer().u32(name_size).u32(body_size).u32(3).text(rest).bytes;
  };
  const std::string_view body("GNU\0abcdefgh", 12);
  EXPECT_EQ(id(note(4, 8, body)), 8u);
  EXPECT_EQ(id(note(4, 9, body)), 0u);
  EXPECT_EQ(id(note(4, ~0u, body)), 0u);
  EXPECT_EQ(id(note(12, 1, body)), 0u);
  EXPECT_EQ(id(note(13, 0, body)), 0u);
  EXPECT_EQ(id(note(10, 8, body.substr(0, 10))), 0u) << "what fills up the name is outside";
  EXPECT_EQ(id(note(~0u, 8, body)), 0u);
  EXPECT_EQ(id(note(~0u, 0, body)), 0u);
  // After another note, whose body is filled up to four bytes.
  auto two = Writer().u32(4).u32(5).u32(1).text(std::string_view("GNU\0abcde\0\0\0", 12)).bytes;
  const auto second = note(4, 8, body);
  two.insert(two.end(), second.begin(), second.end());
  EXPECT_EQ(id(two), 8u);
  two.pop_back();
  EXPECT_EQ(id(two), 0u);
}

/// A shared object with the symbols "first" (undefined), "one", "local" (thread-local) and "oneself" in its
/// dynamic symbols, and "two" among the others.
TestElf with_definitions(ByteOrder order) {
  const auto join = [](std::initializer_list<std::vector<std::byte>> pieces) {
    Writer all;
    for (const auto& piece : pieces) all.append(piece);
    return all.bytes;
  };
  const auto symbol = [&](std::uint32_t name, unsigned info, std::uint16_t section, std::uint64_t value) {
    return test::symbol(name, info, section, value, 8, order);
  };
  TestElf file;
  file.order = order;
  file.type = et_dyn;
  const std::string_view names("\0first\0oneself\0one\0local\0", 26), others("\0two\0one\0", 9);
  file.sections = {{".dynsym", sht_dynsym, shf_alloc, 0,
                    join({symbol(0, 0, 0, 0), symbol(1, 0x11, 0, 0x100), symbol(7, 0x11, 5, 0x200),
                          symbol(15, 0x11, 5, 0x300), symbol(19, 0x16, 5, 0x400)}),
                    2},
                   {".dynstr", sht_strtab, shf_alloc, 0, Writer().text(names).bytes},
                   {".symtab", sht_symtab, 0, 0,
                    join({symbol(0, 0, 0, 0), symbol(1, 0x11, 5, 0x500), symbol(5, 0x11, 5, 0x600)}), 4},
                   {".strtab", sht_strtab, 0, 0, Writer().text(others).bytes},
                   {".data", sht_progbits, shf_alloc | shf_write, 0x200, std::vector<std::byte>(8)}};
  return file;
}

TEST(ElfImage, Definitions) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    TestElf file = with_definitions(order);
    const auto find = [&](const char* name) {
      const auto bytes = file.build();
      const auto image = Image::parse(bytes);
      EXPECT_TRUE(image);
      return find_definition(*image, name);
    };
    EXPECT_EQ(find("one"), 0x300u);
    EXPECT_EQ(find("oneself"), 0x200u);
    EXPECT_EQ(find("two"), 0x500u);
    EXPECT_EQ(find("first"), std::nullopt) << "undefined";
    EXPECT_EQ(find("local"), std::nullopt) << "an offset in each thread's block";
    for (const char* none : {"on", "self", "ones", "three"}) EXPECT_EQ(find(none), std::nullopt) << none;
    // Names are in a string table, or nowhere: then the other symbols are what there is.
    file.sections[1].type = sht_progbits;
    EXPECT_EQ(find("one"), 0x600u);
    file.sections[1].type = sht_strtab;
    file.sections[0].link = 99;
    EXPECT_EQ(find("one"), 0x600u);
    EXPECT_EQ(find("oneself"), std::nullopt);
  }
}

TEST(ElfImage, DecompressesZlib) {
  // "sframe" thirty times, as zlib's deflate writes it.
  Writer section;
  section.u32(1).u32(0).u64(180).u64(1);
  section.append(test::hex("78 9c 2b 4e 2b 4a cc 4d 2d 1e 52 24 00 74 62 4a c5"));
  auto bytes =
      TestElf{.sections = {{".debug_frame", sht_progbits, shf_compressed, 0, section.bytes}}}.build();
  auto image = Image::parse(bytes);
  auto contents = image->contents(image->sections()[1]);
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_EQ(contents->size(), 180u);
  EXPECT_EQ(std::memcmp(contents->bytes().data() + 174, "sframe", 6), 0);
}

/// Calls everything once; what counts is that it comes back.
void use_all(std::span<const std::byte> bytes) {
  auto image = Image::parse(bytes);
  if (!image) return;
  for (const elf::SectionHeader& section : image->sections()) {
    (void)image->contents(section);
    if (section.type == sht_progbits)
      (void)image->relocated_contents(section), (void)image->relocations(section);
  }
  for (const Segment& segment : image->segments()) (void)image->contents(segment);
  for (const SframeLocation& table : image->sframe_tables()) (void)image->contents(table);
  (void)image->executable_ranges();
  (void)image->read(image->entry(), 16);
  const SymbolTable symbols = SymbolTable::load(*image);
  std::size_t count = 0;
  for (const Symbol& symbol : symbols.symbols()) {
    if (++count % 16) continue;
    const std::uint32_t space = image->relocatable() ? symbol.section : 0;
    ASSERT_FALSE(symbols.at(space, symbol.address).empty());
    (void)symbols.find(space, symbol.address + symbol.size / 2);
  }
}

TEST(ElfImage, SurvivesDamage) {
  std::mt19937 random(20261121);
  unsigned files = 0;
  for (const char* suffix : {"247-cc-sections.o", "gas247.so", "gas247-pie", "244.so"})
    for (const auto& path : test::inputs_ending(suffix)) {
      const auto bytes = test::read_file(path);
      for (std::size_t size = 0; size < bytes.size(); size += 64)
        use_all(std::vector(
            bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))); // own buffer: over-reads show
      auto image = Image::parse(bytes);
      const std::size_t headers = bytes.size() - std::min(bytes.size(), image->sections().size() * 64);
      for (unsigned i = 0; i < 200; ++i) {
        auto damaged = bytes;
        for (unsigned flips = 0; flips < 1 + i % 4; ++flips) {
          // Half of them in the header and the section headers, where they hurt most.
          std::size_t at = random() % bytes.size();
          if (i % 2) at = random() % 2 ? random() % 64 : headers + random() % (bytes.size() - headers);
          damaged[at] ^= std::byte(1u << random() % 8);
        }
        use_all(damaged);
      }
      ++files;
    }
  EXPECT_GE(files, 8u);
}

} // namespace elf_image_test
} // namespace sframe::elf
