// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding FDEs: the index, the search table of .eh_frame_hdr, and the finder's choice between them.

#include "cfi_assembler.h"
#include "sframe/cfi/index.h"

#include "gtest/gtest.h"

namespace {

using namespace sframe;
using namespace sframe::cfi;
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
  Section section() const { return assembler.section(Abi::amd64, section_address); }

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
  const auto index = Index::build(example.section());
  ASSERT_TRUE(index);
  ASSERT_EQ(index->entries().size(), 3u); // the empty one is left out
  EXPECT_EQ(sizeof(Index::Entry), 16u);
  EXPECT_EQ(index->entries()[0].start, 0x400u);
  const auto start_for = [&](std::uint64_t pc) {
    const Index::Entry* entry = index->find(pc);
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
  const auto index = Index::build(a.section(), &faults);
  ASSERT_TRUE(index);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, ErrorKind::truncated);
  EXPECT_EQ(index->find(0x1044)->start, 0x1040u);
  EXPECT_EQ(index->find(0x1050)->start, 0x1000u);
  FdeFinder finder(a.section());
  EXPECT_EQ((*finder.find(0x1ffffffff))->start, 0x10000u);
  EXPECT_FALSE(*finder.find(0x200010000));
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
  // A count that the bytes do not hold.
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

TEST(CfiFdeFinder, WithAndWithoutASoundTable) {
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

} // namespace
