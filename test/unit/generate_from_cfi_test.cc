// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hand-made CFI: the expected rows are derived from the DWARF rules, not from the converter.

#include "elf_builder.h"
#include "generate_frames.h"
#include "inputs.h"

#include <sframe/elf/object.h>
#include <sframe/generate/plt.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <random>

namespace sframe::generate {
namespace generate_from_cfi_test {

TEST(GenerateFromCfi, PrologueAndEpilogue) {
  // push rbp; mov rbp, rsp; ...; leave; ret
  Frames frames;
  frames.fde(base, 0x40,
             Bytes().raw({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x40 + 0x30, 0x0c, 7, 8, 0xc6}));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].rows,
            (std::vector<FrameRow>{sp_row(0, 8),
                                   {1, Rule::value(7, 16), Rule::fixed(), Rule::at_cfa(-16), false},
                                   {4, Rule::value(6, 16), Rule::fixed(), Rule::at_cfa(-16), false},
                                   sp_row(0x34, 8)}));
  EXPECT_EQ(result.report.functions.converted, 1u);
  EXPECT_EQ(result.report.pc_bytes.covered, 0x40u);
  EXPECT_TRUE(result.report.complete());
}

TEST(GenerateFromCfi, LeavesOutUnrepresentableRows) {
  // Bytes 4..8: CFA = a constant expression (DW_OP_lit1); then SP + 8 again.
  Frames frames;
  frames.fde(base, 16, Bytes().raw({0x44, 0x0f, 1, 0x31, 0x44, 0x0c, 7, 8}));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 2u);
  EXPECT_EQ(result.functions[0].start, base);
  EXPECT_EQ(result.functions[0].size, 4u);
  EXPECT_EQ(result.functions[1].start, base + 8);
  EXPECT_EQ(result.functions[1].size, 8u);
  EXPECT_EQ(result.functions[1].rows, std::vector<FrameRow>{sp_row(0, 8)});
  ASSERT_EQ(result.report.left_out.size(), 1u);
  EXPECT_EQ(result.report.left_out[0].start, base + 4);
  EXPECT_EQ(result.report.left_out[0].size, 4u);
  EXPECT_STREQ(result.report.left_out[0].reason.name, "cfa-expression");
  EXPECT_EQ(result.report.functions.partial, 1u);
  EXPECT_EQ(result.report.pc_bytes.total, 16u);
  EXPECT_EQ(result.report.pc_bytes.covered, 12u);
  EXPECT_FALSE(result.report.complete());
}

TEST(GenerateFromCfi, FlexRowsNeedVersion3) {
  // Bytes 4..8: CFA = r10 + 0 (a realigned stack).
  Frames frames;
  frames.fde(base, 16, Bytes().raw({0x44, 0x0c, 10, 0, 0x44, 0x0c, 7, 8}));
  const Result three = convert(frames);
  ASSERT_EQ(three.functions.size(), 1u);
  EXPECT_EQ(three.functions[0].fde.fde_type, FdeType::flex);
  EXPECT_EQ(three.functions[0].rows,
            (std::vector<FrameRow>{
                sp_row(0, 8), {4, Rule::value(10, 0), Rule::fixed(), Rule::same(), false}, sp_row(8, 8)}));
  for (const VersionNumber version : {VersionNumber::v2, VersionNumber::v1}) {
    const Result two = convert(frames, {.version = version, .wanted = {}});
    ASSERT_EQ(two.functions.size(), 2u);
    EXPECT_EQ(two.functions[0].size, 4u);
    EXPECT_EQ(two.functions[1].start, base + 8);
    EXPECT_EQ(two.functions[1].rows, std::vector<FrameRow>{sp_row(0, 8)});
    ASSERT_EQ(two.report.left_out.size(), 1u);
    EXPECT_STREQ(two.report.left_out[0].reason.name, "cfa-rule");
    EXPECT_EQ(two.report.left_out[0].start, base + 4);
  }
}

TEST(GenerateFromCfi, OutermostAndSignalFrames) {
  Frames outermost;
  outermost.fde(base, 16, Bytes().raw({0x07, 16})); // DW_CFA_undefined RA
  const Result row = convert(outermost);
  ASSERT_EQ(row.functions.size(), 1u);
  EXPECT_EQ(row.functions[0].rows, std::vector<FrameRow>{FrameRow::outermost(0)});
  const Result one = convert(outermost, {.version = VersionNumber::v1, .wanted = {}});
  EXPECT_TRUE(one.functions.empty());
  EXPECT_EQ(one.report.reasons, (std::map<std::string_view, std::uint64_t>{{"outermost", 1}}));

  Frames signal(SectionKind::eh_frame, "zS");
  signal.fde(base, 16);
  EXPECT_TRUE(convert(signal).functions.at(0).fde.signal_frame);
  const Result two = convert(signal, {.version = VersionNumber::v2, .wanted = {}});
  EXPECT_TRUE(two.functions.empty());
  EXPECT_EQ(two.report.functions.skipped, 1u);
  EXPECT_EQ(two.report.reasons, (std::map<std::string_view, std::uint64_t>{{"signal-frame", 1}}));
}

TEST(GenerateFromCfi, PointerAuthentication) {
  // CFA = sp; after 4 bytes the RA is signed (DW_CFA_AARCH64_negate_ra_state).
  Frames frames(SectionKind::eh_frame, "zB", Bytes().raw({0x0c, 31, 0}), 30);
  frames.fde(base, 16, Bytes().raw({0x44, 0x2d}));
  const Result result = convert(frames, {}, Abi::aarch64_little);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].fde.pauth_key, PauthKey::b);
  EXPECT_EQ(result.functions[0].rows,
            (std::vector<FrameRow>{{0, Rule::value(31, 0), Rule::same(), Rule::same(), false},
                                   {4, Rule::value(31, 0), Rule::same(), Rule::same(), true}}));
}

/// What ld writes for a lazy PLT: PLT0 with two rows, then CFA = rsp + 8 + ((rip & 15) >= 11) * 8.
Bytes plt_instructions(unsigned first_block) {
  return Bytes().raw({0x0e, 16, 0x46, 0x0e, 24, 0x40 + int(first_block) - 6, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f,
                      0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
}

TEST(GenerateFromCfi, PltBecomesARepeatingBlock) {
  Frames frames;
  frames.fde(base, 0x40, plt_instructions(16));
  for (const VersionNumber version : {VersionNumber::v1, VersionNumber::v2, VersionNumber::v3}) {
    const Result result = convert(frames, {.version = version, .wanted = {}});
    ASSERT_EQ(result.functions.size(), 2u);
    EXPECT_EQ(result.functions[0].size, 16u);
    EXPECT_EQ(result.functions[0].rows, (std::vector<FrameRow>{sp_row(0, 16), sp_row(6, 24)}));
    const Function& entries = result.functions[1];
    EXPECT_EQ(entries.start, base + 16);
    EXPECT_EQ(entries.size, 0x30u);
    EXPECT_EQ(entries.fde.pc_type, PcType::mask);
    if (version != VersionNumber::v1) {
      EXPECT_EQ(entries.fde.rep_size, 16);
    }
    EXPECT_EQ(entries.rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(11, 16)}));
    EXPECT_TRUE(result.report.complete());
  }
}

TEST(GenerateFromCfi, PltWhoseSecondRowStartsAtOne) {
  Frames frames; // CFA = rsp + 8 + ((rip & 15) >= 1) * 8
  frames.fde(base, 0x20, Bytes().raw({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x31, 0x2a, 0x33, 0x24, 0x22}));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].fde.pc_type, PcType::mask);
  EXPECT_EQ(result.functions[0].rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(1, 16)}));
}

TEST(GenerateFromCfi, PltThatBeginsInsideABlock) {
  Frames frames;
  frames.fde(base, 0x40, plt_instructions(20)); // the expression holds from base + 20
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 3u);
  EXPECT_EQ(result.functions[1].start, base + 20);
  EXPECT_EQ(result.functions[1].size, 12u);
  EXPECT_EQ(result.functions[1].rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(7, 16)})); // 11 - 4
  EXPECT_EQ(result.functions[2].start, base + 32);
  EXPECT_EQ(result.functions[2].fde.pc_type, PcType::mask);
  EXPECT_TRUE(result.report.complete());
}

TEST(GenerateFromCfi, PltThatEndsInsideABlock) {
  Frames frames;
  frames.fde(base, 0x3d, plt_instructions(16)); // 13 bytes of the last block
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 3u);
  EXPECT_EQ(result.functions[1].start, base + 16);
  EXPECT_EQ(result.functions[1].size, 32u);
  EXPECT_EQ(result.functions[1].fde.pc_type, PcType::mask);
  EXPECT_EQ(result.functions[2].start, base + 0x30);
  EXPECT_EQ(result.functions[2].size, 13u);
  EXPECT_EQ(result.functions[2].fde.pc_type, PcType::inc);
  EXPECT_EQ(result.functions[2].rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(11, 16)}));
  EXPECT_TRUE(result.report.complete());
}

TEST(GenerateFromCfi, PltCanBeSwitchedOff) {
  Frames frames;
  frames.fde(base, 0x40, plt_instructions(16)).fde(base + 0x40, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{base, 0x40}, {}}};
  const Result result = convert(input, {.plt = false, .wanted = {}});
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].start, base + 0x40);
  EXPECT_EQ(result.report.functions.total, 1u);
  EXPECT_TRUE(result.report.complete());
}

// What another section or another FDE leaves of a function may be one byte, at either end.
TEST(GenerateFromCfi, OneByteRemains) {
  const auto expect = [](const Result& result, const std::vector<std::array<std::int64_t, 3>>& want) {
    ASSERT_EQ(result.functions.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(result.functions[i].start, base + static_cast<std::uint64_t>(want[i][0]));
      EXPECT_EQ(result.functions[i].size, want[i][1]);
      EXPECT_EQ(result.functions[i].rows,
                std::vector<FrameRow>{sp_row(0, static_cast<std::int32_t>(want[i][2]))});
    }
  };
  Frames first, second, inner;
  first.fde(base + 1, 14, Bytes().raw({0x0e, 16}));
  second.fde(base, 16, Bytes().raw({0x0e, 24}));
  expect(convert(input_of({&first, &second})), {{0, 1, 24}, {1, 14, 16}, {15, 1, 24}});
  inner.fde(base, 16, Bytes().raw({0x0e, 24}));
  inner.fde(base + 1, 14, Bytes().raw({0x0e, 16}));
  expect(convert(inner), {{0, 1, 24}, {1, 14, 16}, {15, 1, 24}});
}

TEST(GenerateFromCfi, LastStartOwnsAddress) {
  // 0..0x40, in it 0x10..0x20 and a duplicate of that, and 0x30..0x50 across its end. CFA offsets distinguish
  // them apart.
  Frames frames;
  frames.fde(base, 0x40, Bytes().raw({0x0e, 16}));
  frames.fde(base + 0x10, 0x10, Bytes().raw({0x0e, 24}));
  frames.fde(base + 0x10, 0x10, Bytes().raw({0x0e, 32}));
  frames.fde(base + 0x30, 0x20, Bytes().raw({0x0e, 40}));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 4u);
  const std::vector<std::array<std::int64_t, 3>> want = {
      {0, 0x10, 16}, {0x10, 0x10, 24}, {0x20, 0x10, 16}, {0x30, 0x20, 40}};
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(result.functions[i].start, base + static_cast<std::uint64_t>(want[i][0]));
    EXPECT_EQ(result.functions[i].size, want[i][1]);
    EXPECT_EQ(result.functions[i].rows,
              std::vector<FrameRow>{sp_row(0, static_cast<std::int32_t>(want[i][2]))});
  }
  EXPECT_EQ(result.report.pc_bytes.total, 0x50u);
  EXPECT_EQ(result.report.pc_bytes.covered, 0x50u);
  EXPECT_EQ(result.report.overlapping, 1u);
  EXPECT_EQ(result.report.functions.total, 4u);
  EXPECT_EQ(result.report.functions.skipped, 1u);
  EXPECT_EQ(result.report.reasons, (std::map<std::string_view, std::uint64_t>{{"duplicate", 1}}));
}

TEST(GenerateFromCfi, DebugFrameFillsGaps) {
  Frames eh;
  eh.fde(base + 0x10, 0x10, Bytes().raw({0x0e, 16})).fde(base + 0x20, 0x10, Bytes().raw({0x0e, 16}));
  Frames debug(SectionKind::debug_frame);
  debug.fde(base, 0x40, Bytes().raw({0x0e, 24})).fde(base + 0x10, 0x10, Bytes().raw({0x0e, 32}));
  const Result result = convert(input_of({&eh, &debug}));
  ASSERT_EQ(result.functions.size(), 4u);
  EXPECT_EQ(result.functions[0].start, base);
  EXPECT_EQ(result.functions[0].size, 0x10u);
  EXPECT_EQ(result.functions[0].rows, std::vector<FrameRow>{sp_row(0, 24)});
  EXPECT_EQ(result.functions[1].rows, std::vector<FrameRow>{sp_row(0, 16)});
  EXPECT_EQ(result.functions[2].rows, std::vector<FrameRow>{sp_row(0, 16)});
  EXPECT_EQ(result.functions[3].start, base + 0x30);
  EXPECT_EQ(result.functions[3].size, 0x10u);
  EXPECT_EQ(result.functions[3].rows, std::vector<FrameRow>{sp_row(0, 24)});
  EXPECT_EQ(result.report.functions.total, 3u); // the FDE that .eh_frame has too is not counted again
  EXPECT_TRUE(result.report.complete());
}

TEST(GenerateFromCfi, OnlyCodeAndSelectedFunctions) {
  Frames frames;
  frames.fde(0, 16).fde(base, 16).fde(base + 16, 16).fde(base + 32, 0);
  CfiInput input = input_of({&frames});
  input.code = {{base, 0x100}};
  const Result all = convert(input);
  EXPECT_EQ(all.functions.size(), 2u);
  EXPECT_EQ(all.report.functions.total, 3u);
  EXPECT_EQ(all.report.functions.skipped, 1u);
  EXPECT_EQ(all.report.functions.converted, 2u);
  ASSERT_EQ(all.report.left_out.size(), 1u);
  EXPECT_EQ(all.report.left_out[0].start, 0u);
  EXPECT_EQ(all.report.left_out[0].size, 16u);
  EXPECT_EQ(all.report.reasons, (std::map<std::string_view, std::uint64_t>{{"not-in-code", 1}}));
  EXPECT_EQ(all.report.pc_bytes.total, 32u);
  const Result some = convert(input, {.wanted = [](const cfi::Fde& fde) { return fde.start == base; }});
  EXPECT_EQ(some.functions.size(), 1u);
  EXPECT_EQ(some.report.functions.total, 1u);
}

TEST(GenerateFromCfi, FaultsAreReported) {
  Frames frames;
  frames.fde(base, 16,
             Bytes().raw({0x44, 0x0e, 16, 0x44, 0x3f})); // rows at 0 and 4; at 8 an unknown instruction
  frames.fde(base + 16, 16);
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 2u);
  EXPECT_EQ(result.functions[0].size, 8u);
  ASSERT_EQ(result.report.faults.size(), 1u);
  EXPECT_EQ(result.report.faults[0].section, ".eh_frame");
  EXPECT_EQ(result.report.faults[0].error.kind, cfi::ErrorKind::unknown_opcode);
  ASSERT_EQ(result.report.left_out.size(), 1u);
  EXPECT_EQ(result.report.left_out[0].start, base + 8);
  EXPECT_EQ(result.report.left_out[0].size, 8u);
  EXPECT_STREQ(result.report.left_out[0].reason.name, "bad-cfi");
}

TEST(GenerateFromCfi, MoreRowsThanAFunctionCanHave) {
  constexpr std::uint32_t count = 100000; // version 3 has room for 65,535
  Bytes instructions;
  for (std::uint32_t i = 1; i < count; ++i) instructions.raw({0x41, 0x0e, i % 2 ? 16 : 8});
  Frames frames;
  frames.fde(base, count, instructions);
  const Result result = convert(frames);
  EXPECT_EQ(result.functions.size(), 2u);
  EXPECT_TRUE(result.report.complete());
  EXPECT_EQ(result.report.functions.converted, 1u);
  for (const Function& function : result.functions)
    for (const FrameRow& row : function.rows)
      ASSERT_EQ(row.cfa.offset, (function.start + row.offset - base) % 2 ? 16 : 8);
}

TEST(GenerateFromCfi, ManyUnrepresentableRowsCostLinearTime) {
  // Each second row is beyond version 2; with a cost per refusal that grows with the rows this would take
  // minutes.
  constexpr std::uint32_t count = 200000;
  Bytes instructions;
  for (std::uint32_t i = 1; i < count; ++i) instructions.raw({0x41, 0x0c, i % 2 ? 10 : 7, 8});
  Frames frames;
  frames.fde(base, count, instructions);
  const Result result = convert(frames, {.version = VersionNumber::v2, .wanted = {}});
  EXPECT_EQ(result.functions.size(), count / 2);
  EXPECT_EQ(result.report.left_out.size(), count / 2);
  EXPECT_EQ(result.report.pc_bytes.covered, count / 2);
}

/// Functions of all kinds, enough for many parts: equal, different, in part not representable, faulty,
/// overlapping.
Frames many_functions() {
  Frames frames;
  for (std::uint64_t i = 0; i < 30000; ++i) {
    const std::uint64_t start = base + (i * 7919 % 30000) * 0x40; // in no order
    const int depth = static_cast<int>(16 + 8 * (i % 7));
    Bytes rows = Bytes().raw({0x41, 0x0e, depth, 0x44, 0x0e, 8});
    if (i % 500 == 1) rows = Bytes().raw({0x44, 0x0f, 1, 0x30, 0x44, 0x0c, 7, 8}); // CFA = lit0, for 4 bytes
    if (i % 1000 == 2) rows.raw({0x3f});                                           // no such opcode
    frames.fde(start, i % 300 == 0 ? 0x60 : 0x40, rows);
  }
  return frames;
}

TEST(GenerateFromCfi, ResultIsIndependentOfThreads) {
  const Frames frames = many_functions();
  const CfiInput input = input_of({&frames});
  for (const bool share : {false, true}) {
    std::vector<std::byte> bytes;
    Report report;
    for (const unsigned threads : {1u, 2u, 3u, 8u}) {
      const Conversion made = from_cfi(input, {.share_rows = share, .threads = threads});
      EXPECT_EQ(made.report.functions.total, 30000u);
      EXPECT_EQ(made.report.functions.partial, 60u + 30u);
      EXPECT_EQ(made.report.faults.size(), 30u);
      EXPECT_EQ(made.report.overlapping, 100u);
      EXPECT_EQ(made.report.reasons,
                (std::map<std::string_view, std::uint64_t>{{"bad-cfi", 30}, {"cfa-expression", 60}}));
      if (threads == 1) {
        bytes = made.builder.finish(0).value();
        report = made.report;
      }
      EXPECT_EQ(made.builder.finish(0).value(), bytes) << threads;
      EXPECT_EQ(made.report.pc_bytes.covered, report.pc_bytes.covered);
      const auto start = [](const LeftOut& range) { return range.start; };
      EXPECT_TRUE(std::ranges::equal(made.report.left_out, report.left_out, {}, start, start));
      const auto offset = [](const Fault& fault) { return fault.error.offset; };
      EXPECT_TRUE(std::ranges::is_sorted(made.report.faults, {}, offset));
    }
  }
}

// One part for each thread: none of them may add to the other's builder.
TEST(GenerateFromCfi, TwoPartsInTwoThreads) {
  Frames frames;
  while (frames.a.bytes().size() < 200'000) {
    const std::uint64_t number = frames.a.bytes().size() / 32;
    frames.fde(base + number * 0x40, 0x40,
               Bytes().raw({0x41, 0x0e, static_cast<int>(16 + 8 * (number % 7))}));
  }
  const CfiInput input = input_of({&frames});
  const auto expected = from_cfi(input, {.wanted = {}, .threads = 1}).builder.finish(0).value();
  for (int round = 0; round < 20; ++round)
    ASSERT_EQ(from_cfi(input, {.wanted = {}, .threads = 2}).builder.finish(0).value(), expected);
}

// What an FDE becomes does not depend on earlier FDEs with the same instructions: of other sizes, at the end
// of which a row may start, with addresses in them, of other CIEs, with overlaps.
TEST(GenerateFromCfi, EqualInstructionsInOtherFdes) {
  const std::vector<Bytes> instructions = {
      Bytes().raw({0x41, 0x0e, 16}),                // a row at 1
      Bytes().raw({0x41, 0x0e, 16, 0x48, 0x0e, 8}), // at 1 and 9
      Bytes().raw({0x50}),                          // only moves to 16
      Bytes().raw({0x48, 0x41, 0x0e, 16, 0x48}),    // a row at 9, and then moves to 17
      Bytes().raw({0x01}).u64(base + 0x800),        // DW_CFA_set_loc, in some FDEs
      Bytes().raw({0x41, 0x0f, 1, 0x31}),           // cannot be represented
      Bytes().raw({0x44, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}), // a PLT's
      Bytes().raw({0x41, 0x0a, 0x0e, 16, 0x44, 0x0b}), // remembers a state
      Bytes().raw({0x41, 0x0b}),                       // an error
      Bytes()};
  std::mt19937 random(19);
  Frames frames;
  const std::size_t first = frames.cie;
  const std::size_t other = frames.a.cie(
      frames.a.body().u8(1).text("").uleb(1).sleb(-8).u8(16).append(Bytes().raw({0x0c, 7, 16, 0x90, 1})));
  std::vector<std::uint64_t> starts;
  for (std::uint64_t i = 0; i < 400; ++i) {
    constexpr std::array<std::uint64_t, 9> sizes = {1, 2, 8, 9, 16, 17, 32, 0x2000, 0x1'0000'0000};
    frames.cie = random() % 4 ? first : other;
    const std::uint64_t step = random() % 20 ? 64 : 4;
    starts.push_back(i ? starts.back() + step : base);
    frames.fde(starts.back(), sizes[random() % 40 ? random() % 7 : 7 + random() % 2],
               instructions[random() % instructions.size()]);
  }
  const CfiInput input = input_of({&frames});
  for (const VersionNumber version : {VersionNumber::v3, VersionNumber::v1}) {
    const Options options{.version = version, .share_rows = true};
    const Result all = convert(input, options);
    Result alone;
    for (const std::uint64_t start : starts) {
      Options one = options;
      one.wanted = [&](const cfi::Fde& fde) { return fde.start == start; };
      const Result result = convert(input, one);
      alone.report.add_counts(result.report);
      alone.functions.insert(alone.functions.end(), result.functions.begin(), result.functions.end());
    }
    std::ranges::sort(alone.functions, {}, &Function::start);
    ASSERT_EQ(all.functions.size(), alone.functions.size());
    for (std::size_t i = 0; i < all.functions.size(); ++i) {
      const Function &a = all.functions[i], &b = alone.functions[i];
      EXPECT_TRUE(a.start == b.start && a.size == b.size && a.rows == b.rows) << std::hex << a.start;
      EXPECT_EQ(a.fde.pc_type, b.fde.pc_type) << std::hex << a.start;
    }
    EXPECT_GT(all.report.functions.converted, 100u);
    EXPECT_EQ(all.report.functions.converted, alone.report.functions.converted);
    EXPECT_EQ(all.report.functions.partial, alone.report.functions.partial);
    EXPECT_EQ(all.report.functions.skipped, alone.report.functions.skipped);
    EXPECT_EQ(all.report.pc_bytes.covered, alone.report.pc_bytes.covered);
    EXPECT_EQ(all.report.pc_bytes.total, alone.report.pc_bytes.total);
  }
}

TEST(GenerateFromCfi, MergesNeighboursOnRequest) {
  Frames frames;
  frames.fde(base, 0x10).fde(base + 0x10, 0x10).fde(base + 0x20, 0x10, Bytes().raw({0x41, 0x0e, 16}));
  const Result merged = convert(frames, {.merge_functions = true});
  ASSERT_EQ(merged.functions.size(), 2u);
  EXPECT_EQ(merged.functions[0].size, 0x20u);
  EXPECT_EQ(merged.functions[1].start, base + 0x20);
  EXPECT_EQ(merged.report.functions.total, 3u) << "the report counts what was there";
  EXPECT_EQ(convert(frames).functions.size(), 3u);
}

// Kernels stand near the top of the address space, where start + 4 GiB wraps.
TEST(GenerateFromCfi, KernelAddresses) {
  for (const std::uint64_t start : {0xffffffff81000000, 0xfffffffffffff000, 0xffffffffffffffdf}) {
    Frames frames;
    // push %rbp at start, mov %rsp,%rbp at start + 1.
    frames.fde(start, 0x20, Bytes().raw({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6}));
    const Result result = convert(frames);
    ASSERT_EQ(result.functions.size(), 1u);
    EXPECT_EQ(result.functions[0].start, start);
    EXPECT_EQ(result.functions[0].size, 0x20u);
    ASSERT_EQ(result.functions[0].rows.size(), 3u);
    EXPECT_EQ(result.functions[0].rows[1].offset, 1u);
    EXPECT_EQ(result.functions[0].rows[2].offset, 4u);
    EXPECT_TRUE(result.report.complete());
    EXPECT_EQ(result.report.pc_bytes.total, 0x20u);
    EXPECT_EQ(result.report.contradiction(), nullptr);
  }
}

// The PLT expression holds from 4 bytes into the last block that ends below the top.
TEST(GenerateFromCfi, PltAtTheTopOfTheAddressSpace) {
  const std::uint64_t start = 0xffffffffffffffc0;
  Frames frames;
  frames.fde(start, 0x38, plt_instructions(0x34));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 2u);
  EXPECT_EQ(result.functions[1].start, start + 0x34);
  EXPECT_EQ(result.functions[1].size, 4u);
  EXPECT_EQ(result.functions[1].rows, (std::vector<FrameRow>{sp_row(0, 8)})); // the step is 11 - 4 bytes on
  EXPECT_TRUE(result.report.complete());
}

TEST(GenerateFromCfi, ReportDetectsImpossibleCounts) {
  Report report;
  report.functions = {.total = 2, .converted = 1, .partial = 1, .skipped = 0};
  report.pc_bytes = {.total = 11, .covered = 11};
  EXPECT_EQ(report.contradiction(), nullptr);
  report.pc_bytes.covered = 12;
  EXPECT_NE(report.contradiction(), nullptr);
  report.pc_bytes.covered = 5;
  report.plt_bytes = 6;
  EXPECT_NE(report.contradiction(), nullptr);
  report.plt_bytes = 0;
  report.functions.partial = ~std::uint64_t{0};
  EXPECT_NE(report.contradiction(), nullptr);
}

// Counts so large that sums wrap are no excuse.
TEST(GenerateFromCfi, ReportDetectsCountsThatWrap) {
  Report report;
  report.functions = {.total = 2, .converted = 3, .partial = ~std::uint64_t{0}, .skipped = 0};
  EXPECT_NE(report.contradiction(), nullptr);
  report.functions = {.total = 2, .converted = 1, .partial = ~std::uint64_t{0}, .skipped = 2};
  EXPECT_NE(report.contradiction(), nullptr);
  report.functions = {.total = 2, .converted = 1, .partial = 0, .skipped = 2};
  EXPECT_NE(report.contradiction(), nullptr);
  report.functions = {.total = 2, .converted = 2, .partial = 0, .skipped = 0};
  EXPECT_EQ(report.contradiction(), nullptr);
  report.functions = {.total = 2, .converted = 0, .partial = 2, .skipped = 0};
  report.pc_bytes = {.total = 7, .covered = 5};
  report.plt_bytes = 5;
  EXPECT_EQ(report.contradiction(), nullptr);
}

TEST(GenerateFromCfi, ReportsAddUp) {
  Report one, two;
  one.functions = {.total = 9, .converted = 4, .partial = 3, .skipped = 2};
  one.pc_bytes = {.total = 100, .covered = 60};
  one.plt_bytes = 10;
  one.refuted_plt_bytes = 11;
  one.extended = 5;
  one.overlapping = 6;
  one.leave_out(0x100, 0x128, bad_cfi, false);
  one.faults.push_back({".eh_frame", {}, {}});
  two = one;
  two.count(duplicate);
  two.faults.push_back({".debug_frame", {}});
  one.add_counts(two);
  EXPECT_EQ(one.functions.total, 18u);
  EXPECT_EQ(one.functions.converted, 8u);
  EXPECT_EQ(one.functions.partial, 6u);
  EXPECT_EQ(one.functions.skipped, 4u);
  EXPECT_EQ(one.pc_bytes.total, 200u);
  EXPECT_EQ(one.pc_bytes.covered, 120u);
  EXPECT_EQ(one.plt_bytes, 20u);
  EXPECT_EQ(one.refuted_plt_bytes, 22u);
  EXPECT_EQ(one.extended, 10u);
  EXPECT_EQ(one.overlapping, 12u);
  EXPECT_EQ(one.reasons, (std::map<std::string_view, std::uint64_t>{{"bad-cfi", 2}, {"duplicate", 1}}));
  ASSERT_EQ(one.faults.size(), 3u);
  EXPECT_EQ(one.faults[2].section, ".debug_frame");
  EXPECT_EQ(one.left_out.size(), 1u);
}

// A range that continues the last one of the same FDE for the same reason is the same range.
TEST(GenerateFromCfi, RangesLeftOut) {
  Report report;
  report.leave_out(0x100, 0x100, bad_cfi, false);
  report.leave_out(0x100, 0x80, bad_cfi, false);
  EXPECT_TRUE(report.left_out.empty());
  EXPECT_TRUE(report.reasons.empty());
  report.leave_out(0x100, 0x110, bad_cfi, true); // there is no last one
  report.leave_out(0x110, 0x118, bad_cfi, true);
  ASSERT_EQ(report.left_out.size(), 1u);
  EXPECT_EQ(report.left_out[0].start, 0x100u);
  EXPECT_EQ(report.left_out[0].size, 0x18u);
  report.leave_out(0x118, 0x120, bad_cfi, false);    // another FDE
  report.leave_out(0x120, 0x128, not_in_code, true); // another reason
  report.leave_out(0x130, 0x138, not_in_code, true); // not adjacent
  EXPECT_EQ(report.left_out.size(), 4u);
  EXPECT_EQ(report.left_out[1].size, 8u);
  EXPECT_EQ(report.left_out[3].start, 0x130u);
  EXPECT_EQ(report.reasons, (std::map<std::string_view, std::uint64_t>{{"bad-cfi", 2}, {"not-in-code", 2}}));
}

TEST(GenerateFromCfi, FaultsNameTheirSection) {
  Frames eh, debug(SectionKind::debug_frame);
  eh.fde(base, 16);
  debug.fde(base + 16, 16, Bytes().raw({0x44, 0x3f}));
  const Result result = convert(input_of({&eh, &debug}));
  ASSERT_EQ(result.report.faults.size(), 1u);
  EXPECT_EQ(result.report.faults[0].section, ".debug_frame");
  EXPECT_EQ(result.report.faults[0].error.kind, cfi::ErrorKind::unknown_opcode);
}

// One byte of a function is another one's.
TEST(GenerateFromCfi, OneByteIsLost) {
  Frames frames;
  frames.fde(base, 16).fde(base + 15, 4, Bytes().raw({0x0e, 24}));
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 2u);
  EXPECT_EQ(result.functions[0].size, 15u);
  EXPECT_EQ(result.report.overlapping, 1u);
  EXPECT_EQ(result.report.pc_bytes.total, 19u);
}

// push (CFA = SP + 16 after it) and jump, 17 bytes with padding: stubs that begin at multiples of 16 are 272
// bytes apart, more than the 8 bits of the format's block size hold.
TEST(GenerateFromCfi, StubsInBlocksThatAreTooLargeToRepeat) {
  std::vector<std::byte> code;
  for (int i = 0; i < 32; ++i)
    for (const int byte : {0x68, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90})
      code.push_back(static_cast<std::byte>(byte));
  const auto functions = plt_functions(traits(Abi::amd64), code, base);
  ASSERT_EQ(functions.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const PltFunction& function = functions[i];
    EXPECT_EQ(function.fde.start, base + i * 272);
    EXPECT_EQ(function.fde.size, 272u);
    EXPECT_EQ(function.fde.pc_type, PcType::inc);
    ASSERT_EQ(function.rows.size(), 32u);
    EXPECT_EQ(function.rows[0], sp_row(0, 8));
    EXPECT_EQ(function.rows[1], sp_row(5, 16));
    EXPECT_EQ(function.rows[2], sp_row(17, 8));
    EXPECT_EQ(function.rows[31], sp_row(15 * 17 + 5, 16));
  }
}

// Two sections, one with several parts.
TEST(GenerateFromCfi, ProgressAddsUpToOne) {
  Frames many, one;
  for (unsigned i = 0; i < 20'000; ++i) many.fde(base + i * 16, 16);
  one.fde(base + 0x1000000, 16);
  for (const unsigned threads : {1u, 3u}) {
    std::mutex lock;
    double done = 0;
    int calls = 0;
    const auto progress = [&](double share) {
      const std::lock_guard guard(lock);
      done += share;
      ++calls;
    };
    (void)convert(input_of({&many, &one}), {.wanted = {}, .threads = threads, .progress = progress});
    EXPECT_NEAR(done, 1, 1e-9);
    EXPECT_GT(calls, 3);
  }
}

/// PLT entries of 16 bytes: jmp *address; push number; jmp PLT0.
std::vector<std::byte> lazy_stubs(std::size_t count) {
  std::vector<std::byte> code;
  for (std::size_t i = 0; i < count; ++i)
    for (const int byte : {0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0})
      code.push_back(static_cast<std::byte>(byte));
  return code;
}

// A long function reaches over the stubs, and a short one starts in front of them: the stubs have CFI.
TEST(GenerateFromCfi, StubsInsideALongFunction) {
  const auto code = lazy_stubs(4);
  Frames frames;
  frames.fde(base - 0x100, 0x1000).fde(base - 0x10, 8);
  CfiInput input = input_of({&frames});
  input.plts = {{{base, code.size()}, code}};
  const Result result = convert(input);
  EXPECT_EQ(result.report.plt_bytes, 0u);
  EXPECT_EQ(result.report.refuted_plt_bytes, 0u);
  ASSERT_EQ(result.functions.size(), 3u); // before, inside and after the short one
  for (std::size_t i = 0; i + 1 < result.functions.size(); ++i)
    EXPECT_EQ(result.functions[i].start + result.functions[i].size, result.functions[i + 1].start);
  EXPECT_EQ(result.functions[2].start + result.functions[2].size, base + 0xf00);
}

// A damaged file has two sections of stubs at the same addresses.
TEST(GenerateFromCfi, StubsThatOverlap) {
  const auto code = lazy_stubs(4);
  Frames frames;
  frames.fde(base + 0x1000, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{base + 0x20, 0x20}, std::span(code).first(0x20)}, {{base, code.size()}, code}};
  const Result result = convert(input);
  EXPECT_EQ(result.report.plt_bytes, 0x40u);
  EXPECT_EQ(result.report.contradiction(), nullptr);
  std::uint64_t end = 0;
  for (const Function& function : result.functions) {
    EXPECT_GE(function.start, end);
    end = function.start + function.size;
  }
}

// The first section's CFI of the stubs counts, even if that of the second one is wrong.
TEST(GenerateFromCfi, StubsWithWrongCfiInTheSecondSection) {
  const auto code = lazy_stubs(4);
  Frames right, wrong;
  right.fde(base, 0x40, Bytes().raw({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}));
  wrong.fde(base, 0x40, Bytes().raw({0x0e, 64}));
  for (const bool wrong_first : {false, true}) {
    CfiInput input = wrong_first ? input_of({&wrong, &right}) : input_of({&right, &wrong});
    input.plts = {{{base, code.size()}, code}};
    const Result result = convert(input);
    EXPECT_EQ(result.report.refuted_plt_bytes, wrong_first ? 0x40u : 0u);
    ASSERT_EQ(result.functions.size(), 1u);
    EXPECT_EQ(result.functions[0].start, base);
    EXPECT_EQ(result.functions[0].rows, (std::vector<FrameRow>{sp_row(0, 8), sp_row(11, 16)}));
  }
}

/// CFA = SP + 8 + 8 in the last five bytes of each block of 16: what lazy_stubs() do.
Bytes right_rows() {
  return Bytes().raw({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22});
}

// Each address has the CFI of the FDE that starts last: what an outer one has for the others' addresses is
// not used, right or wrong.
TEST(GenerateFromCfi, StubsWithSeveralFdes) {
  const auto code = lazy_stubs(4);
  const auto refuted = [&](const Frames& frames) {
    CfiInput input = input_of({&frames});
    input.plts = {{{base, code.size()}, code}};
    const Result result = convert(input);
    EXPECT_EQ(result.report.contradiction(), nullptr);
    EXPECT_EQ(result.report.pc_bytes.covered, 0x40u);
    return result.report.refuted_plt_bytes;
  };
  const Bytes wrong = Bytes().raw({0x0e, 64});
  Bytes wrong_end = right_rows();
  wrong_end.raw({0x40 + 0x20, 0x0c, 7, 64}); // from 0x20 on: CFA = SP + 64
  EXPECT_EQ(refuted(Frames().fde(base, 0x40, wrong_end)), 0x40u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x40, wrong_end).fde(base + 0x20, 0x20, right_rows())), 0u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x40, right_rows()).fde(base + 0x20, 0x20, wrong)), 0x40u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x20, right_rows()).fde(base + 0x20, 0x20, wrong)), 0x40u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x20, wrong).fde(base + 0x20, 0x20, right_rows())), 0x40u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x20, right_rows()).fde(base + 0x20, 0x20, right_rows())), 0u);
  // The only wrong bytes are the last block's, or one byte of it.
  EXPECT_EQ(refuted(Frames()
                        .fde(base, 0x10, right_rows())
                        .fde(base + 0x10, 0x20, right_rows())
                        .fde(base + 0x30, 0x10, wrong)),
            0x40u);
  EXPECT_EQ(refuted(Frames().fde(base, 0x3f, right_rows()).fde(base + 0x3f, 1, wrong)), 0x40u);
}

// A function that ends where the stubs begin is none of theirs.
TEST(GenerateFromCfi, StubsAfterAFunction) {
  const auto code = lazy_stubs(4);
  const auto converted = [&](const Frames& frames) {
    CfiInput input = input_of({&frames});
    input.plts = {{{base, code.size()}, code}};
    return convert(input).report;
  };
  EXPECT_EQ(converted(Frames().fde(base - 0x10, 0x10)).plt_bytes, 0x40u);
  EXPECT_EQ(converted(Frames().fde(base - 0x10, 0x11)).plt_bytes, 0u);
  EXPECT_EQ(converted(Frames().fde(base - 0x10, 0x10).fde(base + 8, 0)).plt_bytes, 0x40u);
  EXPECT_EQ(converted(Frames().fde(base + 0x40, 0x10)).plt_bytes, 0x40u);
  EXPECT_EQ(
      converted(Frames().fde(base - 0x10, 0x10).fde(base, 0x40, Bytes().raw({0x0e, 64}))).refuted_plt_bytes,
      0x40u);
  EXPECT_EQ(converted(Frames().fde(base - 0x10, 0x11).fde(base + 1, 0x3f, Bytes().raw({0x0e, 64})))
                .refuted_plt_bytes,
            0u);
  EXPECT_EQ(converted(Frames().fde(base, 1)).plt_bytes, 0u) << "one byte of the stubs has CFI";
}

// Objects and raw images begin at 0.
TEST(GenerateFromCfi, StubsAtAddressZero) {
  const auto code = lazy_stubs(2);
  Frames frames;
  frames.fde(0x1000, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{0, code.size()}, code}};
  EXPECT_EQ(convert(input).report.plt_bytes, 0x20u);
}

// Options::wanted selects FDEs: stubs without one are not among them.
TEST(GenerateFromCfi, StubsAreNotAskedFor) {
  const auto code = lazy_stubs(2);
  Frames frames;
  frames.fde(base + 0x1000, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{base, code.size()}, code}};
  const Result result = convert(input, {.wanted = [](const cfi::Fde&) { return true; }});
  EXPECT_EQ(result.report.plt_bytes, 0u);
  EXPECT_EQ(result.functions.size(), 1u);
  // Nor is an FDE of theirs that was not asked for, right or wrong.
  frames.fde(base, 0x20, Bytes().raw({0x0e, 64}));
  input.sections = {frames.a.section()};
  const Result others = convert(input, {.wanted = [](const cfi::Fde& fde) { return fde.start != base; }});
  EXPECT_EQ(others.report.refuted_plt_bytes, 0u);
  EXPECT_EQ(others.report.functions.total, 1u);
  EXPECT_EQ(others.functions.size(), 1u);
}

TEST(GenerateFromCfi, InputOfAnObject) {
  const auto file = test::read_file(test::inputs() / "amd64/v3-gas247.o");
  const auto layout = elf::ObjectLayout::make(*elf::Image::parse(file));
  ASSERT_TRUE(layout) << layout.error().text();
  const auto input = CfiInput::from_image(layout->image());
  ASSERT_TRUE(input) << input.error().text();
  ASSERT_EQ(input->sections.size(), 1u);
  // Relocated bytes are the input's own.
  const std::byte* bytes = input->sections[0].bytes().data();
  EXPECT_TRUE(std::ranges::any_of(
      input->storage, [&](const elf::Contents& contents) { return contents.bytes().data() == bytes; }));
  EXPECT_GT(convert(*input).functions.size(), 0u);
}

// What from_image() finds in a file; a section that the file does not have whole is an error.
TEST(GenerateFromCfi, InputOfAnImage) {
  Frames frames;
  frames.fde(base, 16);
  test::TestElf elf;
  elf.type = elf::et_exec;
  elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, base, std::vector<std::byte>(32), 0});
  const std::uint64_t code = elf::shf_alloc | elf::shf_execinstr;
  elf.sections.push_back({".text", elf::sht_progbits, code, base, std::vector<std::byte>(16), 0, 0, 0});
  elf.sections.push_back({".plt", elf::sht_progbits, code, base + 16, std::vector<std::byte>(16), 0, 0, 0});
  elf.sections.push_back(
      {".eh_frame", elf::sht_progbits, elf::shf_alloc, base + 0x100, frames.a.bytes().get(), 0, 0, 0});
  std::vector<std::byte> file = elf.build();
  const elf::Image image = *elf::Image::parse(file);
  const auto input = CfiInput::from_image(image);
  ASSERT_TRUE(input) << input.error().text();
  EXPECT_EQ(input->image, &image);
  EXPECT_EQ(input->abi, &traits(Abi::amd64));
  EXPECT_EQ(input->sections.size(), 1u);
  ASSERT_EQ(input->code.size(), 2u);
  EXPECT_EQ(input->code[0].start, base);
  EXPECT_EQ(input->code[0].size, 16u);
  ASSERT_EQ(input->plts.size(), 1u);
  EXPECT_EQ(input->plts[0].range.start, base + 16);
  EXPECT_EQ(input->plts[0].range.size, 16u);
  EXPECT_EQ(input->plts[0].bytes.size(), 16u);
  EXPECT_EQ(convert(*input).functions.size(), 1u);

  // .eh_frame, number 3 of 5 headers at the end of the file: sh_size + 64 KiB.
  file[file.size() - 64 * 5 + 64 * 3 + 32 + 2] = std::byte(1);
  const elf::Image damaged = *elf::Image::parse(file);
  const auto nothing = CfiInput::from_image(damaged);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().section, ".eh_frame");

  elf.machine = 243; // RISC-V
  file = elf.build();
  const elf::Image other = *elf::Image::parse(file);
  const auto unknown = CfiInput::from_image(other);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().text().find("243"), std::string::npos);
}

// The same push and jump in blocks of 32 bytes: version 1 has no block size but the ABI's, 16 bytes.
TEST(GenerateFromCfi, StubsWithoutCfiThatTheVersionCannotRepresent) {
  std::vector<std::byte> code(3 * 32, std::byte(0x90));
  for (std::size_t stub = 0; stub < code.size(); stub += 32)
    for (std::size_t i = 0; const int byte : {0x68, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0})
      code[stub + i++] = static_cast<std::byte>(byte);
  Frames frames;
  frames.fde(base + 0x1000, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{base, code.size()}, code}};
  for (const VersionNumber version : {VersionNumber::v2, VersionNumber::v3}) {
    const Result result = convert(input, {.version = version, .wanted = {}});
    EXPECT_TRUE(result.report.complete());
    EXPECT_EQ(result.report.plt_bytes, code.size());
  }
  const Result result = convert(input, {.version = VersionNumber::v1, .wanted = {}});
  EXPECT_EQ(result.report.functions.total, 2u);
  EXPECT_EQ(result.report.functions.skipped, 1u);
  EXPECT_EQ(result.report.pc_bytes.total - result.report.pc_bytes.covered, code.size());
  ASSERT_EQ(result.report.left_out.size(), 1u);
  EXPECT_EQ(result.report.left_out[0].start, base);
  EXPECT_EQ(result.report.left_out[0].size, code.size());
  EXPECT_STREQ(result.report.left_out[0].reason.name, "rep-size");
  EXPECT_EQ(result.report.contradiction(), nullptr);
}

// Two kinds of stubs, one after the other: each is reported, though the reason is the same.
TEST(GenerateFromCfi, AdjacentStubsThatAreLeftOut) {
  std::vector<std::byte> code(4 * 32, std::byte(0x90));
  const auto put = [&](std::size_t at, std::initializer_list<int> bytes) {
    for (const int byte : bytes) code[at++] = static_cast<std::byte>(byte);
  };
  for (const std::size_t at : {0, 32}) put(at, {0x68, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0}); // push $0; jmp *
  for (const std::size_t at : {64, 96}) put(at, {0x6a, 0, 0xff, 0x25, 0, 0, 0, 0}); // the same, shorter
  Frames frames;
  frames.fde(base + 0x1000, 16);
  CfiInput input = input_of({&frames});
  input.plts = {{{base, code.size()}, code}};
  const Result result = convert(input, {.version = VersionNumber::v1, .wanted = {}});
  EXPECT_EQ(result.report.reasons, (std::map<std::string_view, std::uint64_t>{{"rep-size", 2}}));
  ASSERT_EQ(result.report.left_out.size(), 2u);
  EXPECT_EQ(result.report.left_out[0].size, 64u);
  EXPECT_EQ(result.report.left_out[1].start, base + 64);
  EXPECT_EQ(result.report.left_out[1].size, 64u);
}

TEST(GenerateFromCfi, RangesBeyondTheFormat) {
  Frames frames;
  frames.fde(base, std::uint64_t{1} << 40);
  const Result result = convert(frames);
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].size, 0xffffffffu);
  ASSERT_EQ(result.report.left_out.size(), 1u);
  EXPECT_EQ(result.report.left_out[0].start, base + 0xffffffff);
  EXPECT_EQ(result.report.pc_bytes.total, std::uint64_t{1} << 40);
  EXPECT_STREQ(result.report.left_out[0].reason.name, "offset-range");
}

} // namespace generate_from_cfi_test
} // namespace sframe::generate
