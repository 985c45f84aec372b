// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding FDEs: the index, the search table of .eh_frame_hdr, and the finder's choice between them.

#include "cfi_assembler.h"
#include "sframe/cfi/index.h"

#include "gtest/gtest.h"

#include <algorithm>

namespace cfi_index_test {

using namespace sframe;
using namespace sframe::cfi;
using cfi::Error, cfi::ErrorKind, cfi::Fde;
using test::Bytes;
using test::CfiAssembler;

constexpr std::uint64_t section_address = 0x2000, header_address = 0x1000;

/// FDEs for [0x500, 0x510), [0x400, 0x420), nothing at 0x480, and [0x600, 0x640).
struct Example {
  CfiAssembler assembler;
  std::vector<std::pair<std::uint32_t, std::size_t>> fdes; ///< start and offset

  Example() {
    const auto cie =
        assembler.cie(assembler.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(pe_udata4));
    for (const auto& [start, size] : std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{
             {0x500, 0x10}, {0x400, 0x20}, {0x480, 0}, {0x600, 0x40}})
      fdes.emplace_back(start, assembler.fde(cie, assembler.body().u32(start).u32(size).uleb(0)));
    assembler.terminator();
  }
  CfiSection section() const { return assembler.section(Abi::amd64, section_address); }

  /// The usual header: pointer pcrel | sdata4, count udata4, table datarel | sdata4; entries in the order
  /// given.
  Bytes header(std::initializer_list<int> order, std::uint32_t count = 0) const {
    Bytes bytes;
    bytes.raw({1, 0x1b, 0x03, 0x3b}).u32(section_address - header_address - 4);
    bytes.u32(count ? count : static_cast<std::uint32_t>(order.size()));
    for (const int i : order)
      bytes.u32(fdes[i].first - static_cast<std::uint32_t>(header_address))
          .u32(static_cast<std::uint32_t>(section_address + fdes[i].second - header_address));
    return bytes;
  }
};

TEST(CfiIndex, SortsAndFinds) {
  const Example example;
  const auto index = FdeIndex::build(example.section());
  ASSERT_TRUE(index);
  ASSERT_EQ(index->entries().size(), 3u); // the empty one is left out
  EXPECT_EQ(sizeof(FdeIndex::Entry), 16u);
  EXPECT_EQ(index->entries()[0].start, 0x400u);
  const auto start_for = [&](std::uint64_t pc) {
    const FdeIndex::Entry* entry = index->find(pc);
    return entry ? example.section().fde(entry->offset)->start : 0;
  };
  EXPECT_EQ(start_for(0x3ff), 0u);
  EXPECT_EQ(start_for(0x400), 0x400u);
  EXPECT_EQ(start_for(0x41f), 0x400u);
  EXPECT_EQ(start_for(0x420), 0u);
  EXPECT_EQ(start_for(0x50f), 0x500u);
  EXPECT_EQ(start_for(0x63f), 0x600u);
  EXPECT_EQ(start_for(0x640), 0u);
  EXPECT_EQ(start_for(~std::uint64_t{0}), 0u);
}

TEST(CfiIndex, OverlapsAndFaults) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
  a.fde(cie, a.body().u64(0x1000).u64(0x100));
  a.fde(cie, a.body().u64(0x1040).u64(0x10));         // inside the first
  a.fde(cie, a.body().u32(0));                        // cut short
  a.fde(cie, a.body().u64(0x10000).u64(0x200000000)); // 8 GiB
  std::vector<Error> faults;
  const auto index = FdeIndex::build(a.section(), &faults);
  ASSERT_TRUE(index);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, ErrorKind::truncated);
  EXPECT_EQ(index->find(0x1044)->start, 0x1040u);
  EXPECT_EQ(index->find(0x1050)->start, 0x1000u);
  FdeFinder finder(a.section());
  EXPECT_EQ((*finder.find(0x1ffffffff))->start, 0x10000u);
  EXPECT_FALSE(*finder.find(0x200010000));
}

// "By start; equal starts in the section's order", and find() gives the one that starts last.
TEST(CfiIndex, EqualStarts) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
  const auto later = a.fde(cie, a.body().u64(0x2000).u64(0x10));
  const auto large = a.fde(cie, a.body().u64(0x1000).u64(0x100));
  const auto small = a.fde(cie, a.body().u64(0x1000).u64(1)); // not an empty one
  const auto index = FdeIndex::build(a.section());
  ASSERT_TRUE(index);
  std::vector<std::size_t> order;
  for (const FdeIndex::Entry& entry : index->entries()) order.push_back(entry.offset);
  EXPECT_EQ(order, (std::vector<std::size_t>{large, small, later}));
  EXPECT_EQ(index->find(0x1000)->offset, small);
  EXPECT_EQ(index->find(0x1001)->offset, large);
  EXPECT_EQ(index->find(0x10ff)->offset, large);
  EXPECT_EQ(index->find(0x1100), nullptr);
}

// A range of 4 GiB and more is given as 0xffffffff: the caller looks at the FDE.
TEST(CfiIndex, LargeRanges) {
  for (const std::uint64_t size : {0xfffffffeull, 0xffffffffull, 0x100000000ull}) {
    CfiAssembler a;
    const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
    a.fde(cie, a.body().u64(0x1000).u64(size));
    const auto index = FdeIndex::build(a.section());
    ASSERT_TRUE(index);
    EXPECT_EQ(index->entries()[0].size, std::min<std::uint64_t>(size, 0xffffffff));
    FdeFinder finder(a.section());
    EXPECT_TRUE(*finder.find(0x1000 + size - 1));
    EXPECT_FALSE(*finder.find(0x1000 + size));
    EXPECT_FALSE(*finder.find(0xfff));
  }
}

// An FDE with others inside is found over max_overlap - 1 of them.
TEST(CfiIndex, OverlapSearchIsLimited) {
  for (const std::size_t inside : {FdeIndex::max_overlap - 1, FdeIndex::max_overlap}) {
    CfiAssembler a;
    const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
    a.fde(cie, a.body().u64(0x1000).u64(0x1000));
    for (std::size_t i = 0; i < inside; ++i) a.fde(cie, a.body().u64(0x1010 + 2 * i).u64(1));
    const auto index = FdeIndex::build(a.section());
    ASSERT_TRUE(index);
    EXPECT_EQ(index->find(0x1800) != nullptr, inside < FdeIndex::max_overlap);
  }
}

// Threads read parts of 256 KiB: entries and faults are as one thread gives them.
TEST(CfiIndex, ResultIsIndependentOfThreads) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
  for (std::uint64_t i = 0; i < 40000; ++i) {
    a.fde(cie, a.body().u64(0x1000 + (i * 7919) % 40000 * 16).u64(16));
    if (i % 1000 == 999) a.fde(cie, a.body().u32(0)); // cut short
  }
  ASSERT_GT(a.bytes().size(), 3u * 256 * 1024);
  const auto all = [&](unsigned threads, std::span<const std::uint64_t> parts = {}) {
    std::vector<Error> faults;
    const auto index = FdeIndex::build(a.section(), &faults, threads, parts);
    EXPECT_TRUE(index);
    EXPECT_EQ(faults.size(), 40u);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> entries;
    for (const FdeIndex::Entry& entry : index->entries()) entries.emplace_back(entry.start, entry.offset);
    EXPECT_EQ(entries.size(), 40000u);
    EXPECT_TRUE(std::ranges::is_sorted(entries));
    std::vector<std::uint64_t> places;
    for (const Error& fault : faults) places.push_back(fault.offset);
    return std::pair(entries, places);
  };
  const auto alone = all(1);
  EXPECT_EQ(alone.first[3].first, 0x1030u);
  for (const unsigned threads : {2u, 3u}) EXPECT_EQ(all(threads), alone);
  const auto parts = a.section().parts(10000);
  for (const unsigned threads : {1u, 2u}) EXPECT_EQ(all(threads, parts), alone);
}

// What follows .eh_frame in its segment is no part of it.
TEST(CfiIndex, SectionEndFromTable) {
  const auto example = [](bool terminated) {
    Example made;
    if (!terminated) { // the terminator gives way to a length that no entry has
      made.assembler.bytes().patch(made.assembler.bytes().size() - 4, 0xfffffff0, 4);
    }
    return made;
  };
  for (const bool terminated : {true, false}) {
    Example made = example(terminated);
    const std::size_t end = made.assembler.bytes().size() - 4; // the last FDE's
    Example more = made;
    more.assembler.bytes().u64(0x1122334455667788).u64(~0ull);
    const auto size_with = [&](const Bytes& table) {
      return eh_frame_part(more.section(),
                           EhFrameHdr::parse(table.get(), header_address, traits(Abi::amd64)).value())
          .bytes()
          .size();
    };
    EXPECT_EQ(size_with(made.header({1, 0, 3})), end);
    EXPECT_EQ(size_with(made.header({3, 0, 1})), end) << "the highest FDE, in any order";
    EXPECT_EQ(size_with(made.header({1, 0})), end) << "FDEs follow that the table does not lead to";
    EXPECT_EQ(size_with(made.header({1})), end);
    Bytes elsewhere = made.header({1, 3});
    elsewhere.patch(24, 0x100000, 4); // the second entry's FDE is far outside
    EXPECT_EQ(size_with(elsewhere), end);
    elsewhere.patch(16, 0x100000, 4);
    EXPECT_EQ(size_with(elsewhere), end) << "no entry leads into the section";
    const auto found = eh_frame_part(
        more.section(),
        EhFrameHdr::parse(made.header({1, 0, 3}).get(), header_address, traits(Abi::amd64)).value());
    EXPECT_EQ(found.address(), section_address);
    EXPECT_EQ(found.kind(), SectionKind::eh_frame);
  }
}

// The table refers to an FDE after the terminator: the section includes it.
TEST(CfiIndex, TableFindsFdesAfterTerminator) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(pe_udata4));
  a.fde(cie, a.body().u32(0x400).u32(0x10).uleb(0));
  a.terminator();
  const auto late = a.fde(cie, a.body().u32(0x500).u32(0x10).uleb(0));
  const std::size_t end = a.bytes().size();
  a.fde(cie, a.body().u32(0x600).u32(0x10).uleb(0));
  const std::size_t after = a.bytes().size();
  a.terminator();
  a.fde(cie, a.body().u32(0x700).u32(0x10).uleb(0));
  const Bytes table = Bytes()
                          .raw({1, 0x1b, 0x03, 0x3b})
                          .u32(section_address - header_address - 4)
                          .u32(1)
                          .u32(0x500 - static_cast<std::uint32_t>(header_address))
                          .u32(static_cast<std::uint32_t>(section_address + late - header_address));
  const auto part = eh_frame_part(a.section(Abi::amd64, section_address),
                                  EhFrameHdr::parse(table.get(), header_address, traits(Abi::amd64)).value());
  EXPECT_GT(after, end);
  EXPECT_EQ(part.bytes().size(), after) << "and on to the next terminator";
}

TEST(CfiEhFrameHdr, UsualTable) {
  const Example example;
  const Bytes bytes = example.header({1, 0, 3});
  const auto header = EhFrameHdr::parse(bytes.get(), header_address, traits(Abi::amd64));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->eh_frame(), section_address);
  EXPECT_EQ(header->size(), 3u);
  EXPECT_TRUE(header->sorted());
  EXPECT_EQ(header->entry(2).start, 0x600u);
  EXPECT_EQ(header->entry(2).fde, section_address + example.fdes[3].second);
  EXPECT_FALSE(header->find(0x3ff));
  EXPECT_EQ(header->find(0x400)->start, 0x400u);
  EXPECT_EQ(header->find(0x4ff)->start, 0x400u);
  EXPECT_EQ(header->find(0x5ff)->start, 0x500u);
  EXPECT_EQ(header->find(~std::uint64_t{0})->start, 0x600u);
  EXPECT_FALSE(EhFrameHdr::parse(example.header({1, 0}).get(), header_address, traits(Abi::amd64))->find(0));
}

TEST(CfiEhFrameHdr, FindsTheLastEntryThatStartsBefore) {
  // n entries at 0x400, 0x410, ...: relative to the header, to the field, and absolute.
  for (const int encoding : {0x3b, 0x1b, 0x03})
    for (std::uint32_t n = 0; n < 9; ++n) {
      Bytes bytes;
      bytes.raw({1, 0xff, 0x03, encoding}).u32(n);
      for (std::uint32_t i = 0; i < n; ++i)
        for (const std::uint64_t number : {0x400 + 16 * std::uint64_t{i}, 0x2000 + 32 * std::uint64_t{i}})
          bytes.u32(number - (encoding == 0x3b   ? header_address
                              : encoding == 0x1b ? header_address + bytes.size()
                                                 : 0));
      const auto header = EhFrameHdr::parse(bytes.get(), header_address, traits(Abi::amd64));
      ASSERT_TRUE(header);
      EXPECT_EQ(header->size(), n);
      EXPECT_TRUE(header->sorted());
      EXPECT_FALSE(header->find(0x3ff));
      for (std::uint32_t i = 0; i < n; ++i)
        for (const std::uint64_t pc : {0x400 + 16 * i, 0x40f + 16 * i}) {
          const auto entry = header->find(pc);
          ASSERT_TRUE(entry) << pc;
          EXPECT_EQ(entry->start, 0x400 + 16 * i);
          EXPECT_EQ(entry->fde, 0x2000 + 32 * i);
        }
    }
}

TEST(CfiEhFrameHdr, SortedAllowsEqualStarts) {
  const Example example;
  const auto sorted = [&](std::initializer_list<int> order) {
    return EhFrameHdr::parse(example.header(order).get(), header_address, traits(Abi::amd64))->sorted();
  };
  EXPECT_TRUE(sorted({1, 1, 0, 3}));
  EXPECT_TRUE(sorted({1}));
  EXPECT_TRUE(sorted({}));
  EXPECT_FALSE(sorted({0, 1, 3}));
  EXPECT_FALSE(sorted({1, 3, 0}));
  EXPECT_FALSE(sorted({3, 1}));
}

TEST(CfiEhFrameHdr, OtherEncodings) {
  // Absolute 8 bytes; the pointer omitted; the count in two bytes.
  const Bytes absolute = Bytes().raw({1, 0xff, 0x02, 0x04}).u16(1).u64(0x123456789a).u64(0x2000);
  const auto header = EhFrameHdr::parse(absolute.get(), header_address, traits(Abi::amd64));
  ASSERT_TRUE(header);
  EXPECT_FALSE(header->eh_frame());
  EXPECT_EQ(header->entry(0).start, 0x123456789au);
  // Relative to the field: the first field of the table stands at 12.
  const Bytes pcrel = Bytes().raw({1, 0x1b, 0x03, 0x1b}).u32(0).u32(1).u32(0x100).u32(0x200);
  const auto relative = EhFrameHdr::parse(pcrel.get(), header_address, traits(Abi::amd64));
  ASSERT_TRUE(relative);
  EXPECT_EQ(relative->entry(0).start, header_address + 12 + 0x100);
  EXPECT_EQ(relative->entry(0).fde, header_address + 16 + 0x200);
  // Big-endian.
  Bytes big(ByteOrder::big);
  big.raw({1, 0x1b, 0x03, 0x3b}).u32(0xffc).u32(1).u32(-0x10u).u32(0x1000);
  const auto other = EhFrameHdr::parse(big.get(), header_address, traits(Abi::s390x));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->eh_frame(), section_address);
  EXPECT_EQ(other->entry(0).start, header_address - 0x10);
}

TEST(CfiEhFrameHdr, Refusals) {
  const auto kind = [](const Bytes& bytes) {
    const auto header = EhFrameHdr::parse(bytes.get(), header_address, traits(Abi::amd64));
    return header ? ErrorKind{} : header.error().kind;
  };
  EXPECT_EQ(kind(Bytes()), ErrorKind::bad_header);
  EXPECT_EQ(kind(Bytes().raw({2, 0x1b, 0x03, 0x3b}).u64(0)), ErrorKind::bad_header);
  EXPECT_EQ(kind(Bytes().raw({1, 0x1b, 0x03, 0x3b}).u32(0)), ErrorKind::bad_header);
  EXPECT_EQ(kind(Bytes().raw({1, 0x1b, 0xff, 0xff}).u32(0)), ErrorKind::no_table); // ld.bfd: no table
  EXPECT_EQ(kind(Bytes().raw({1, 0x1b, 0x03, 0xff}).u64(0)), ErrorKind::no_table);
  EXPECT_EQ(kind(Bytes().raw({1, 0x1b, 0x03, 0x01}).u64(0)), ErrorKind::no_table); // LEB128: no fixed size
  EXPECT_EQ(kind(Bytes().raw({1, 0x1b, 0x03, 0xbb}).u64(0)), ErrorKind::no_table); // indirect
  EXPECT_EQ(kind(Bytes().raw({1, 0x0f, 0x03, 0x3b}).u64(0)), ErrorKind::bad_header);
  const auto no_table =
      EhFrameHdr::parse(Bytes().raw({1, 0x1b, 0xff, 0xff}).u32(0).get(), 0, traits(Abi::amd64));
  EXPECT_EQ(no_table.error(), (Error{ErrorKind::no_table, 2})) << "the encoding of the count";
  const auto cut = EhFrameHdr::parse(Bytes().raw({1, 0x1b, 0x03, 0x3b}).u32(0).get(), 0, traits(Abi::amd64));
  EXPECT_EQ(cut.error(), (Error{ErrorKind::bad_header, 8}));
  const auto version =
      EhFrameHdr::parse(Bytes().raw({2, 0x1b, 0x03, 0x3b}).u64(0).get(), 0, traits(Abi::amd64));
  EXPECT_EQ(version.error(), (Error{ErrorKind::bad_header, 0}));
  EXPECT_EQ(kind(Bytes().raw({1, 0xff, 0x03, 0x2b}).u32(0)), ErrorKind::no_table) << "relative to the text";
  EXPECT_EQ(kind(Bytes().raw({1, 0xff, 0x03, 0x43}).u32(0)), ErrorKind::no_table) << "to the function";
  // Indirect: where .eh_frame is cannot be known from the file. The table can be used.
  const auto indirect =
      EhFrameHdr::parse(Bytes().raw({1, 0x9b, 0x03, 0x3b}).u32(4).u32(0).get(), 0, traits(Abi::amd64));
  ASSERT_TRUE(indirect);
  EXPECT_FALSE(indirect->eh_frame());
  // A count that the bytes do not hold, of whole entries.
  auto half = Example().header({1, 0, 3});
  half.patch(8, 4, 4);
  half.u32(0);
  EXPECT_EQ(EhFrameHdr::parse(half.get(), header_address, traits(Abi::amd64))->size(), 3u);
  half.patch(8, 2, 4);
  EXPECT_EQ(EhFrameHdr::parse(half.get(), header_address, traits(Abi::amd64))->size(), 2u);
  const auto bytes = Example().header({1, 0, 3}, 0xffffffff);
  EXPECT_EQ(EhFrameHdr::parse(bytes.get(), header_address, traits(Abi::amd64))->size(), 3u);
}

/// The start of the FDE that a finder with this table gives, 0 for none.
std::uint64_t found(const Example& example, const Bytes& table, std::uint64_t pc) {
  const auto header = EhFrameHdr::parse(table.get(), header_address, traits(Abi::amd64));
  FdeFinder finder(example.section(), header.value());
  const auto fde = finder.find(pc);
  EXPECT_TRUE(fde);
  return fde && *fde ? (*fde)->start : 0;
}

TEST(CfiFdeFinder, SameResultWithAndWithoutTable) {
  const Example example;
  const Bytes sound = example.header({1, 0, 3}), unsorted = example.header({3, 0, 1});
  Bytes wrong = example.header({1, 0, 3});
  wrong.patch(16, 0xfff, 4); // the first entry leads into the middle of an entry
  for (const Bytes* table : std::initializer_list<const Bytes*>{&sound, &unsorted, &wrong}) {
    EXPECT_EQ(found(example, *table, 0x400), 0x400u);
    EXPECT_EQ(found(example, *table, 0x50f), 0x500u);
    EXPECT_EQ(found(example, *table, 0x610), 0x600u);
    EXPECT_EQ(found(example, *table, 0x430), 0u);
    EXPECT_EQ(found(example, *table, 0x100), 0u);
  }
  FdeFinder without(example.section());
  EXPECT_EQ((*without.find(0x610))->start, 0x600u);
  EXPECT_FALSE(*without.find(0x640));
}

// One entry of the table is no FDE's: whichever it is, the FDEs are found all the same.
TEST(CfiFdeFinder, DropsTableWithWrongEntry) {
  const Example example;
  const auto table = example.header({1, 0, 3});
  for (const std::size_t wrong : {0, 1, 2})
    for (const std::uint32_t fde :
         {0xfffu, static_cast<std::uint32_t>(header_address)}) { // the CIE's is 0x1000
      Bytes damaged = table;
      damaged.patch(16 + 8 * wrong, fde, 4);
      for (const auto& [pc, start] : {std::pair{0x41f, 0x400}, {0x505, 0x500}, {0x600, 0x600}, {0x440, 0}})
        EXPECT_EQ(found(example, damaged, static_cast<std::uint64_t>(pc)), static_cast<std::uint64_t>(start))
            << wrong;
    }
  // Another FDE than that of the start.
  Bytes exchanged = table;
  exchanged.patch(16, static_cast<std::uint32_t>(section_address - header_address + example.fdes[3].second),
                  4);
  EXPECT_EQ(found(example, exchanged, 0x41f), 0x400u);
  // The first FDE of a section that starts with it would be at its address; the CIE is there.
  Bytes at_start = table;
  at_start.patch(16, static_cast<std::uint32_t>(section_address - header_address), 4);
  EXPECT_EQ(found(example, at_start, 0x41f), 0x400u);
}

// Of two FDEs with the address the index would give the one that starts last; the table leads to the other.
TEST(CfiFdeFinder, UsesValidTable) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(pe_udata4));
  const auto listed = a.fde(cie, a.body().u32(0x400).u32(0x20).uleb(0));
  a.fde(cie, a.body().u32(0x410).u32(8).uleb(0));
  const Bytes table = Bytes()
                          .raw({1, 0x1b, 0x03, 0x3b})
                          .u32(section_address - header_address - 4)
                          .u32(1)
                          .u32(0x400 - static_cast<std::uint32_t>(header_address))
                          .u32(static_cast<std::uint32_t>(section_address + listed - header_address));
  const auto header = EhFrameHdr::parse(table.get(), header_address, traits(Abi::amd64)).value();
  const CfiSection section = a.section(Abi::amd64, section_address);
  EXPECT_EQ((*FdeFinder(section, header).find(0x412))->start, 0x400u);
  EXPECT_EQ((*FdeFinder(section).find(0x412))->start, 0x410u);
  FdeFinder after_miss(section, header);
  EXPECT_FALSE(*after_miss.find(0x500));
  EXPECT_EQ((*after_miss.find(0x412))->start, 0x400u) << "a miss alone does not make it unsound";
}

TEST(CfiFdeFinder, StaysUsableAfterMisses) {
  const Example example;
  const Bytes bytes = example.header({1, 0, 3});
  FdeFinder finder(example.section(),
                   EhFrameHdr::parse(bytes.get(), header_address, traits(Abi::amd64)).value());
  EXPECT_FALSE(*finder.find(0x100));
  EXPECT_FALSE(*finder.find(0x700));
  EXPECT_EQ((*finder.find(0x41f))->start, 0x400u);
  EXPECT_EQ((*finder.find(0x41f))->cie.return_register, 16u);
}

} // namespace cfi_index_test
