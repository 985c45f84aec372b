// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions and rows of hand-assembled AMD64 stubs. A push moves the CFA from SP + 8 to SP + 16.

#include "cfi_assembler.h"

#include <sframe/base/budget.h>
#include <sframe/generate/plt.h>

#include <gtest/gtest.h>

#include <array>

namespace sframe::generate {
namespace generate_plt_test {

using test::CfiAssembler;

constexpr std::uint64_t base = 0x1000;
const AbiTraits& amd64 = traits(Abi::amd64);

void append(std::vector<std::byte>& code, std::initializer_list<int> values) {
  for (const int value : values) code.push_back(static_cast<std::byte>(value));
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  append(bytes, values);
  return bytes;
}
/// `count` lazy stubs: jmp *address; push number; jmp `target`.
std::vector<std::byte> lazy_stubs(std::size_t count, std::uint64_t target = 0) {
  std::vector<std::byte> code;
  for (std::size_t i = 0; i < count; ++i) {
    append(code, {0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9});
    const std::uint64_t distance = target - (base + code.size() + 4);
    for (int shift = 0; shift < 32; shift += 8) code.push_back(static_cast<std::byte>(distance >> shift));
  }
  return code;
}

/// A row as the builder gets it: RA at its fixed place.
FrameRow built(std::uint32_t offset, std::int32_t cfa) {
  return {offset, Rule::value(7, cfa), Rule::fixed(), Rule::same(), false};
}

/// A row of StubRows.
FrameRow resolved(std::int32_t cfa) {
  return {0, Rule::value(7, cfa), Rule::at_cfa(-8), Rule::same(), false};
}

TEST(GeneratePlt, TwoStubsRepeat) {
  const auto functions = plt_functions(amd64, lazy_stubs(2), base);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].fde.start, base);
  EXPECT_EQ(functions[0].fde.size, 32u);
  EXPECT_EQ(functions[0].fde.pc_type, PcType::mask);
  EXPECT_EQ(functions[0].fde.rep_size, 16u);
  EXPECT_EQ(functions[0].rows, (std::vector<FrameRow>{built(0, 8), built(11, 16)}));
}

TEST(GeneratePlt, OneStubDoesNotRepeat) {
  const auto functions = plt_functions(amd64, lazy_stubs(1), base);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].fde.size, 16u);
  EXPECT_EQ(functions[0].fde.pc_type, PcType::inc);
  EXPECT_EQ(functions[0].rows, (std::vector<FrameRow>{built(0, 8), built(11, 16)}));
}

/// PLT0 (push; jmp *address; nop) starts with the CFA that the jumps to it have.
TEST(GeneratePlt, FirstStubIsEnteredFromTheOthers) {
  std::vector<std::byte> code =
      bytes_of({0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0});
  for (const std::byte byte : lazy_stubs(3, base - 16))
    code.push_back(byte); // 16 bytes further on than assembled
  const auto functions = plt_functions(amd64, code, base);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].fde.start, base);
  EXPECT_EQ(functions[0].fde.size, 16u);
  EXPECT_EQ(functions[0].fde.pc_type, PcType::inc);
  EXPECT_EQ(functions[0].rows, (std::vector<FrameRow>{built(0, 16), built(6, 24)}));
  EXPECT_EQ(functions[1].fde.start, base + 16);
  EXPECT_EQ(functions[1].fde.size, 48u);
  EXPECT_EQ(functions[1].rows, (std::vector<FrameRow>{built(0, 8), built(11, 16)}));
}

/// One jump to PLT0 after one push, one after two: its rows are not known.
TEST(GeneratePlt, FirstStubThatIsEnteredInTwoWays) {
  std::vector<std::byte> code =
      bytes_of({0xff, 0x35, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0});
  append(code, {0x68, 0, 0, 0, 0, 0xe9, 0xe6, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}); // at 16
  append(code,
         {0x6a, 0, 0x6a, 0, 0xe9, 0xd7, 0xff, 0xff, 0xff, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}); // at 32
  const auto functions = plt_functions(amd64, code, base);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].fde.start, base + 16);
  EXPECT_EQ(functions[0].rows, (std::vector<FrameRow>{built(0, 8), built(5, 16)}));
  EXPECT_EQ(functions[1].fde.start, base + 32);
  EXPECT_EQ(functions[1].rows, (std::vector<FrameRow>{built(0, 8), built(2, 16), built(4, 24)}));
}

/// Stubs that do not push have one row, however large they are.
TEST(GeneratePlt, StubsWithOneRowAreOneFunction) {
  std::vector<std::byte> code;
  for (int i = 0; i < 3; ++i) {
    code.resize(code.size() + 512, std::byte(0x90));
    append(code, {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90});
    append(code, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0});
  }
  const auto functions = plt_functions(amd64, code, base);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].fde.size, 3 * 528u);
  EXPECT_EQ(functions[0].fde.pc_type, PcType::inc);
  EXPECT_EQ(functions[0].rows, std::vector<FrameRow>{built(0, 8)});
}

/// The section's end cuts an instruction in two. Bytes after it are another section's.
TEST(GeneratePlt, NothingAfterTheEndIsRead) {
  std::vector<std::byte> code = lazy_stubs(1);
  append(code, {0xff, 0x25, 0, 0, 0, 0});                      // a stub's jump,
  append(code, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}); // with padding after it
  const std::span<const std::byte> all = code;
  auto functions = plt_functions(amd64, all.first(31), base);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].fde.start, base + 16);
  EXPECT_EQ(functions[1].fde.size, 6u) << "without the nop that is cut";
  functions = plt_functions(amd64, all.first(21), base);
  ASSERT_EQ(functions.size(), 1u) << "without the jump that is cut";
  EXPECT_EQ(functions[0].fde.size, 16u);
  EXPECT_TRUE(plt_functions(amd64, {}, base).empty());
}

/// A direct jump ends its block, also if its last byte is the first of one; the rest of that is data.
TEST(GeneratePlt, JumpAcrossTheEndOfABlock) {
  std::vector<std::byte> code(12, std::byte(0x90));
  append(code, {0xe9, 0, 0x10, 0, 0});
  code.resize(32, std::byte(0xff));
  append(code, {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0});
  const auto functions = plt_functions(amd64, code, base);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].fde.start, base);
  EXPECT_EQ(functions[0].fde.size, 48u);
  EXPECT_EQ(functions[0].rows, std::vector<FrameRow>{built(0, 8)});
}

TEST(GeneratePlt, LeavesOutWhatItCannotAnalyze) {
  std::vector<std::byte> code =
      bytes_of({0xbc, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0, 0}); // mov $0,%esp
  for (const std::byte byte : lazy_stubs(1)) code.push_back(byte);
  auto functions = plt_functions(amd64, code, base);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].fde.start, base + 16);

  Budget budget(Limits::strict, 0);
  while (budget.take(Resource::code_steps, 1 << 10)) {
  }
  EXPECT_TRUE(plt_functions(amd64, code, base, &budget).empty());
}

using Visited = std::vector<std::array<std::uint64_t, 4>>; ///< begin, end, CFA offset, end of stub

Visited visited(const StubRows& rows, std::uint64_t begin, std::uint64_t end) {
  Visited all;
  EXPECT_TRUE(rows.visit(begin, end, [&](const StubRows::Piece& piece) {
    all.push_back({piece.begin - base, piece.end - base, static_cast<std::uint64_t>(piece.row->cfa.offset),
                   piece.stub_end - base});
    return true;
  }));
  return all;
}

TEST(GeneratePlt, VisitsPiecesByAddress) {
  const auto code = lazy_stubs(3), later = lazy_stubs(1);
  StubRows rows;
  rows.add(amd64, later, base + 0x100);
  rows.add(amd64, code, base);
  EXPECT_EQ(visited(rows, 0, ~std::uint64_t{0}), (Visited{{0, 11, 8, 16},
                                                          {11, 16, 16, 16},
                                                          {16, 27, 8, 32},
                                                          {27, 32, 16, 32},
                                                          {32, 43, 8, 48},
                                                          {43, 48, 16, 48},
                                                          {0x100, 0x10b, 8, 0x110},
                                                          {0x10b, 0x110, 16, 0x110}}));
  EXPECT_EQ(visited(rows, base + 16, base + 27), (Visited{{16, 27, 8, 32}}));
  EXPECT_EQ(visited(rows, base + 15, base + 28),
            (Visited{{11, 16, 16, 16}, {16, 27, 8, 32}, {27, 32, 16, 32}}));
  EXPECT_EQ(visited(rows, base + 40, base + 41), (Visited{{32, 43, 8, 48}}));
  EXPECT_EQ(visited(rows, base + 47, base + 0x100), (Visited{{43, 48, 16, 48}}));
  EXPECT_EQ(visited(rows, base + 48, base + 0x100), Visited{});
  EXPECT_EQ(visited(rows, 0, base), Visited{});
  EXPECT_EQ(visited(rows, base + 0x10f, base + 0x200), (Visited{{0x10b, 0x110, 16, 0x110}}));
  EXPECT_EQ(visited(rows, base + 0x110, base + 0x200), Visited{});

  int calls = 0;
  EXPECT_FALSE(rows.visit(base, base + 48, [&](const StubRows::Piece&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

TEST(GeneratePlt, ProvesAndRefutesRows) {
  const auto code = lazy_stubs(2), after = lazy_stubs(1);
  StubRows rows;
  rows.add(amd64, code, base);
  rows.add(amd64, after, base + 0x30); // a gap of 16 bytes
  struct Case {
    std::uint64_t begin, end;
    std::int32_t cfa;
    bool proved, refuted;
  };
  for (const Case& c :
       {Case{0, 11, 8, true, false}, Case{0, 12, 8, false, true}, Case{5, 6, 8, true, false},
        Case{11, 16, 16, true, false}, Case{10, 16, 16, false, true}, Case{11, 16, 8, false, true},
        Case{11, 17, 16, false, true}, Case{16, 27, 8, true, false}, Case{27, 32, 16, true, false},
        Case{27, 33, 16, false, false}, Case{32, 48, 16, false, false}, Case{27, 64, 16, false, true},
        Case{47, 59, 8, false, false}, Case{48, 59, 8, true, false}, Case{59, 64, 16, true, false},
        Case{59, 65, 16, false, false}}) {
    EXPECT_EQ(rows.prove(resolved(c.cfa), base + c.begin, base + c.end), c.proved) << c.begin << ' ' << c.end;
    EXPECT_EQ(rows.refute(resolved(c.cfa), base + c.begin, base + c.end), c.refuted)
        << c.begin << ' ' << c.end;
  }
  FrameRow other_fp = resolved(8);
  other_fp.fp = Rule::at_cfa(-16);
  EXPECT_FALSE(rows.prove(other_fp, base, base + 11));
  EXPECT_TRUE(rows.refute(other_fp, base, base + 11));
}

/// A stub that starts with four zeros is padding; one that starts with three is not.
TEST(GeneratePlt, ZerosArePadding) {
  const auto padding = bytes_of({0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0});
  const auto code = bytes_of({0, 0, 0, 8, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0});
  for (const auto* bytes : {&padding, &code}) {
    ASSERT_EQ(plt_functions(amd64, *bytes, base).size(), 1u);
    StubRows rows;
    rows.add(amd64, *bytes, base);
    EXPECT_EQ(rows.prove(resolved(8), base, base + 16), bytes == &code);
    EXPECT_EQ(rows.refute(resolved(16), base, base + 16), bytes == &code);
  }
}

/// One FDE for two stubs, with the instructions after its CFA = SP + 8, RA at CFA - 8.
class StubCfi {
public:
  explicit StubCfi(std::initializer_list<int> instructions) {
    cie_ = a_.cie(a_.body().u8(1).text("").uleb(1).sleb(-8).u8(16).raw({0x0c, 7, 8, 0x90, 1}));
    fde_ = a_.fde(cie_, a_.body().u64(base).u64(32).raw(instructions));
  }
  bool refuted(std::uint64_t begin = 0, std::uint64_t end = 32) const {
    const auto code = lazy_stubs(2);
    StubRows rows;
    rows.add(amd64, code, base);
    const cfi::CfiSection section = a_.section();
    return rows.refute(section, section.fde(fde_).value(), base + begin, base + end);
  }

private:
  CfiAssembler a_;
  std::size_t cie_ = 0, fde_ = 0;
};

TEST(GeneratePlt, RefutesCfi) {
  // DW_CFA_def_cfa_offset 16 at 11, 8 at 16, 16 at 27.
  EXPECT_FALSE(StubCfi({0x4b, 0x0e, 16, 0x45, 0x0e, 8, 0x4b, 0x0e, 16}).refuted());
  EXPECT_TRUE(StubCfi({0x4b, 0x0e, 16, 0x45, 0x0e, 8, 0x4b, 0x0e, 24}).refuted());
  EXPECT_TRUE(StubCfi({0x4a, 0x0e, 16, 0x46, 0x0e, 8, 0x4b, 0x0e, 16}).refuted()) << "one byte too early";
  EXPECT_TRUE(StubCfi({}).refuted());
  EXPECT_TRUE(StubCfi({}).refuted(11, 16));
  EXPECT_TRUE(StubCfi({}).refuted(15, 17));
  EXPECT_FALSE(StubCfi({}).refuted(0, 11));
  EXPECT_FALSE(StubCfi({}).refuted(16, 27));
  // Wrong up to 5, which is in the middle of a stub's first piece.
  const StubCfi wrong_start({0x0e, 64, 0x45, 0x0e, 8, 0x46, 0x0e, 16, 0x45, 0x0e, 8, 0x4b, 0x0e, 16});
  EXPECT_TRUE(wrong_start.refuted());
  EXPECT_TRUE(wrong_start.refuted(4, 32));
  EXPECT_FALSE(wrong_start.refuted(5, 32));
  // A rule that no row can represent (CFA = lit0) is not refuted.
  EXPECT_FALSE(StubCfi({0x0f, 1, 0x30}).refuted());
}

/// CFA = rsp + 8 + ((rip & 15) >= `threshold`) * 8, as ld writes it.
TEST(GeneratePlt, RefutesCfiOfRepeatingRows) {
  const auto cfi = [](int threshold) {
    return StubCfi({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + threshold, 0x2a, 0x33, 0x24, 0x22});
  };
  EXPECT_FALSE(cfi(11).refuted());
  EXPECT_TRUE(cfi(10).refuted()) << "the last byte of a piece";
  EXPECT_TRUE(cfi(12).refuted()) << "the first byte of a piece";
  EXPECT_FALSE(cfi(10).refuted(0, 10));
  EXPECT_TRUE(cfi(10).refuted(0, 11));
  EXPECT_FALSE(cfi(12).refuted(12, 16));
  EXPECT_TRUE(cfi(12).refuted(11, 16));
  EXPECT_FALSE(cfi(10).refuted(16, 26));
}

TEST(GeneratePlt, RowAtAnAddress) {
  const cfi::PltCfa plt =
      cfi::plt_cfa(bytes_of({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}), amd64).value();
  for (const auto& [address, offset] :
       {std::pair{0u, 8}, {10u, 8}, {11u, 16}, {15u, 16}, {16u, 8}, {0x102bu, 16}}) {
    const cfi::MinimalRow row = plt_row({}, plt, address);
    EXPECT_EQ(row.cfa, (cfi::CfaRule{cfi::CfaRule::Kind::register_offset, 7, offset})) << address;
  }
}

} // namespace generate_plt_test
} // namespace sframe::generate
