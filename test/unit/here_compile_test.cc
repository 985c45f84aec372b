// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lib/here with malformed sections: the work is bounded by the section's size, not by its header's claims,
// and nothing is allocated by malloc or new.

#include "allocations.h"
#include "cfi_assembler.h"
#include "compile.h"
#include "host.h"
#include "section_headers.h"

#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace here_compile_test {

using namespace sframe;
using namespace sframe::test;
namespace own = sframe::here;

/// A section's bytes, and where they are.
struct Made {
  std::vector<std::byte> bytes;
  std::uint64_t address;
};

/// A version 2 section (SFrame specification 2, chapters 2 and 3) of one PCMASK function of nearly 4 GiB
/// whose blocks have one byte each, with `num_rows` rows.
Made blocks_of_one_byte(std::uint32_t num_rows, const Bytes& rows) {
  const AbiTraits& abi = traits(here::host::abi);
  constexpr int header_size = 28, entry_size = 20;
  constexpr int fde_sorted = 1, pc_mask = 1 << 4;
  Bytes section(abi.byte_order);
  section.u16(0xdee2).u8(2).u8(fde_sorted);
  section.u8(static_cast<std::uint64_t>(abi.id))
      .u8(0)
      .u8(static_cast<std::uint64_t>(abi.fixed_ra_offset))
      .u8(0);
  section.u32(1).u32(num_rows).u32(rows.size()).u32(0).u32(entry_size);
  EXPECT_EQ(section.size(), std::size_t{header_size});
  section.u32(0x1000).u32(0xffff0000).u32(0).u32(num_rows).u8(pc_mask).u8(1).u16(0);
  EXPECT_EQ(section.size(), std::size_t{header_size + entry_size});
  section.append(rows);
  return {section.get(), 0x100000};
}

struct Compiled {
  explicit Compiled(const Made& section) {
    EXPECT_TRUE(own::compile_sframe({section.bytes, section.address}, section.address, rules, rows));
    EXPECT_TRUE(rules.finish());
    EXPECT_TRUE(rows.finish());
  }
  own::RulePool rules;
  own::RowTable rows;
};

/// Without an end these take minutes.
TEST(HereCompile, BlocksWithoutRowsAreNotCounted) {
  const auto section = blocks_of_one_byte(0, Bytes());
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

TEST(HereCompile, BlocksWithoutAReadableRowAreNotCounted) {
  // A row whose info byte gives its data words an impossible size.
  const auto section = blocks_of_one_byte(1, Bytes(traits(here::host::abi).byte_order).u8(0).u8(0xff));
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  EXPECT_EQ(Compiled(section).rows.size(), 0u);
}

/// A row that can be read is repeated, but not more often than a section of that size could hold.
TEST(HereCompile, ImplausibleBlocksEnd) {
  const AbiTraits& abi = traits(here::host::abi);
  // CFA = SP + 8 or 16; s390x requires the return address, too.
  const int words = abi.fixed_ra_offset ? 1 : 2;
  Bytes row(abi.byte_order);
  row.u8(0).u8(static_cast<std::uint64_t>(1 | words << 1)).u8(16);
  if (words == 2) row.u8(0xf8);
  const auto section = blocks_of_one_byte(1, row);
  const auto parsed = Section::parse(section.bytes, section.address);
  ASSERT_TRUE(parsed);
  const Compiled compiled(section);
  EXPECT_GT(compiled.rows.size(), 0u);
  EXPECT_LE(compiled.rows.size(), 2 * parsed->plausible_rows());
}

/// .eh_frame with one function at 0x1000 whose states nest that deep before its second row.
std::vector<std::byte> nested_states(int depth) {
  const AbiTraits& abi = traits(here::host::abi);
  CfiAssembler a(cfi::SectionKind::eh_frame, abi.byte_order);
  const auto cie = a.cie(a.body()
                             .u8(1)
                             .text("")
                             .uleb(1)
                             .sleb(-8)
                             .u8(abi.ra)
                             .u8(0x0c)
                             .uleb(abi.sp)
                             .uleb(16)
                             .u8(0x80 | abi.ra)
                             .uleb(1));
  Bytes fde = a.body().u64(0x1000).u64(0x100);
  for (int i = 0; i < depth; ++i) fde.u8(0x0a); // DW_CFA_remember_state
  fde.u8(0x41).u8(0x0e).uleb(32);               // DW_CFA_advance_loc 1, DW_CFA_def_cfa_offset
  a.fde(cie, fde);
  return a.bytes().get();
}

TEST(HereCompile, NestedStatesAllocateNothing) {
  for (const int depth : {0, 6, 7, 60}) {
    const auto bytes = nested_states(depth);
    own::RulePool rules;
    own::RowTable rows;
    const std::size_t before = allocations();
    EXPECT_TRUE(own::compile_cfi({bytes, 0x100000}, 0, rules, rows));
    EXPECT_EQ(allocations(), before);
    const auto first = rows.find(0x1000), second = rows.find(0x1001);
    // Two rows, or, from seven states on, none: the fault comes before the first one is complete.
    EXPECT_EQ(first.has_value(), depth <= 6) << depth;
    EXPECT_EQ(second.has_value(), depth <= 6) << depth;
    EXPECT_TRUE(!first || first != second);
  }
}

/// A function of an .eh_frame, with the rules that its rows get.
class HereCfi {
public:
  explicit HereCfi(const char* augmentation = "") {
    const AbiTraits& abi = traits(here::host::abi);
    Bytes body = section_.body().u8(1).text(augmentation).uleb(1).sleb(-8).u8(abi.ra);
    if (*augmentation == 'z') body.uleb(0);
    cie_ = section_.cie(body);
  }
  void add(std::uint64_t start, std::uint64_t size, const Bytes& instructions, bool augmented = false) {
    Bytes body = section_.body().u64(start).u64(size);
    if (augmented) body.uleb(0);
    section_.fde(cie_, body.append(instructions));
  }
  Bytes instructions() const { return section_.body(); }
  void compile(std::uint64_t base = 0) {
    ASSERT_TRUE(own::compile_cfi({section_.bytes().get(), 0x100000}, base, rules, rows));
    ASSERT_TRUE(rules.finish());
    ASSERT_TRUE(rows.finish());
  }
  /// The operations for an address: kind, register, base and offset of each; empty if there is no rule.
  std::string at(std::uint32_t address) {
    const auto number = rows.find(address);
    if (!number) return "";
    const own::CompiledRule rule = rules.rule(*number);
    const char* const kinds[] = {"undefined", "value", "stored", "expression", "val_expression"};
    std::string text = rule.flags & own::CompiledRule::signal_frame ? "signal: " : "";
    for (const own::Operation& op : rule.operations)
      text += std::string(kinds[static_cast<int>(op.kind)]) + " " + std::to_string(op.reg) + " " +
              (op.base == own::Operation::cfa_base ? "cfa" : std::to_string(op.base)) + " " +
              std::to_string(op.offset) + "; ";
    return text;
  }

  own::RulePool rules;
  own::RowTable rows;

private:
  CfiAssembler section_{cfi::SectionKind::eh_frame, traits(here::host::abi).byte_order};
  std::size_t cie_ = 0;
};

#if defined(__x86_64__)
// DWARF 5, 6.4.2; AMD64: 7 is rsp, 16 the return address.
TEST(HereCompile, RulesOfEachKind) {
  HereCfi cfi;
  const Bytes usual = cfi.instructions().raw({0x0c, 7, 8, 0x90, 1}); // CFA = rsp + 8, RA at CFA - 8
  const auto with = [&](std::uint64_t start, std::initializer_list<int> more) {
    cfi.add(start, 0x10, Bytes(usual).raw(more));
  };
  with(0x1000, {});
  with(0x1100, {0x86, 2});                                   // offset: rbp
  with(0x1200, {0x08, 3});                                   // same_value: rbx
  with(0x1300, {0x07, 6});                                   // undefined: rbp
  with(0x1400, {0x09, 6, 12});                               // register: rbp in r12
  with(0x1500, {0x14, 6, 2});                                // val_offset: rbp
  with(0x1600, {0x10, 6, 2, 0x40, 0x1c});                    // expression
  with(0x1700, {0x16, 6, 1, 0x40});                          // val_expression
  with(0x1800, {0x87, 3});                                   // offset: rsp
  with(0x1900, {0x07, 7});                                   // undefined: rsp, as if there was no rule
  with(0x1a00, {0x0f, 2, 0x77, 8});                          // def_cfa_expression
  with(0x1b00, {0x07, 16});                                  // undefined: the return address
  cfi.add(0x1c00, 0x10, cfi.instructions().raw({0x07, 16})); // the same without a CFA
  cfi.add(0x1d00, 0x10, cfi.instructions().raw({0x90, 1}));  // a return address, but no CFA
  cfi.compile();
  const std::string start = "value 0 7 8; stored 16 cfa -8; ";
  EXPECT_EQ(cfi.at(0x1000), start);
  EXPECT_EQ(cfi.at(0x1100), start + "stored 6 cfa -16; ");
  EXPECT_EQ(cfi.at(0x1200), start + "value 3 3 0; ");
  EXPECT_EQ(cfi.at(0x1300), start + "undefined 6 0 0; ");
  EXPECT_EQ(cfi.at(0x1400), start + "value 6 12 0; ");
  EXPECT_EQ(cfi.at(0x1500), start + "value 6 cfa -16; ");
  EXPECT_EQ(cfi.at(0x1600), start + "expression 6 2 0; ");
  EXPECT_EQ(cfi.at(0x1700), start + "val_expression 6 1 2; ");
  EXPECT_EQ(cfi.at(0x1800), start + "stored 7 cfa -24; ");
  EXPECT_EQ(cfi.at(0x1900), start);
  EXPECT_EQ(cfi.at(0x1a00), "val_expression 0 2 3; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x1b00), "value 0 7 8; undefined 16 0 0; ");
  EXPECT_EQ(cfi.at(0x1c00), "undefined 0 0 0; undefined 16 0 0; ");
  EXPECT_EQ(cfi.at(0x1d00), "");
  EXPECT_EQ(cfi.at(0x100f), start);
  EXPECT_EQ(cfi.at(0x1010), "");
  EXPECT_EQ(cfi.at(0xfff), "");
}

/// Of functions that overlap, the next one ends this one; addresses count from the base.
TEST(HereCompile, OverlappingFunctions) {
  HereCfi cfi;
  const auto add = [&](std::uint64_t start, std::uint64_t size, int cfa) {
    cfi.add(start, size, cfi.instructions().raw({0x0c, 7, cfa, 0x90, 1}));
  };
  add(0x3000, 0x100, 32);
  add(0x2000, 0x100, 8); // not in order
  add(0x2080, 0x10, 16);
  add(0x800, 0x10, 24); // before the base
  add(0x4000, 0, 40);   // empty
  cfi.compile(0x1000);
  EXPECT_EQ(cfi.at(0x1000), "value 0 7 8; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x107f), "value 0 7 8; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x1080), "value 0 7 16; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x1090), "");
  EXPECT_EQ(cfi.at(0x2000), "value 0 7 32; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x3000), "");
  EXPECT_EQ(cfi.rows.size(), 5u);
}

TEST(HereCompile, SignalFrames) {
  HereCfi cfi("zS");
  cfi.add(0x1000, 0x10, cfi.instructions().raw({0x0c, 7, 8, 0x90, 1}), true);
  cfi.compile();
  EXPECT_EQ(cfi.at(0x1000), "signal: value 0 7 8; stored 16 cfa -8; ");
}
#endif

/// More rules than any table has at first; each keeps its number.
TEST(HereCompile, ManyRulesKeepTheirNumbers) {
  own::RulePool rules;
  const auto number = [&](std::int32_t i) {
    const std::array operations{own::Operation{own::Operation::Kind::value, 0, 7, i * 8},
                                own::Operation{own::Operation::Kind::stored, 0, 7, -8}};
    return rules.number(operations, static_cast<std::uint8_t>(i % 2));
  };
  const auto place = [&](std::int32_t i) {
    const std::array bytes{std::byte(i), std::byte(i >> 8), std::byte{1}};
    return rules.expression_offset(bytes);
  };
  for (std::int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(number(i), static_cast<std::uint32_t>(i));
    ASSERT_EQ(place(i), i * 3);
  }
  for (std::int32_t i = 4999; i >= 0; --i) {
    ASSERT_EQ(number(i), static_cast<std::uint32_t>(i));
    ASSERT_EQ(place(i), i * 3);
  }
  EXPECT_TRUE(rules.finish());
  EXPECT_EQ(rules.rule(4321).cfa().offset, 4321 * 8);
  EXPECT_EQ(rules.rule(4321).flags, 1);
}

// This program's section headers, as the reader of ELF files sees them.
TEST(HereSections, OfTheProgram) {
  const auto file = elf::File::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto image = elf::Image::parse(file->bytes());
  ASSERT_TRUE(image);
  std::vector<const elf::SectionHeader*> expected;
  for (const elf::SectionHeader& section : image->sections())
    if (section.allocated() && (section.name == ".eh_frame" || section.name == ".sframe"))
      expected.push_back(&section);
  ASSERT_FALSE(expected.empty());
  const own::FileSections sections = own::unwind_sections_of_program();
  ASSERT_EQ(sections.found().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(sections.found()[i].is_eh_frame, expected[i]->name == ".eh_frame");
    EXPECT_EQ(sections.found()[i].address, expected[i]->address);
    EXPECT_EQ(sections.found()[i].size, expected[i]->size);
  }
}

// Where a program has no standard input, its file gets descriptor 0. It is closed like any other.
TEST(HereSections, LowestDescriptor) {
  const int input = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  ::close(0);
  const bool any = !own::unwind_sections_of_program().found().empty();
  const bool closed = ::fcntl(0, F_GETFD) == -1;
  if (input >= 0) {
    ::dup2(input, 0);
    ::close(input);
  }
  EXPECT_TRUE(any);
  EXPECT_TRUE(closed);
}

} // namespace here_compile_test
