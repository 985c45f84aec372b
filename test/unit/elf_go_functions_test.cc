// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made-up function tables of each version of Go's linker (src/runtime/symtab.go: pcHeader, pcvalue, step;
// src/runtime/runtime2.go: _func), whole, cut and with wrong numbers.

#include "elf_builder.h"

#include "sframe/elf/go_functions.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sframe::elf {
namespace elf_go_functions_test {

using test::Writer;

constexpr std::uint64_t text = 0x401000, text_size = 0x100, table_address = 0x500000,
                        none = ~std::uint64_t{0};

/// A value and the code offset where it ends, in bytes.
using Values = std::vector<std::pair<std::int32_t, std::uint32_t>>;

struct Function {
  std::uint64_t start = 0; ///< from the start of the code
  std::string_view name;
  std::uint8_t flags = 0;
  Values frame_sizes, files, lines, inlined;
};

enum class Version { go12, go116, go118, go120 };

/// The words before the list, in the order of pcHeader.
struct Table {
  Version version = Version::go120;
  ByteOrder order = ByteOrder::little;
  unsigned quantum = 1, word = 8;
  std::uint64_t text_start = text;           ///< as the header has it, since 1.18
  std::optional<std::uint64_t> count;        ///< instead of the number of functions
  std::optional<std::uint32_t> further_data; ///< npcdata, instead of 3
  std::string_view third = "runtime.mcall";
  std::uint8_t third_flags = 2;

  std::vector<Function> functions() const {
    return {
        {0x00, "main.main", 0, {{0, 4}, {24, 0x1c}, {0, 0x20}}, {{1, 0x20}}, {{7, 8}, {9, 0x20}}, {}},
        {0x20, "runtime.goexit", 1 | 4, {{0, 0x20}}, {{0, 0x20}}, {{1650, 0x20}}, {}},
        {0x40, third, third_flags, {{8, 0x40}}, {{0, 0x40}}, {{70, 0x40}}, {{-1, 8}, {0, 0x10}, {-1, 0x40}}}};
  }
  static constexpr std::uint64_t end = 0x80;

  std::vector<std::byte> build() const {
    const bool has_frames = version >= Version::go118, has_parts = version >= Version::go116;
    const unsigned entry = has_frames ? 4 : 8;
    const auto all = functions();
    // Each part by itself; offsets of names, files and values are from their starts. 0 is no table.
    Writer names(order), units(order), files(order), values(order);
    if (!has_parts) values.zeros(0);
    const auto text_of = [](Writer& to, std::string_view what) {
      const std::uint64_t at = to.bytes.size();
      to.text(what, what.size() + 1);
      return at;
    };
    units.u32(text_of(files, "/go/src/runtime/asm.s")).u32(text_of(files, "/srv/main.go"));
    const auto varint = [&](std::uint32_t value) {
      for (; value > 127; value >>= 7) values.number((value & 127) | 128, 1);
      values.number(value, 1);
    };
    values.zeros(1);
    const auto put_values = [&](const Values& list) -> std::uint64_t {
      if (list.empty()) return 0;
      const std::uint64_t at = values.bytes.size();
      std::int32_t before = -1;
      std::uint32_t from = 0;
      for (const auto& [value, until] : list) {
        const std::int32_t difference = value - std::exchange(before, value);
        varint(static_cast<std::uint32_t>(difference << 1 ^ difference >> 31));
        varint((until - std::exchange(from, until)) / quantum);
      }
      values.zeros(1);
      return at;
    };
    Writer list(order), data(order);
    const std::uint64_t list_size = (2 * all.size() + 1) * entry;
    for (const Function& function : all) {
      list.number(has_frames ? function.start : text + function.start, entry)
          .number((has_parts ? list_size : 0) + data.bytes.size(), entry);
      data.number(has_frames ? function.start : text + function.start, entry);
      data.u32(text_of(names, function.name)).u32(0).u32(0); // arguments, deferreturn
      data.u32(put_values(function.frame_sizes))
          .u32(put_values(function.files))
          .u32(put_values(function.lines));
      data.u32(further_data.value_or(3)).u32(0);  // the unit's first file
      if (version == Version::go120) data.u32(1); // the first line
      data.number(0, 1).number(function.flags, 1).zeros(2);
      data.u32(0).u32(0).u32(put_values(function.inlined));
    }
    list.number(has_frames ? end : text + end, entry);

    constexpr std::uint32_t magic[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
    Writer out(order);
    out.u32(magic[static_cast<int>(version)]).zeros(2).number(quantum, 1).number(word, 1);
    out.u64(count.value_or(all.size()));
    if (version == Version::go12) {
      // Names and data are counted from the table's start.
      Writer moved(order);
      const std::uint64_t data_at = out.bytes.size() + list_size, names_at = data_at + data.bytes.size();
      const std::uint64_t each = data.bytes.size() / all.size();
      for (std::size_t i = 0; i < all.size(); ++i) {
        moved.u64(text + all[i].start).u64(data_at + i * each);
        Writer name(order);
        std::uint64_t before = 0;
        for (std::size_t j = 0; j < i; ++j) before += all[j].name.size() + 1;
        name.u32(names_at + before);
        std::ranges::copy(name.bytes, data.bytes.begin() + static_cast<std::ptrdiff_t>(i * each + entry));
      }
      moved.u64(text + end);
      return out.append(moved.bytes).append(data.bytes).append(names.bytes).bytes;
    }
    out.u64(2); // files
    if (has_frames) out.u64(text_start);
    const std::uint64_t names_at = out.bytes.size() + 5 * 8, units_at = names_at + names.bytes.size(),
                        files_at = units_at + units.bytes.size(), values_at = files_at + files.bytes.size();
    out.u64(names_at).u64(units_at).u64(files_at).u64(values_at).u64(values_at + values.bytes.size());
    return out.append(names.bytes)
        .append(units.bytes)
        .append(files.bytes)
        .append(values.bytes)
        .append(list.bytes)
        .append(data.bytes)
        .bytes;
  }
};

/// An image with the table, and what GoFunctions makes of it.
struct Program {
  std::vector<std::byte> bytes;
  std::optional<Image> image;
  std::optional<GoFunctions> functions;

  Program(std::vector<std::byte> table, ByteOrder order, std::uint64_t entry = none,
          const std::vector<test::TestSection>& more = {}, const char* name = ".gopclntab",
          std::uint16_t type = et_exec) {
    test::TestElf elf{.order = order,
                      .type = type,
                      .machine = static_cast<std::uint16_t>(order == ByteOrder::little ? 62 : 22),
                      .sections = {{.name = name, .address = table_address, .bytes = std::move(table)}},
                      .segments = {}};
    elf.sections.front().flags = shf_alloc;
    elf.sections.insert(elf.sections.end(), more.begin(), more.end());
    bytes = elf.build();
    if (entry != none) {
      const auto word = Writer(order).u64(entry).bytes;
      std::ranges::copy(word, bytes.begin() + 24); // e_entry
    }
    auto parsed = Image::parse(bytes);
    if (!parsed) return;
    image = std::move(*parsed);
    functions = GoFunctions::open(*image);
  }
  explicit Program(const Table& table) : Program(table.build(), table.order) {}
};

const test::TestSection text_section{.name = ".text",
                                     .flags = shf_alloc | shf_execinstr,
                                     .address = text,
                                     .bytes = std::vector<std::byte>(text_size)};

TEST(ElfGoFunctions, NamesOfEachVersion) {
  for (const Version version : {Version::go12, Version::go116, Version::go118, Version::go120})
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const Program program(
          Table{.version = version, .order = order, .quantum = order == ByteOrder::big ? 2u : 1u});
      ASSERT_TRUE(program.functions) << static_cast<int>(version);
      EXPECT_EQ(program.functions->size(), 3u);
      EXPECT_EQ(program.functions->has_frames(), version >= Version::go118);
      for (const Function& expected : Table().functions()) {
        const std::uint64_t start = text + expected.start;
        const auto found = program.functions->find(start + 5);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->name, expected.name);
        EXPECT_EQ(found->extent.start, start);
        EXPECT_EQ(found->extent.size, expected.start == 0x40 ? 0x40u : 0x20u);
        // Flags came with 1.18.
        const std::uint8_t flags = version >= Version::go118 ? expected.flags : 0;
        EXPECT_EQ(found->is_top, bool(flags & 1));
        EXPECT_EQ(found->sets_sp, bool(flags & 2));
        EXPECT_EQ(found->is_assembly, bool(flags & 4));
      }
      EXPECT_FALSE(program.functions->find(text - 1));
      EXPECT_FALSE(program.functions->find(text + Table::end));
    }
}

// The mark is missing on s390x, whose assembler takes the change of stacks for a frame.
TEST(ElfGoFunctions, FunctionsThatSwitchStacks) {
  for (const auto& [name, flags, sets_sp] : {std::tuple("runtime.switchToCrashStack0", 0, true),
                                             {"runtime.switchToCrashStack0", 2, true},
                                             {"runtime.switchToCrashStack", 0, false},
                                             {"runtime.mcall", 2, true},
                                             {"runtime.mcall", 4, false}}) {
    const Program program(Table{.third = name, .third_flags = static_cast<std::uint8_t>(flags)});
    const auto found = program.functions ? program.functions->find(text + 0x40) : std::nullopt;
    ASSERT_TRUE(found);
    EXPECT_EQ(found->sets_sp, sets_sp) << name << flags;
  }
}

TEST(ElfGoFunctions, FramesAndLines) {
  for (const Version version : {Version::go118, Version::go120})
    for (const unsigned quantum : {1u, 2u, 4u}) {
      const Program program(Table{.version = version, .order = ByteOrder::big, .quantum = quantum});
      ASSERT_TRUE(program.functions);
      const GoFunctions& functions = *program.functions;
      const auto main = functions.find(text), mcall = functions.find(text + 0x40);
      ASSERT_TRUE(main && mcall);
      for (const auto& [offset, size] :
           {std::pair(0u, 0u), {3, 0}, {4, 24}, {0x1b, 24}, {0x1c, 0}, {0x1f, 0}})
        EXPECT_EQ(functions.frame_size(*main, text + offset, nullptr), size) << offset;
      EXPECT_EQ(functions.frame_size(*main, text + 0x20, nullptr), std::nullopt);
      const auto before = functions.line(*main, text + 7, nullptr),
                 after = functions.line(*main, text + 8, nullptr);
      ASSERT_TRUE(before && after);
      EXPECT_EQ(before->file, "/srv/main.go");
      EXPECT_EQ(before->line, 7u);
      EXPECT_EQ(after->line, 9u);
      EXPECT_FALSE(before->is_inlined);
      for (const auto& [offset, inlined] : {std::pair(7u, false), {8, true}, {0xf, true}, {0x10, false}}) {
        const auto line = functions.line(*mcall, text + 0x40 + offset, nullptr);
        ASSERT_TRUE(line);
        EXPECT_EQ(line->file, "/go/src/runtime/asm.s");
        EXPECT_EQ(line->line, 70u);
        EXPECT_EQ(line->is_inlined, inlined) << offset;
      }
    }
  // No table of inlined calls.
  const Program program(Table{.further_data = 2});
  ASSERT_TRUE(program.functions);
  const auto line = program.functions->line(*program.functions->find(text + 0x48), text + 0x48, nullptr);
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->is_inlined);
}

TEST(ElfGoFunctions, OlderTablesHaveNamesOnly) {
  for (const Version version : {Version::go12, Version::go116}) {
    const Program program(Table{.version = version});
    ASSERT_TRUE(program.functions);
    const auto main = program.functions->find(text);
    ASSERT_TRUE(main);
    EXPECT_FALSE(program.functions->frame_size(*main, text, nullptr));
    EXPECT_FALSE(program.functions->line(*main, text, nullptr));
  }
}

// Since 1.26 the word for the start of the code is 0; in a program at any address the loader fills it in.
TEST(ElfGoFunctions, StartOfTheCode) {
  const auto table = Table{.text_start = 0}.build();
  constexpr std::uint64_t word = table_address + 8 + 2 * 8;
  const auto start_of = [](const Program& program) {
    const auto found = program.functions ? program.functions->find(text + 0x20) : std::nullopt;
    return found ? std::optional(found->extent.start) : std::nullopt;
  };
  EXPECT_EQ(start_of(Program(table, ByteOrder::little)), std::nullopt);
  // The entry point is that of Go's runtime, so .text is all Go's.
  const auto with_entry = Table{.text_start = 0, .third = "_rt0_amd64_linux"}.build();
  EXPECT_EQ(start_of(Program(with_entry, ByteOrder::little, text + 0x40, {text_section})), text + 0x20);
  EXPECT_EQ(start_of(Program(with_entry, ByteOrder::little, text + 0x41, {text_section})), std::nullopt);
  // The entry point of C's start-up code: it is first in .text, as is a function of Go's in the list.
  EXPECT_EQ(start_of(Program(table, ByteOrder::little, text, {text_section})), std::nullopt);
  EXPECT_EQ(start_of(Program(table, ByteOrder::little, text + 0x41, {text_section})), std::nullopt);
  EXPECT_EQ(start_of(Program(table, ByteOrder::little, text + 0xf0, {text_section})), std::nullopt);
  // R_X86_64_RELATIVE, of this word and of others.
  for (const std::uint64_t place : {word, word - 8, word + 8}) {
    Writer relocation;
    relocation.u64(place).u64(8).u64(text + 0x1000);
    const Program program(table, ByteOrder::little, none,
                          {{.name = ".rela.dyn",
                            .type = sht_rela,
                            .flags = shf_alloc,
                            .address = 0x600000,
                            .bytes = relocation.bytes,
                            .entsize = 24}},
                          ".data.rel.ro.gopclntab", et_dyn);
    ASSERT_EQ(program.functions.has_value(), place == word) << place;
    if (place == word) {
      EXPECT_EQ(program.functions->find(text + 0x1005)->name, "main.main");
    }
  }
  // moduledata (runtime/symtab.go): a pointer to the table, six slices, three words, and the start of the
  // code.
  for (const std::uint64_t pointer : {table_address, table_address + 8}) {
    Writer data;
    data.u64(pointer).zeros(6 * 24 + 3 * 8).u64(text + 0x2000);
    const Program program(
        table, ByteOrder::little, none,
        {{.name = ".go.module", .flags = shf_alloc | shf_write, .address = 0x610000, .bytes = data.bytes}});
    ASSERT_EQ(program.functions.has_value(), pointer == table_address);
    if (program.functions) {
      EXPECT_EQ(program.functions->find(text + 0x2005)->name, "main.main");
    }
  }
  EXPECT_FALSE(Program(table, ByteOrder::little, none, {}, ".pclntab").functions);
  EXPECT_FALSE(Program(Table().build(), ByteOrder::little, none, {}, ".gopclntab", et_rel).functions);
}

// GNU ld puts the table of programs at any address into .data.rel.ro.
TEST(ElfGoFunctions, InData) {
  const test::TestSection mark{
      .name = ".go.buildinfo", .flags = shf_alloc, .address = 0x610000, .bytes = std::vector<std::byte>(16)};
  for (const std::size_t before : {0u, 8u, 160u, 4u}) {
    auto data = Table().build();
    data.insert(data.begin(), before, std::byte{});
    const Program program(data, ByteOrder::little, none, {mark}, ".data.rel.ro", et_dyn);
    ASSERT_EQ(program.functions.has_value(), before != 4) << before; // words are aligned
    if (program.functions) {
      EXPECT_EQ(program.functions->find(text + 0x25)->name, "runtime.goexit");
    }
    EXPECT_FALSE(Program(data, ByteOrder::little, none, {}, ".data.rel.ro", et_dyn).functions);
  }
}

TEST(ElfGoFunctions, WrongHeaders) {
  EXPECT_FALSE(Program(Table{.quantum = 3}).functions);
  EXPECT_FALSE(Program(Table{.quantum = 8}).functions);
  EXPECT_FALSE(Program(Table{.word = 4}).functions);
  auto other = Table().build();
  other[0] = std::byte{0xf2};
  EXPECT_FALSE(Program(other, ByteOrder::little).functions);
  EXPECT_FALSE(Program(Table().build(), ByteOrder::big).functions);
  // More functions than there is room for; the products would wrap.
  for (const std::uint64_t count : {std::uint64_t{1} << 16, std::uint64_t{1} << 61, none})
    EXPECT_FALSE(Program(Table{.count = count}).functions) << count;
  const Program empty(Table{.count = 0});
  ASSERT_TRUE(empty.functions);
  EXPECT_FALSE(empty.functions->find(text));
}

/// Asks all that can be asked.
void ask(const Program& program) {
  if (!program.functions) return;
  Budget budget(Limits::standard, program.bytes.size());
  for (std::uint64_t at = text - 4; at < text + Table::end + 8; at += 4) {
    const auto function = program.functions->find(at);
    if (!function) continue;
    EXPECT_LT(at - function->extent.start, function->extent.size);
    (void)program.functions->frame_size(*function, at, &budget);
    const auto line = program.functions->line(*function, at, &budget);
    EXPECT_TRUE(!line || !line->file.empty());
  }
}

TEST(ElfGoFunctions, CutAtEachByte) {
  for (const Version version : {Version::go12, Version::go116, Version::go118, Version::go120}) {
    const auto whole = Table{.version = version}.build();
    for (std::size_t size = 0; size < whole.size(); ++size)
      ask(Program({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ByteOrder::little));
  }
}

TEST(ElfGoFunctions, WrongNumbers) {
  for (const Version version : {Version::go12, Version::go116, Version::go118, Version::go120}) {
    const auto whole = Table{.version = version}.build();
    for (std::size_t at = 4; at + 4 <= whole.size(); at += 4)
      for (const int value : {0x7f, 0x80, 0xff}) {
        auto table = whole;
        std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte(value));
        ask(Program(table, ByteOrder::little));
      }
  }
}

// Functions whose ends are before their starts are none; a list is searched, not trusted.
TEST(ElfGoFunctions, UnsortedStarts) {
  auto table = Table().build();
  const std::size_t list = table.size() - 3 * (4 + 10 * 4 + 3 * 4) - 7 * 4;
  ASSERT_EQ(table[list + 8], std::byte{0x20});
  table[list + 8] = std::byte{0x70}; // the second function's start, beyond the third's
  const Program program(table, ByteOrder::little);
  ASSERT_TRUE(program.functions);
  for (std::uint64_t at = text; at < text + Table::end; at += 4) {
    const auto found = program.functions->find(at);
    EXPECT_TRUE(!found || at - found->extent.start < found->extent.size);
  }
}

TEST(ElfGoFunctions, BudgetIsUsedUp) {
  const Program program(Table{});
  ASSERT_TRUE(program.functions);
  const auto main = program.functions->find(text);
  Budget budget(Limits::strict, 0);
  ASSERT_TRUE(program.functions->frame_size(*main, text, &budget));
  ASSERT_TRUE(budget.take(Resource::cfi_instructions, budget.left(Resource::cfi_instructions)));
  EXPECT_FALSE(program.functions->frame_size(*main, text, &budget));
  EXPECT_FALSE(program.functions->line(*main, text, &budget));
}

} // namespace elf_go_functions_test
} // namespace sframe::elf
