// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lib/here's tables: rules of each kind, functions in any order, malformed sections. The work is bounded by
// the section's size, not by its header's claims, and nothing is allocated by malloc or new.

#include "allocations.h"
#include "cfi_assembler.h"
#include "cfi_table.h"
#include "host.h"
#include "section_headers.h"
#include "sframe_table.h"

#include "sframe/section.h"

#if __has_include("sframe/elf/file.h") // not without the programs' libraries
#  include "sframe/elf/file.h"
#  include "sframe/elf/image.h"
#  define HAVE_ELF_READER 1
#endif

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace here_table_test {

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

/// Without an end these would take minutes.
TEST(HereTables, BlocksWithoutRows) {
  const auto section = blocks_of_one_byte(0, Bytes());
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  own::Operations to;
  EXPECT_FALSE(own::SframeTable({section.bytes, section.address}).find(0x101000, to));
}

TEST(HereTables, BlocksWithoutAReadableRow) {
  // A row whose info byte gives its data words an impossible size.
  const auto section = blocks_of_one_byte(1, Bytes(traits(here::host::abi).byte_order).u8(0).u8(0xff));
  ASSERT_TRUE(Section::parse(section.bytes, section.address)) << "a section that is read";
  own::Operations to;
  EXPECT_FALSE(own::SframeTable({section.bytes, section.address}).find(0x101000, to));
}

/// A row that can be read holds in each block.
TEST(HereTables, BlocksWithARow) {
  const AbiTraits& abi = traits(here::host::abi);
  // CFA = SP + 8 or 16; s390x requires the return address, too.
  const int words = abi.fixed_ra_offset ? 1 : 2;
  Bytes row(abi.byte_order);
  row.u8(0).u8(static_cast<std::uint64_t>(1 | words << 1)).u8(16);
  if (words == 2) row.u8(0xf8);
  const auto section = blocks_of_one_byte(1, row);
  const own::SframeTable table({section.bytes, section.address});
  ASSERT_TRUE(table.complete());
  EXPECT_EQ(table.functions(), 1u);
  own::Operations to;
  EXPECT_FALSE(table.find(0x100fff, to));
  for (const std::uint64_t pc : {0x101000u, 0x101001u, 0xf0000000u}) {
    const auto rule = table.find(pc, to);
    ASSERT_TRUE(rule) << std::hex << pc;
    EXPECT_EQ(rule->cfa().base, abi.sp);
  }
  EXPECT_TRUE(table.find(0x1000f0fff, to));
  EXPECT_FALSE(table.find(0x1000f1000, to));
}

/// Two sections, one after the other, as `ld -r` leaves them: functions of both are found.
TEST(HereTables, ConcatenatedSections) {
  const AbiTraits& abi = traits(here::host::abi);
  const int words = abi.fixed_ra_offset ? 1 : 2;
  Bytes both(abi.byte_order);
  for (const int start : {0x2000, 0x1000}) {
    Bytes row(abi.byte_order);
    row.u8(0).u8(static_cast<std::uint64_t>(1 | words << 1)).u8(16);
    if (words == 2) row.u8(0xf8);
    both.u16(0xdee2).u8(2).u8(1).u8(static_cast<std::uint64_t>(abi.id)).u8(0);
    both.u8(static_cast<std::uint64_t>(abi.fixed_ra_offset)).u8(0);
    both.u32(1).u32(1).u32(row.size()).u32(0).u32(20);
    both.u32(static_cast<std::uint64_t>(start)).u32(0x100).u32(0).u32(1).u8(0).u8(0).u16(0);
    both.append(row);
    while (both.size() % 8) both.u8(0);
  }
  const auto bytes = both.get();
  const std::uint64_t address = 0x100000, second = address + bytes.size() / 2;
  const own::SframeTable table({bytes, address});
  EXPECT_EQ(table.functions(), 2u);
  own::Operations to;
  EXPECT_TRUE(table.find(address + 0x2000, to));
  EXPECT_TRUE(table.find(address + 0x20ff, to));
  EXPECT_FALSE(table.find(address + 0x2100, to));
  EXPECT_TRUE(table.find(second + 0x1000, to));
  EXPECT_FALSE(table.find(second + 0xfff, to));
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

TEST(HereTables, NestedStatesAllocateNothing) {
  for (const int depth : {0, 6, 7, 60}) {
    const auto bytes = nested_states(depth);
    own::Operations first_operations, second_operations;
    own::Workspace workspace;
    const std::size_t before = allocations();
    const own::CfiTable table({bytes, 0x100000}, {});
    const auto first = table.find(0x1000, first_operations, *workspace.get());
    const auto second = table.find(0x1001, second_operations, *workspace.get());
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(table.complete());
    // Two rows, or, from seven states on, none: the fault comes before the first one is complete.
    EXPECT_EQ(first.has_value(), depth <= 6) << depth;
    EXPECT_EQ(second.has_value(), depth <= 6) << depth;
    EXPECT_TRUE(!first || first->cfa() != second->cfa());
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
    fdes_.push_back({start, section_.fde(cie_, body.append(instructions))});
  }
  /// Makes link() place the function elsewhere; `by`: bytes after the place of its number in fdes_.
  void move(std::size_t number, std::uint64_t start, std::int64_t by) {
    if (places_.empty()) places_ = fdes_;
    fdes_[number] = {start, places_[number].offset + static_cast<std::uint64_t>(by)};
  }
  Bytes instructions() const { return section_.body(); }
  /// With a search table, as linkers make it, of the functions added: `order` has their numbers.
  void link(std::initializer_list<std::size_t> order) {
    hdr_ = Bytes(traits(here::host::abi).byte_order);
    // Version, encodings: udata4 or, data-relative, sdata4 (LSB 5.0, 10.6.2)
    hdr_.raw({1, 0xff, 0x03, 0x3b}).u32(order.size());
    for (const std::size_t number : order)
      hdr_.u32(fdes_[number].start - hdr_address).u32(0x100000 + fdes_[number].offset - hdr_address);
  }
  own::CfiTable table() {
    return own::CfiTable({section_.bytes().get(), 0x100000}, {hdr_.get(), hdr_address});
  }
  /// The operations for an address: kind, register, base and offset (or an expression's bytes) of each; empty
  /// if there is no rule.
  std::string at(std::uint64_t address) {
    own::Operations operations;
    own::Workspace workspace;
    const own::CfiTable made = table();
    const auto found = made.find(address, operations, *workspace.get());
    if (!found) return "";
    const own::FrameRule& rule = *found;
    const char* const kinds[] = {"undefined", "value", "stored", "expression", "val_expression"};
    std::string text = rule.flags & own::FrameRule::signal_frame ? "signal: " : "";
    for (const own::Operation& op : rule.operations) {
      text += std::string(kinds[static_cast<int>(op.kind)]) + " " + std::to_string(op.reg);
      if (op.kind == own::Operation::Kind::expression || op.kind == own::Operation::Kind::val_expression)
        for (const std::byte byte : rule.expression(op)) text += " " + std::to_string(static_cast<int>(byte));
      else
        text += " " + (op.base == own::Operation::cfa_base ? "cfa" : std::to_string(op.base)) + " " +
                std::to_string(op.offset);
      text += "; ";
    }
    return text;
  }

private:
  static constexpr std::uint64_t hdr_address = 0x80000;
  struct Place {
    std::uint64_t start, offset;
  };
  std::vector<Place> fdes_, places_; ///< as link() has them, and as they are
  Bytes hdr_{traits(here::host::abi).byte_order};
  CfiAssembler section_{cfi::SectionKind::eh_frame, traits(here::host::abi).byte_order};
  std::size_t cie_ = 0;
};

#if defined(__x86_64__)
// DWARF 5, 6.4.2; AMD64: 7 is rsp, 16 the return address.
TEST(HereTables, RulesOfEachKind) {
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
  const std::string start = "value 0 7 8; stored 16 cfa -8; ";
  EXPECT_EQ(cfi.at(0x1000), start);
  EXPECT_EQ(cfi.at(0x1100), start + "stored 6 cfa -16; ");
  EXPECT_EQ(cfi.at(0x1200), start + "value 3 3 0; ");
  EXPECT_EQ(cfi.at(0x1300), start + "undefined 6 0 0; ");
  EXPECT_EQ(cfi.at(0x1400), start + "value 6 12 0; ");
  EXPECT_EQ(cfi.at(0x1500), start + "value 6 cfa -16; ");
  EXPECT_EQ(cfi.at(0x1600), start + "expression 6 64 28; ");
  EXPECT_EQ(cfi.at(0x1700), start + "val_expression 6 64; ");
  EXPECT_EQ(cfi.at(0x1800), start + "stored 7 cfa -24; ");
  EXPECT_EQ(cfi.at(0x1900), start);
  EXPECT_EQ(cfi.at(0x1a00), "val_expression 0 119 8; stored 16 cfa -8; ");
  EXPECT_EQ(cfi.at(0x1b00), "value 0 7 8; undefined 16 0 0; ");
  EXPECT_EQ(cfi.at(0x1c00), "undefined 0 0 0; undefined 16 0 0; ");
  EXPECT_EQ(cfi.at(0x1d00), "");
  EXPECT_EQ(cfi.at(0x100f), start);
  EXPECT_EQ(cfi.at(0x1010), "");
  EXPECT_EQ(cfi.at(0xfff), "");
}

/// Of functions that overlap, the next one ends this one.
TEST(HereTables, OverlappingFunctions) {
  HereCfi cfi;
  const auto add = [&](std::uint64_t start, std::uint64_t size, int cfa) {
    cfi.add(start, size, cfi.instructions().raw({0x0c, 7, cfa, 0x90, 1}));
  };
  add(0x3000, 0x100, 32);
  add(0x2000, 0x100, 8); // not in order
  add(0x2080, 0x10, 16);
  add(0x4000, 0, 40); // empty
  for (const bool linked : {false, true}) {
    if (linked) cfi.link({1, 2, 0, 3});
    EXPECT_EQ(cfi.table().functions(), linked ? 4u : 3u);
    EXPECT_EQ(cfi.at(0x1fff), "");
    EXPECT_EQ(cfi.at(0x2000), "value 0 7 8; stored 16 cfa -8; ");
    EXPECT_EQ(cfi.at(0x207f), "value 0 7 8; stored 16 cfa -8; ");
    EXPECT_EQ(cfi.at(0x2080), "value 0 7 16; stored 16 cfa -8; ");
    EXPECT_EQ(cfi.at(0x2090), "");
    EXPECT_EQ(cfi.at(0x3000), "value 0 7 32; stored 16 cfa -8; ");
    EXPECT_EQ(cfi.at(0x4000), "");
  }
}

/// A search table whose entries are not FDEs, or those of other addresses.
TEST(HereTables, WrongSearchTable) {
  HereCfi cfi;
  const Bytes usual = cfi.instructions().raw({0x0c, 7, 8, 0x90, 1});
  for (const std::uint64_t start : {0x1000, 0x2000, 0x3000}) cfi.add(start, 0x100, usual);
  cfi.link({0, 1, 2});
  EXPECT_NE(cfi.at(0x2010), "");
  cfi.move(1, 0x2000, 4);
  cfi.link({0, 1, 2});
  EXPECT_EQ(cfi.at(0x2010), "") << "the middle of an entry";
  cfi.move(1, 0x2004, 0);
  cfi.link({0, 1, 2});
  EXPECT_EQ(cfi.at(0x2010), "") << "another function";
  cfi.move(1, 0x2000, -0x1000);
  cfi.link({0, 1, 2});
  EXPECT_EQ(cfi.at(0x2010), "") << "before the section";
  cfi.move(1, 0x2000, 0x10000);
  cfi.link({0, 1, 2});
  EXPECT_EQ(cfi.at(0x2010), "") << "after the section";
  EXPECT_NE(cfi.at(0x3010), "");
}

TEST(HereTables, SignalFrames) {
  HereCfi cfi("zS");
  cfi.add(0x1000, 0x10, cfi.instructions().raw({0x0c, 7, 8, 0x90, 1}), true);
  EXPECT_EQ(cfi.at(0x1000), "signal: value 0 7 8; stored 16 cfa -8; ");
}
#endif

#ifdef HAVE_ELF_READER
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
#endif

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

} // namespace here_table_test
