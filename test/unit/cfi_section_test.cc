// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of .eh_frame and .debug_frame (DWARF 5, section 6.4.1; Linux Standard Base 5.0, section 10.6.1),
// hand-assembled.

#include "cfi_assembler.h"
#include "sframe/cfi/section.h"

#include "gtest/gtest.h"

#include <string>

namespace cfi_section_test {

using namespace sframe;
using namespace sframe::cfi;
using cfi::Error, cfi::ErrorKind, cfi::Fde;
using test::Bytes;
using test::CfiAssembler;

constexpr std::uint64_t address = 0x10000;

/// What follows the CIE id: augmentation, factors, return column, augmentation data.
Bytes cie_body(const CfiAssembler& a, std::string_view augmentation, std::initializer_list<int> data = {}) {
  Bytes body = a.body();
  body.u8(1).text(augmentation).uleb(4).sleb(-8).u8(16);
  if (augmentation.starts_with('z')) body.uleb(data.size()).raw(data);
  return body;
}

std::vector<Fde> all_fdes(const CfiSection& section, std::vector<Error>* errors = nullptr) {
  std::vector<Fde> fdes;
  for (auto cursor = section.fdes();;) {
    const auto fde = cursor.next();
    if (!fde) {
      if (errors)
        errors->push_back(fde.error());
      else
        ADD_FAILURE() << message(fde.error().kind) << " at " << fde.error().offset;
      continue;
    }
    if (!*fde) return fdes;
    fdes.push_back(**fde);
  }
}

/// The error of the only FDE of a section.
ErrorKind only_error(const CfiSection& section) {
  std::vector<Error> errors;
  EXPECT_TRUE(all_fdes(section, &errors).empty());
  EXPECT_EQ(errors.size(), 1u);
  return errors.empty() ? ErrorKind{} : errors[0].kind;
}

TEST(CfiSection, TypicalEhFrame) {
  CfiAssembler a;
  const auto cie = a.cie(cie_body(a, "zR", {pe_pcrel | pe_sdata4}).raw({0x0c, 7, 8, 0x90, 1, 0, 0}));
  // The field stands at 0x1c + 8 here; pc-relative to it, 0x100 bytes back.
  const std::size_t field = a.next_body();
  const auto fde = a.fde(cie, a.body().u32(-0x100u).u32(0x40).uleb(0).raw({0x41, 0x0e, 16, 0}));
  a.terminator();
  const auto fdes = all_fdes(a.section(Abi::amd64, address));
  ASSERT_EQ(fdes.size(), 1u);
  EXPECT_EQ(fdes[0].offset, fde);
  EXPECT_EQ(fdes[0].start, address + field - 0x100);
  EXPECT_EQ(fdes[0].size, 0x40u);
  EXPECT_EQ(fdes[0].instructions.size(), 4u);
  EXPECT_EQ(fdes[0].instructions[0], std::byte{0x41});
  EXPECT_FALSE(fdes[0].lsda);
  EXPECT_FALSE(fdes[0].after_terminator);
  EXPECT_EQ(fdes[0].cie.code_alignment, 4u);
  EXPECT_EQ(fdes[0].cie.data_alignment, -8);
  EXPECT_EQ(fdes[0].cie.return_register, 16u);
  EXPECT_EQ(fdes[0].cie.instructions.size(), 7u);
  EXPECT_FALSE(fdes[0].cie.signal_frame);
}

TEST(CfiSection, AugmentationLettersInAnyOrder) {
  CfiAssembler a;
  // Personality: absolute 4 bytes; LSDA relative to the function; FDE pointers absolute 4 bytes.
  const auto cie =
      a.cie(cie_body(a, "zSLPBRG", {pe_funcrel | pe_udata4, pe_udata4, 0x78, 0x56, 0x34, 0x12, pe_udata4}));
  a.fde(cie, a.body().u32(0x5000).u32(0x10).uleb(4).u32(0x20));
  a.fde(cie, a.body().u32(0x6000).u32(0x10).uleb(4).u32(0)); // 0: no LSDA, whatever it is relative to
  const auto fdes = all_fdes(a.section());
  ASSERT_EQ(fdes.size(), 2u);
  EXPECT_EQ(fdes[0].start, 0x5000u);
  EXPECT_EQ(fdes[0].lsda, (Pointer{0x5020, false}));
  EXPECT_FALSE(fdes[1].lsda);
  EXPECT_EQ(fdes[0].cie.personality, (Pointer{0x12345678, false}));
  EXPECT_TRUE(fdes[0].cie.signal_frame);
  EXPECT_TRUE(fdes[0].cie.b_key);
  EXPECT_TRUE(fdes[0].cie.tagged_stack);
  EXPECT_FALSE(fdes[0].cie.unknown_augmentation);
}

// An FDE's augmentation data may be missing, and hold more than the pointer.
TEST(CfiSection, LsdaPointers) {
  const auto lsda = [](int encoding, const Bytes& data) {
    CfiAssembler a;
    const auto cie = a.cie(cie_body(a, "zLR", {encoding, pe_udata4}));
    a.fde(cie, a.body().u32(0x5000).u32(0x10).uleb(data.size()).append(data).raw({0x41, 0x0e, 16}));
    const auto fdes = all_fdes(a.section());
    EXPECT_EQ(fdes.size(), 1u);
    EXPECT_EQ(fdes.at(0).instructions.size(), 3u);
    return fdes.at(0).lsda;
  };
  EXPECT_EQ(lsda(pe_uleb128, Bytes().uleb(5)), (Pointer{5, false}));
  EXPECT_EQ(lsda(pe_udata2, Bytes().u16(0x1234).u32(0)), (Pointer{0x1234, false}));
  EXPECT_EQ(lsda(pe_indirect | pe_udata4, Bytes().u32(8)), (Pointer{8, true}));
  EXPECT_FALSE(lsda(pe_uleb128, Bytes()));
  EXPECT_FALSE(lsda(pe_omit, Bytes().u32(8)));
  CfiAssembler cut; // the data ends inside the pointer
  const auto cie = cut.cie(cie_body(cut, "zLR", {pe_udata4, pe_udata4}));
  cut.fde(cie, cut.body().u32(0x5000).u32(0x10).uleb(3).raw({1, 2, 3, 0}));
  EXPECT_EQ(only_error(cut.section()), ErrorKind::truncated);
}

TEST(CfiSection, UnknownLetters) {
  CfiAssembler known_size;
  // 'z' gives the size of what is not understood: here 'X' with two bytes.
  auto cie = known_size.cie(cie_body(known_size, "zRX", {pe_udata4, 1, 2}).raw({0x0c, 7, 8}));
  known_size.fde(cie, known_size.body().u32(0x5000).u32(0x10).uleb(0));
  const auto fdes = all_fdes(known_size.section());
  ASSERT_EQ(fdes.size(), 1u);
  EXPECT_TRUE(fdes[0].cie.unknown_augmentation);
  EXPECT_EQ(fdes[0].cie.instructions.size(), 3u);

  CfiAssembler unknown_size;
  cie = unknown_size.cie(cie_body(unknown_size, "X"));
  unknown_size.fde(cie, unknown_size.body().u64(0x5000).u64(0x10));
  EXPECT_EQ(only_error(unknown_size.section()), ErrorKind::unknown_augmentation);

  // So many letters are read: 32.
  CfiAssembler longest, longer;
  cie = longest.cie(cie_body(longest, std::string(32, 'S')));
  longest.fde(cie, longest.body().u64(0x5000).u64(0x10));
  EXPECT_EQ(all_fdes(longest.section()).size(), 1u);
  cie = longer.cie(cie_body(longer, std::string(33, 'S')));
  longer.fde(cie, longer.body().u64(0x5000).u64(0x10));
  EXPECT_EQ(only_error(longer.section()), ErrorKind::unknown_augmentation);
}

TEST(CfiSection, OldEhAugmentation) {
  CfiAssembler a;
  const auto cie = a.cie(a.body().u8(1).text("eh").u64(0xdead).uleb(1).sleb(-4).u8(8).raw({0x0c, 4, 4}));
  a.fde(cie, a.body().u64(0x5000).u64(0x10).u8(0));
  const auto fdes = all_fdes(a.section());
  ASSERT_EQ(fdes.size(), 1u);
  EXPECT_EQ(fdes[0].cie.data_alignment, -4);
  EXPECT_EQ(fdes[0].cie.return_register, 8u);
  EXPECT_EQ(fdes[0].cie.instructions.size(), 3u);
}

TEST(CfiSection, Version3And4) {
  CfiAssembler a(SectionKind::debug_frame);
  const auto v3 = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(300));
  const auto v4 = a.cie(a.body().u8(4).text("").u8(4).u8(2).uleb(1).sleb(-4).uleb(16));
  a.fde(v3, a.body().u64(0x5000).u64(0x10));
  a.fde(v4, a.body().u16(7).u32(0x6000).u32(0x20).u8(0)); // a segment selector first
  a.fde(v3, a.body().u64(0x7000).u64(0x30));
  const auto fdes = all_fdes(a.section());
  ASSERT_EQ(fdes.size(), 3u);
  EXPECT_EQ(fdes[0].cie.return_register, 300u);
  EXPECT_EQ(fdes[1].start, 0x6000u);
  EXPECT_EQ(fdes[1].size, 0x20u);
  EXPECT_EQ(fdes[1].cie.address_size, 4);
  EXPECT_EQ(fdes[1].instructions.size(), 1u);
  EXPECT_EQ(fdes[2].cie.offset, v3);
}

TEST(CfiSection, SixtyFourBitFormatInBothByteOrders) {
  for (const auto kind : {SectionKind::eh_frame, SectionKind::debug_frame})
    for (const auto abi : {Abi::amd64, Abi::s390x}) {
      CfiAssembler a(kind, traits(abi).byte_order, true);
      const auto cie = a.cie(a.body().u8(3).text("").uleb(1).sleb(-8).uleb(14));
      a.fde(cie, a.body().u64(0x123456789a).u64(0x10));
      const auto fdes = all_fdes(a.section(abi));
      ASSERT_EQ(fdes.size(), 1u);
      EXPECT_EQ(fdes[0].start, 0x123456789au);
      EXPECT_EQ(fdes[0].cie.return_register, 14u);
    }
}

/// Start and size as one encoding reads them from `start` and `size` at 0x10000 + field.
struct Encoded {
  int encoding;
  Bytes bytes;
  std::uint64_t start, size;
};

TEST(CfiSection, PointerEncodings) {
  CfiAssembler probe;
  probe.cie(cie_body(probe, "zR", {0}));
  const std::uint64_t field = address + probe.next_body();
  const std::vector<Encoded> cases = {
      {pe_absptr, Bytes().u64(0x123456789a).u64(0x20), 0x123456789a, 0x20},
      {pe_signed, Bytes().u64(0x123456789a).u64(0x20), 0x123456789a, 0x20},
      {pe_uleb128, Bytes().uleb(0x12345).uleb(300), 0x12345, 300},
      {pe_sleb128, Bytes().sleb(0x12345).sleb(300), 0x12345, 300},
      {pe_udata2, Bytes().u16(0xfff0).u16(4), 0xfff0, 4},
      {pe_udata4, Bytes().u32(0xfffffff0).u32(4), 0xfffffff0, 4},
      {pe_udata8, Bytes().u64(0xff00000000).u64(4), 0xff00000000, 4},
      {pe_sdata2, Bytes().u16(0x7ff0).u16(0xfff0), 0x7ff0, 0xfff0}, // sizes are never negative
      {pe_sdata4, Bytes().u32(0x7ffffff0).u32(0xfffffff0), 0x7ffffff0, 0xfffffff0},
      {pe_sdata8, Bytes().u64(0x70).u64(4), 0x70, 4},
      {pe_pcrel | pe_sdata2, Bytes().u16(0xfffe).u16(4), field - 2, 4},
      {pe_pcrel | pe_sdata4, Bytes().u32(0xfffffffe).u32(4), field - 2, 4},
      {pe_pcrel | pe_absptr, Bytes().u64(16).u64(4), field + 16, 4},
      {pe_textrel | pe_udata4, Bytes().u32(16).u32(4), 0x7000 + 16, 4},
      {pe_datarel | pe_sdata4, Bytes().u32(-16u).u32(4), 0x9000 - 16, 4},
      {pe_aligned, Bytes().raw({0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa}).u64(0x55aa), 0x55aa, 0},
  };
  for (const Encoded& c : cases) {
    CfiAssembler a;
    const auto cie = a.cie(cie_body(a, "zR", {c.encoding}));
    Bytes body = a.body();
    if (c.encoding == pe_aligned) {
      // The field stands at ...19: seven bytes to the next multiple of 8.
      ASSERT_EQ((address + a.next_body()) % 8, 1u);
      body.append(c.bytes).u64(0);
    } else {
      body.append(c.bytes);
    }
    a.fde(cie, body.uleb(0));
    const auto fdes = all_fdes(a.section(Abi::amd64, address, {.text = 0x7000, .data = 0x9000}));
    ASSERT_EQ(fdes.size(), 1u) << c.encoding;
    EXPECT_EQ(fdes[0].start, c.start) << c.encoding;
    EXPECT_EQ(fdes[0].size, c.size) << c.encoding;
  }
}

TEST(CfiSection, BadPointerEncodings) {
  for (const auto& [encoding, kind] : std::initializer_list<std::pair<int, ErrorKind>>{
           {0x05, ErrorKind::bad_pointer_encoding},
           {0x0f, ErrorKind::bad_pointer_encoding},
           {0x60, ErrorKind::bad_pointer_encoding},
           {0x53, ErrorKind::bad_pointer_encoding},
           {pe_omit, ErrorKind::bad_pointer_encoding},
           {pe_funcrel | pe_udata4, ErrorKind::bad_pointer_encoding}, // a start cannot be relative to itself
           {pe_indirect | pe_pcrel | pe_sdata4, ErrorKind::indirect_start}}) {
    CfiAssembler a;
    const auto cie = a.cie(cie_body(a, "zR", {encoding}));
    a.fde(cie, a.body().u64(0x5000).u64(0x10).uleb(0));
    EXPECT_EQ(only_error(a.section()), kind) << encoding;
  }
}

TEST(CfiSection, IndirectPersonalityIsMarked) {
  CfiAssembler a;
  const auto cie = a.cie(cie_body(a, "zP", {pe_indirect | pe_udata4, 0x10, 0, 0, 0}));
  const auto parsed = a.section().cie(cie);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->personality, (Pointer{0x10, true}));
}

TEST(CfiSection, ContinuesAfterTerminator) {
  CfiAssembler a;
  const auto cie = a.cie(cie_body(a, ""));
  a.fde(cie, a.body().u64(0x5000).u64(0x10));
  a.terminator();
  a.fde(cie, a.body().u64(0x6000).u64(0x10));
  const auto fdes = all_fdes(a.section());
  ASSERT_EQ(fdes.size(), 2u);
  EXPECT_FALSE(fdes[0].after_terminator);
  EXPECT_TRUE(fdes[1].after_terminator);

  CfiAssembler debug(SectionKind::debug_frame);
  const auto its_cie = debug.cie(cie_body(debug, ""));
  debug.terminator(); // padding
  debug.fde(its_cie, debug.body().u64(0x5000).u64(0x10));
  ASSERT_EQ(all_fdes(debug.section()).size(), 1u);
  EXPECT_FALSE(all_fdes(debug.section())[0].after_terminator);
}

TEST(CfiSection, ContinuesAfterBadEntry) {
  CfiAssembler a;
  const auto cie = a.cie(cie_body(a, ""));
  const auto bad_version = a.cie(a.body().u8(2).text("").uleb(1).sleb(-8).u8(16));
  a.fde(bad_version, a.body().u64(0x5000).u64(0x10));
  a.fde(cie, a.body().u32(0x5000));                        // cut short
  a.fde(cie, a.body().u64(0xfffffffffffffff0).u64(0x10));  // reaches the top
  a.fde(a.bytes().size(), a.body().u64(0x5000).u64(0x10)); // an FDE as its CIE
  a.fde(cie, a.body().u64(0x6000).u64(0x10));
  std::vector<Error> errors;
  const auto fdes = all_fdes(a.section(), &errors);
  ASSERT_EQ(fdes.size(), 1u);
  EXPECT_EQ(fdes[0].start, 0x6000u);
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0], (Error{ErrorKind::bad_version, bad_version + 8}));
  EXPECT_EQ(errors[1].kind, ErrorKind::truncated);
  EXPECT_EQ(errors[2].kind, ErrorKind::range_overflow);
  EXPECT_EQ(errors[3].kind, ErrorKind::bad_cie_pointer);
}

TEST(CfiSection, BadLengthEndsIteration) {
  for (const std::uint32_t length : {0x1000u, 0xfffffff0u, 0xfffffffeu}) {
    CfiAssembler a;
    const auto cie = a.cie(cie_body(a, ""));
    const std::size_t bad = a.bytes().size();
    a.bytes().u32(length).u32(0);
    a.fde(cie, a.body().u64(0x6000).u64(0x10));
    std::vector<Error> errors;
    EXPECT_TRUE(all_fdes(a.section(), &errors).empty());
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0], (Error{ErrorKind::bad_length, bad}));
  }
  CfiAssembler cut;
  cut.bytes().u16(0);
  EXPECT_EQ(only_error(cut.section()), ErrorKind::truncated);
}

TEST(CfiSection, PartsCoverTheSection) {
  CfiAssembler a(SectionKind::eh_frame);
  const auto cie = a.cie(a.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
  for (std::uint64_t i = 0; i < 100; ++i) {
    a.fde(cie,
          a.body().u64(0x1000 + i * 16).u64(16).append(Bytes().raw(std::initializer_list<int>{0, 0, 0})));
    if (i == 40) a.bytes().u32(0); // a terminator
  }
  const std::uint64_t sound = a.bytes().size();
  a.bytes().u32(0x7fffffff); // an entry longer than the section
  const CfiSection section = a.section();
  const auto starts_of = [&](FdeCursor cursor) {
    std::vector<std::uint64_t> starts;
    for (;;) {
      const auto fde = cursor.next();
      if (!fde) starts.push_back(0); // the bad entry
      if (fde && !*fde) return starts;
      if (fde) starts.push_back((*fde)->start);
    }
  };
  const auto whole = starts_of(section.fdes());
  ASSERT_EQ(whole.size(), 101u);
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 40}) {
    auto cuts = section.parts(size);
    EXPECT_EQ(cuts.front(), 0u);
    EXPECT_LE(cuts.back(), sound);
    EXPECT_EQ(cuts.size() == 1, size > sound);
    cuts.push_back(section.bytes().size());
    std::vector<std::uint64_t> starts;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      EXPECT_TRUE(i + 2 == cuts.size() || cuts[i + 1] - cuts[i] >= size);
      const auto part = starts_of({section, cuts[i], cuts[i + 1]});
      starts.insert(starts.end(), part.begin(), part.end());
    }
    EXPECT_EQ(starts, whole);
  }
  EXPECT_EQ(CfiSection(SectionKind::eh_frame, {}, 0, traits(Abi::amd64)).parts(1),
            std::vector<std::uint64_t>{0});
}

TEST(CfiSection, BadCieFields) {
  const auto error_of = [](Bytes cie) {
    CfiAssembler a;
    const auto at = a.cie(cie);
    const auto parsed = a.section().cie(at);
    return parsed ? std::nullopt : std::optional(parsed.error().kind);
  };
  EXPECT_EQ(error_of(Bytes().u8(4).text("").u8(3).u8(0).uleb(1).sleb(-8).uleb(16)),
            ErrorKind::bad_address_size);
  EXPECT_EQ(error_of(Bytes().u8(4).text("").u8(8).u8(9).uleb(1).sleb(-8).uleb(16)),
            ErrorKind::bad_address_size);
  EXPECT_EQ(error_of(Bytes().u8(3).text("").uleb(1).sleb(-8).uleb(0x100000000)), ErrorKind::bad_register);
  EXPECT_EQ(error_of(Bytes().u8(3).text("").uleb(1)), ErrorKind::truncated);
  EXPECT_EQ(error_of(Bytes().u8(3).text("zR").uleb(1).sleb(-8).uleb(16).uleb(200)), ErrorKind::truncated);
  // The letters need more than the augmentation's size.
  EXPECT_EQ(error_of(Bytes().u8(3).text("zRL").uleb(1).sleb(-8).uleb(16).uleb(1).u8(0x1b).u8(0x1b)),
            ErrorKind::truncated);
  // 2^64 and more do not fit; padding does.
  EXPECT_EQ(
      error_of(Bytes().u8(3).text("").raw({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02})),
      ErrorKind::bad_leb128);
  CfiAssembler padded;
  const auto at =
      padded.cie(Bytes().u8(3).text("").raw({0x81, 0x80, 0x80, 0x00, 0xf8, 0xff, 0xff, 0x7f}).uleb(16));
  ASSERT_TRUE(padded.section().cie(at));
  EXPECT_EQ(padded.section().cie(at)->code_alignment, 1u);
  EXPECT_EQ(padded.section().cie(at)->data_alignment, -8);
}

TEST(CfiSection, ExtremeLeb128) {
  CfiAssembler a;
  Bytes body = a.body();
  body.u8(3).text("").uleb(~std::uint64_t{0}).sleb(INT64_MIN).uleb(16);
  const auto at = a.cie(body);
  const auto cie = a.section().cie(at);
  ASSERT_TRUE(cie);
  EXPECT_EQ(cie->code_alignment, ~std::uint64_t{0});
  EXPECT_EQ(cie->data_alignment, INT64_MIN);
}

TEST(CfiSection, EmptyAndForeignOffsets) {
  CfiAssembler a;
  EXPECT_TRUE(all_fdes(a.section()).empty());
  EXPECT_FALSE(a.section().fde(0));
  EXPECT_FALSE(a.section().cie(~std::uint64_t{0}));
  EXPECT_FALSE(a.section().fde(1000));
}

} // namespace cfi_section_test
