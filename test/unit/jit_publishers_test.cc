// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What publishers make of rows, as other libraries read it, and by the formats' specifications.

#include "sframe/cfi/frame_row.h"
#include "sframe/convert.h"
#include "sframe/jit/eh_frame.h"
#include "sframe/jit/publishers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace jit_publishers_test {

using namespace sframe;

constexpr std::uint64_t start = 0x10000, section_at = 0x20000;

/// What the CFI has for an offset in the code, by lib/cfi.
std::optional<cfi::FullRow> cfi_row(const std::vector<std::byte>& eh_frame, std::uint64_t offset,
                                    const AbiTraits& abi) {
  const cfi::CfiSection section(cfi::SectionKind::eh_frame, eh_frame, section_at, abi);
  cfi::FdeCursor fdes(section);
  const auto fde = fdes.next();
  if (!fde || !*fde || !(*fde)->contains(start + offset)) return std::nullopt;
  cfi::FullRow row;
  if (!cfi::FullRowCursor(section, **fde).find(start + offset, row)) return std::nullopt;
  return row;
}

FrameRow resolved(const FrameRow& row, const AbiTraits& abi) {
  return resolve_fixed(row, abi.fixed_ra_offset, abi.fixed_fp_offset);
}

/// Expects that the CFI made of the rows says the same at each offset, by either kind of addresses.
void expect_same(const Fde& function, const std::vector<FrameRow>& rows, Abi id) {
  const AbiTraits& abi = traits(id);
  const auto made = jit::Rows::make(function, rows, {}, id);
  ASSERT_TRUE(made);
  const auto absolute = jit::make_eh_frame(start, *made);
  const auto relative = jit::make_eh_frame(start, *made, section_at);
  for (std::uint32_t offset = 0; offset < function.size; ++offset) {
    const FrameRow* expected = nullptr;
    for (const FrameRow& row : rows)
      if (row.offset <= (function.rep_size ? offset % function.rep_size : offset)) expected = &row;
    for (const auto* bytes : {&absolute, &relative}) {
      const auto row = cfi_row(*bytes, offset, abi);
      ASSERT_EQ(expected != nullptr, row.has_value()) << offset;
      if (!expected) continue;
      const auto found = cfi::to_frame_row(*row, abi);
      ASSERT_TRUE(found) << message(found.error());
      EXPECT_TRUE(resolved(*found, abi).same_rules(resolved(*expected, abi)))
          << offset << ": " << row_text(*found, abi) << ", not " << row_text(*expected, abi);
    }
  }
}

TEST(JitEhFrame, SaysWhatTheRowsSayOnAmd64) {
  const Rule ra = Rule::fixed();
  expect_same({.size = 20},
              {{2, Rule::value(7, 8), ra, {}, false}, // nothing is known of the first two bytes
               {3, Rule::value(7, 16), ra, Rule::at_cfa(-16), false},
               {6, Rule::value(6, 16), ra, Rule::at_cfa(-16), false},
               {9, Rule::value(10, -24), ra, Rule::stored(10, -64), false},
               {12, Rule::stored(6, -8), ra, Rule::stored(6, 0), false},
               {15, Rule::value(6, 16), ra, Rule::in_register(3), false},
               {18, Rule::value(7, 8), ra, {}, false},
               {19, Rule::undefined(), Rule::undefined(), Rule::undefined(), false}},
              Abi::amd64);
}

TEST(JitEhFrame, LongDistances) {
  std::vector<FrameRow> rows;
  for (const std::uint32_t offset : {0u, 255u, 511u, 70000u})
    rows.push_back({offset, Rule::value(7, static_cast<std::int32_t>(8 + offset)), Rule::fixed(), {}, false});
  expect_same({.size = 70010}, rows, Abi::amd64);
}

TEST(JitEhFrame, RepeatedBlocks) {
  expect_same(
      {.size = 40, .pc_type = PcType::mask, .rep_size = 16}, // the last block is cut
      {{0, Rule::value(7, 8), Rule::fixed(), {}, false}, {6, Rule::value(7, 16), Rule::fixed(), {}, false}},
      Abi::amd64);
}

TEST(JitEhFrame, SignedReturnAddressesOnAArch64) {
  expect_same({.size = 24},
              {{0, Rule::value(31, 0), {}, {}, false},
               {4, Rule::value(31, 0), {}, {}, true},
               {8, Rule::value(31, 32), Rule::at_cfa(-24), Rule::at_cfa(-32), true},
               {16, Rule::value(31, 0), {}, {}, true},
               {20, Rule::value(31, 0), {}, {}, false}},
              Abi::aarch64_little);
}

TEST(JitEhFrame, CallersStackPointerOnS390x) {
  const std::vector<FrameRow> rows = {
      {0, Rule::value(15, 160), {}, {}, false},
      {6, Rule::value(15, 160), Rule::at_cfa(-48), Rule::at_cfa(-72), false},
      {12, Rule::value(11, 328), Rule::at_cfa(-48), Rule::at_cfa(-72), false}};
  expect_same({.size = 20}, rows, Abi::s390x);
  const auto made = jit::Rows::make({.size = 20}, rows, {}, Abi::s390x);
  const auto row = cfi_row(jit::make_eh_frame(start, *made), 0, traits(Abi::s390x));
  EXPECT_EQ(row->rule(15).kind, cfi::RegisterRule::Kind::val_offset);
  EXPECT_EQ(row->rule(15).offset, -160);
}

TEST(JitEhFrame, MarksOfTheFunction) {
  const FrameRow row = {0, Rule::value(31, 16), Rule::at_cfa(-8), {}, false};
  const auto made = jit::Rows::make({.size = 8, .signal_frame = true, .pauth_key = PauthKey::b},
                                    std::span(&row, 1), {}, Abi::aarch64_little);
  const auto bytes = jit::make_eh_frame(start, *made);
  const cfi::CfiSection section(cfi::SectionKind::eh_frame, bytes, section_at, traits(Abi::aarch64_little));
  cfi::FdeCursor fdes(section);
  const auto fde = fdes.next();
  ASSERT_TRUE(fde && *fde);
  EXPECT_TRUE((*fde)->cie.signal_frame);
  EXPECT_TRUE((*fde)->cie.b_key);
  const auto end = fdes.next();
  EXPECT_TRUE(end && !*end);
}

TEST(JitEhFrame, SavedRegistersHoldInTheirRange) {
  const FrameRow row = {0, Rule::value(7, 32), Rule::fixed(), {}, false};
  const jit::SavedRegister saved[] = {{.from = 4, .to = 12, .reg = 3, .cfa_offset = -24},
                                      {.from = 8, .to = 16, .reg = 12, .cfa_offset = -32}};
  const auto made = jit::Rows::make({.size = 16}, std::span(&row, 1), saved, Abi::amd64);
  const auto bytes = jit::make_eh_frame(start, *made);
  for (std::uint32_t offset = 0; offset < 16; ++offset)
    for (const jit::SavedRegister& one : saved) {
      const auto found = cfi_row(bytes, offset, traits(Abi::amd64));
      const bool is_saved = found->rule(one.reg).kind == cfi::RegisterRule::Kind::offset;
      EXPECT_EQ(offset >= one.from && offset < one.to, is_saved) << offset;
      if (is_saved) {
        EXPECT_EQ(one.cfa_offset, found->rule(one.reg).offset);
      }
    }
}

class Files : public testing::Test {
protected:
  ~Files() override { std::filesystem::remove(path); }

  std::string contents() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path =
      (std::filesystem::temp_directory_path() / ("jit-publishers-test-" + std::to_string(getpid()))).string();
  std::vector<std::uint8_t> code = {0x50, 0x58, 0xc3}; // push, pop, ret
  jit::Rows rows =
      jit::Rows::make({.size = 3}, std::vector<FrameRow>{{0, Rule::value(7, 8), Rule::at_cfa(-8), {}, false}})
          .value();
  jit::PublishedCode published{reinterpret_cast<std::uint64_t>(code.data()), "a function", rows};
};

TEST_F(Files, PerfMapHasALineForEachName) {
  jit::PerfMap map(path);
  EXPECT_TRUE(map.add({0x1000, "f", rows}));
  EXPECT_TRUE(map.add({0xabcdef0123, "two\nlines", rows}));
  EXPECT_TRUE(map.add({0x3000, "", rows}));
  EXPECT_EQ("1000 3 f\nabcdef0123 3 two lines\n", contents());
}

TEST_F(Files, FilesOfOthersAreNotWritten) {
  std::filesystem::create_symlink("/dev/null", path);
  jit::PerfMap link(path);
  EXPECT_FALSE(link.add({0x1000, "f", rows}));
  jit::PerfMap nowhere("/nonexistent/file");
  EXPECT_FALSE(nowhere.add({0x1000, "f", rows}));
}

TEST_F(Files, FilesWithAnotherNameKeepTheirContents) {
  const std::string other = path + "-other";
  std::ofstream(other) << "contents";
  std::filesystem::create_hard_link(other, path);
  const jit::PerfMap map(path);
  std::filesystem::remove(other);
  EXPECT_FALSE(map.is_open());
  EXPECT_EQ("contents", contents());
}

/// By the offsets of jitdump-specification.txt.
TEST_F(Files, JitDumpHasCodeAndUnwindingData) {
  jit::JitDump dump(path);
  ASSERT_TRUE(dump.add(published));
  const std::string bytes = contents();
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    return value;
  };
  ASSERT_GT(bytes.size(), 40u + 40u);
  EXPECT_EQ(0x4a695444u, number(0, 4));
  EXPECT_EQ(1u, number(4, 4));
  EXPECT_EQ(40u, number(8, 4));
  EXPECT_EQ(traits(jit::host_abi()).machine, number(12, 4));
  EXPECT_EQ(static_cast<std::uint64_t>(getpid()), number(20, 4));
  // JIT_CODE_UNWINDING_INFO
  const std::size_t unwinding = 40, size = number(unwinding + 4, 4);
  EXPECT_EQ(4u, number(unwinding, 4));
  EXPECT_EQ(size, 16 + 24 + number(unwinding + 16, 8));
  const std::size_t header = unwinding + size - 20; // .eh_frame_hdr with a table of one
  EXPECT_EQ(20u, number(unwinding + 24, 8));
  EXPECT_EQ(0x3b031b01u, number(header, 4));
  EXPECT_EQ(1u, number(header + 8, 4));
  // JIT_CODE_LOAD
  const std::size_t load = unwinding + size;
  ASSERT_EQ(bytes.size(), load + 16 + 40 + 11 + 3);
  EXPECT_EQ(0u, number(load, 4));
  EXPECT_EQ(bytes.size() - load, number(load + 4, 4));
  EXPECT_GE(number(load + 8, 8), number(unwinding + 8, 8)); // timestamps
  EXPECT_EQ(published.start, number(load + 24, 8));
  EXPECT_EQ(3u, number(load + 40, 8));
  EXPECT_EQ(0u, number(load + 48, 8));
  EXPECT_EQ(0, std::memcmp(bytes.data() + load + 56, "a function\0\x50\x58\xc3", 14));
  // perf has the code at a multiple of 8, and .eh_frame after it, at the next one.
  const std::string eh_frame_bytes = bytes.substr(unwinding + 40, header - unwinding - 40);
  const auto eh_frame = std::as_bytes(std::span(eh_frame_bytes));
  const cfi::CfiSection section(cfi::SectionKind::eh_frame, eh_frame, 0x80 + 8, traits(jit::host_abi()));
  cfi::FdeCursor fdes(section);
  const auto fde = fdes.next();
  ASSERT_TRUE(fde && *fde);
  EXPECT_EQ(0x80u, (*fde)->start);
  EXPECT_EQ(3u, (*fde)->size);
  // The table's entry: the code's start and the FDE, from the table's own start.
  const std::uint64_t header_at = 0x80 + 8 + eh_frame.size();
  EXPECT_EQ(static_cast<std::uint32_t>(0x80 - header_at), number(header + 12, 4));
  EXPECT_EQ(static_cast<std::uint32_t>((*fde)->offset - eh_frame.size()), number(header + 16, 4));
  EXPECT_EQ(static_cast<std::uint32_t>(-(eh_frame.size() + 4)), number(header + 4, 4));
}

/// As a row that says it.
TEST(JitEhFrame, CodeWithoutRowsIsOutermost) {
  const FrameRow outermost = FrameRow::outermost(0);
  for (const Abi id : {Abi::amd64, Abi::aarch64_little, Abi::s390x})
    EXPECT_EQ(
        jit::make_eh_frame(start, jit::Rows::make({.size = 8}, {}, {}, id).value()),
        jit::make_eh_frame(start, jit::Rows::make({.size = 8}, std::span(&outermost, 1), {}, id).value()));
}

/// JIT_CODE_DEBUG_INFO comes first: code's address, number of entries; address, line, discriminator and file.
TEST_F(Files, JitDumpHasSourceLines) {
  jit::JitDump dump(path);
  const jit::SourceLine lines[] = {{0, 7, "a.src"}, {2, 300, "b.src"}};
  ASSERT_TRUE(dump.add({published.start, published.name, rows, lines}));
  const std::string bytes = contents();
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    return value;
  };
  const std::size_t record = 40;
  EXPECT_EQ(2u, number(record, 4));
  ASSERT_EQ(16u + 16 + 2 * (16 + 6), number(record + 4, 4));
  EXPECT_EQ(published.start, number(record + 16, 8));
  EXPECT_EQ(2u, number(record + 24, 8));
  EXPECT_EQ(published.start, number(record + 32, 8));
  EXPECT_EQ(7u, number(record + 40, 8));
  EXPECT_STREQ("a.src", bytes.data() + record + 48);
  EXPECT_EQ(published.start + 2, number(record + 54, 8));
  EXPECT_EQ(300u, number(record + 62, 8));
  EXPECT_STREQ("b.src", bytes.data() + record + 70);
  EXPECT_EQ(4u, number(record + 76, 4)); // the unwinding data
}

/// The size of a record has 32 bits. The code's bytes are not read.
TEST_F(Files, JitDumpRefusesCodeThatIsTooLargeForARecord) {
  jit::JitDump dump(path);
  const auto rows = jit::Rows::make({.size = 0xffffffc2}, {});
  ASSERT_TRUE(rows);
  EXPECT_FALSE(dump.add({0x1000, "large", *rows}));
  EXPECT_EQ(40u, contents().size());
  EXPECT_TRUE(dump.add(published));
}

} // namespace jit_publishers_test
