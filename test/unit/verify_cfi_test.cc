// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .eh_frame and .debug_frame of the same function, assembled by hand (DWARF 5, section 6.4; System V ABI for
// AMD64, "The .eh_frame section"): what is reported where they differ, for rows and for the expressions that
// linkers write for PLTs.

#include "cfi_assembler.h"
#include "elf_builder.h"
#include "inputs.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/against_cfi.h>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sframe::test {
namespace verify_cfi_test {

using namespace verify;

constexpr std::uint64_t text_at = 0x1000, frames_at = 0x2000, sframe_at = 0x3000;
constexpr std::uint32_t text_size = 0x40;

struct Findings final : Sink {
  void add(Finding finding) override { all.push_back(std::move(finding)); }
  std::vector<Finding> all;
};

using Instructions = std::vector<int>;

/// A section with one function, whose first rule is that of every AMD64 function: CFA is SP+8, RA at CFA-8.
Bytes frames(cfi::SectionKind kind, const Instructions& instructions, std::uint32_t size = text_size) {
  CfiAssembler cfi(kind);
  const bool is_eh = kind == cfi::SectionKind::eh_frame;
  Bytes common = cfi.body();
  common.u8(is_eh ? 1 : 3).text(is_eh ? "zR" : "").uleb(1).sleb(-8).uleb(16);
  if (is_eh) common.uleb(1).u8(cfi::pe_absptr);
  const std::size_t cie = cfi.cie(common.raw({0x0c, 7, 8, 0x90, 1}));
  Bytes function = cfi.body();
  function.u64(text_at).u64(size);
  if (is_eh) function.uleb(0);
  for (const int byte : instructions) function.u8(static_cast<std::uint64_t>(byte));
  cfi.fde(cie, function);
  if (is_eh) cfi.terminator();
  return cfi.bytes();
}

/// A library with this code, .eh_frame and .sframe.
TestElf library_of(const std::vector<std::byte>& text, const Bytes& eh_frame,
                   const std::vector<std::byte>& section) {
  TestElf file;
  file.type = elf::et_dyn;
  file.sections = {{".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
                   {".eh_frame", elf::sht_progbits, elf::shf_alloc, frames_at, eh_frame.get()},
                   {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, section}};
  file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, text_at, text}};
  return file;
}

/// What is found in such a library, in the order of the findings. `code`: its instructions are asked.
std::vector<Finding> findings_of(const TestElf& file, bool code = false) {
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  Verdicts verdicts(*input);
  Findings found;
  check_against_cfi(*input, verdicts, found, {}, code);
  return std::move(found.all);
}

/// A library whose .sframe has a function of this size.
TestElf library_with(std::uint32_t sframe_size, std::uint32_t cfi_size) {
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(
      builder.add({.start = text_at, .size = sframe_size}, std::vector{traits(Abi::amd64).entry_row()}));
  const std::vector<std::byte> text(text_size, std::byte{0x90});
  return library_of(text, frames(cfi::SectionKind::eh_frame, {}, cfi_size),
                    builder.finish(sframe_at).value());
}

// Those without bytes are none, and CFI describes code of the file only.
TEST(VerifyCfi, FunctionsOfTheInput) {
  for (const std::uint32_t size : {0u, 1u, text_size}) {
    TestElf file = library_with(size, size);
    for (const bool has_code : {true, false}) {
      if (!has_code) file.sections[0].address = file.segments[0].address = 0x8000;
      const auto bytes = file.build();
      const auto image = elf::Image::parse(bytes);
      const auto input = Input::load({.image = &image.value()});
      ASSERT_TRUE(input);
      EXPECT_EQ(input->num_functions(), 1u);
      EXPECT_EQ(input->functions().size(), size ? 1u : 0u);
      EXPECT_EQ(input->pieces().size(), size ? 1u : 0u);
      ASSERT_EQ(input->eh_frame().size(), size && has_code ? 1u : 0u);
      EXPECT_TRUE(input->debug_frame().empty());
      EXPECT_EQ(input->all_cfi().data(),
                input->eh_frame().empty() ? input->debug_frame().data() : input->eh_frame().data());
      if (!size) continue;
      EXPECT_EQ(input->functions()[0].begin, text_at);
      EXPECT_EQ(input->functions()[0].end, text_at + size);
      if (!has_code) continue;
      EXPECT_EQ(input->eh_frame()[0].begin, text_at);
      EXPECT_EQ(input->eh_frame()[0].end, text_at + size);
    }
  }
}

// Addresses of a linked file are any; those of an object's sections are kept apart.
TEST(VerifyCfi, LocationsOfAddresses) {
  const auto bytes = library_with(text_size, text_size).build();
  const auto image = elf::Image::parse(bytes).value();
  const auto linked = Input::load({.image = &image});
  const Location high = linked->locate(std::uint64_t{1} << 50 | 5);
  EXPECT_EQ(high.section, 0u);
  EXPECT_EQ(high.pc, std::uint64_t{1} << 50 | 5);

  TestElf object = library_with(text_size, text_size);
  object.type = elf::et_rel;
  object.segments.clear();
  object.sections[0].address = object.sections[1].address = object.sections[2].address = 0;
  for (int i = 0; i < 300; ++i)
    object.sections.push_back(
        {".text.f", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0, std::vector<std::byte>(16)});
  const auto object_bytes = object.build();
  const auto relocatable = elf::Image::parse(object_bytes).value();
  const auto input = Input::load({.image = &relocatable, .cfi = false});
  ASSERT_TRUE(input) << input.error().text();
  const auto ranges = input->code().ranges();
  ASSERT_EQ(ranges.size(), 301u);
  EXPECT_EQ(input->locate(ranges[300].start + 7).section, 303u);
  EXPECT_EQ(input->locate(ranges[300].start + 7).pc, 7u);
}

// Some of many tables are enough, where the budget does not suffice for all.
TEST(VerifyCfi, TablesThatCostTooMuch) {
  TestElf file = library_with(text_size, text_size);
  const auto section = file.sections[2];
  file.sections.push_back(section);
  const auto bytes = file.build();
  for (const std::uint64_t tables : {0, 1, 2}) {
    Budget budget(Limits::standard, bytes.size());
    const auto image = elf::Image::parse(bytes, &budget).value();
    const std::uint64_t left = section.bytes.size() * tables;
    EXPECT_TRUE(budget.take(Resource::section_bytes, budget.left(Resource::section_bytes) - left));
    const auto input = Input::load({.image = &image, .cfi = false});
    ASSERT_EQ(input.has_value(), tables != 0);
    EXPECT_EQ(input ? input->tables().size() : 0, tables);
  }
}

// The file that cannot be read is named, if it is one of them.
TEST(VerifyCfi, FilesThatCannotBeVerified) {
  const auto library = library_with(text_size, text_size);
  const auto bytes = library.build();
  const auto image = elf::Image::parse(bytes).value();
  TestElf without = library;
  without.sections.pop_back();
  const auto without_bytes = without.build();
  const auto no_section = elf::Image::parse(without_bytes).value();
  TestElf damaged = without;
  damaged.sections.push_back(
      {".debug_frame", elf::sht_progbits, elf::shf_compressed, 0, std::vector<std::byte>(3)});
  const auto damaged_bytes = damaged.build();
  const auto compressed = elf::Image::parse(damaged_bytes).value();
  TestElf object = without;
  object.type = elf::et_rel;
  const auto object_bytes = object.build();
  const auto relocatable = elf::Image::parse(object_bytes).value();

  const auto problem = [](const Input::Sources& sources) {
    const auto input = Input::load(sources);
    return input ? std::pair<std::string, const elf::Image*>()
                 : std::pair(input.error().what, input.error().image);
  };
  using Problem = std::pair<std::string, const elf::Image*>;
  EXPECT_EQ(problem({.image = &image}), Problem());
  EXPECT_EQ(problem({.image = &no_section}), Problem("no section .sframe", &no_section));
  EXPECT_EQ(problem({.image = &image, .sframe_image = &no_section}),
            Problem("no section .sframe", &no_section));
  EXPECT_EQ(problem({.image = &no_section, .sframe_image = &image}), Problem());
  EXPECT_EQ(problem({.image = &image, .debug_image = &no_section}), Problem());
  EXPECT_EQ(problem({.image = &image, .debug_image = &compressed}).second, &compressed);
  EXPECT_EQ(problem({.image = &image, .debug_image = &compressed, .cfi = false}), Problem());
  EXPECT_EQ(
      problem({.image = &relocatable, .use_raw = true}),
      Problem("a raw section cannot be compared with a relocatable object, whose sections have no addresses",
              nullptr));
}

/// The findings of C112 for a function with these instructions in the two sections: "0x1010-0x1040: message".
std::vector<std::string> disagreements(const Instructions& eh, const Instructions& debug) {
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(
      builder.add({.start = text_at, .size = text_size}, std::vector{traits(Abi::amd64).entry_row()}));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  const std::vector<std::byte> text(text_size, std::byte{0x90});
  TestElf file = library_of(text, frames(cfi::SectionKind::eh_frame, eh), *section);
  file.sections.push_back(
      {".debug_frame", elf::sht_progbits, 0, 0, frames(cfi::SectionKind::debug_frame, debug).get()});
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  EXPECT_EQ(input->cfi().size(), 2u);
  Verdicts verdicts(*input);
  Findings found;
  EXPECT_EQ(check_against_cfi(*input, verdicts, found), text_size);
  std::vector<std::string> all;
  for (const Finding& finding : found.all) {
    if (finding.id != Id::C112) continue;
    EXPECT_EQ(finding.table, ".debug_frame");
    all.push_back(sframe::hex(finding.at->pc) + '-' + sframe::hex(finding.end) + ": " + finding.message);
  }
  return all;
}

using Texts = std::vector<std::string>;

constexpr int advance_16 = 0x40 | 16;

/// DW_CFA_def_cfa_offset.
Instructions at_16(int cfa_offset) {
  return {advance_16, 0x0e, cfa_offset};
}

TEST(VerifyCfi, RowsOfTheTwoSections) {
  EXPECT_EQ(disagreements({}, {}), Texts{});
  EXPECT_EQ(disagreements(at_16(24), at_16(24)), Texts{});
  EXPECT_EQ(disagreements(at_16(24), at_16(32)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+32 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements(at_16(24), {}),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+8 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements({}, at_16(24)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
  // 16 bytes longer.
  EXPECT_EQ(disagreements({advance_16, 0x0e, 24, advance_16, 0x0e, 8},
                          {advance_16, 0x0e, 24, advance_16, advance_16, 0x0e, 8}),
            Texts{"0x1020-0x1030: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
}

/// DW_CFA_def_cfa_expression as GNU ld writes it for a PLT: SP + 8, and 8 more from byte `threshold` of each
/// 16 on. breg7 8, breg16 0, lit15, and, lit<threshold>, ge, lit3, shl, plus.
Instructions plt(int threshold) {
  return {advance_16, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + threshold, 0x2a, 0x33, 0x24, 0x22};
}

/// C115: the second and the third FDE have two functions each.
TEST(VerifyCfi, FdesOfSeveralFunctions) {
  CfiAssembler cfi(cfi::SectionKind::eh_frame);
  Bytes common = cfi.body();
  common.u8(1).text("zR").uleb(1).sleb(-8).uleb(16).uleb(1).u8(cfi::pe_absptr);
  const std::size_t cie = cfi.cie(common.raw({0x0c, 7, 8, 0x90, 1}));
  for (const auto& [start, size] : {std::pair{0, 16}, {16, 8}, {24, 8}, {32, 8}, {40, 8}})
    cfi.fde(cie, Bytes(cfi.body()).u64(text_at + start).u64(size).uleb(0));
  cfi.terminator();
  Builder builder({.abi = Abi::amd64});
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(
        builder.add({.start = text_at + i * 16u, .size = 16}, std::vector{traits(Abi::amd64).entry_row()}));
  const auto section = builder.finish(sframe_at);
  ASSERT_TRUE(section);
  const std::vector<std::byte> text(text_size, std::byte{0x90});
  std::vector<std::string> messages;
  for (const Finding& finding : findings_of(library_of(text, cfi.bytes(), *section)))
    if (finding.id == Id::C115) messages.push_back(finding.message);
  EXPECT_EQ(messages, std::vector<std::string>{"2 FDEs have several functions; the first is FDE 1"});
}

/// A function of SFrame against FDEs inside of it, with instructions that do nothing.
struct NestedFdes {
  NestedFdes(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& fdes, std::size_t first_nops = 0,
             std::size_t other_nops = 0) {
    CfiAssembler cfi(cfi::SectionKind::eh_frame);
    Bytes common = cfi.body();
    common.u8(1).text("zR").uleb(1).sleb(-8).uleb(16).uleb(1).u8(cfi::pe_absptr);
    const std::size_t cie = cfi.cie(common.raw({0x0c, 7, 8, 0x90, 1}));
    for (const auto& [start, size] : fdes) {
      Bytes fde = cfi.body();
      fde.u64(text_at + start).u64(size).uleb(0);
      if (size >= 0x10) fde.raw({0x41, 0x0e, 16, 0x41, 0x0e, 8}); // a second row and a third one
      for (std::size_t i = 0; i < (start == 0 ? first_nops : other_nops); ++i) fde.u8(0);
      cfi.fde(cie, fde);
    }
    cfi.terminator();
    section_bytes = cfi.bytes().size();
    Builder builder({.abi = Abi::amd64});
    EXPECT_TRUE(
        builder.add({.start = text_at, .size = text_size}, std::vector{traits(Abi::amd64).entry_row()}));
    const std::vector<std::byte> text(text_size, std::byte{0x90});
    bytes = library_of(text, cfi.bytes(), builder.finish(sframe_at).value()).build();
  }

  /// The number of bytes that are compared. `left`: of the budget for instructions, in executions of the
  /// first FDE, and so many more.
  std::uint64_t compared(std::optional<std::uint64_t> left = {}, std::uint64_t more = 0) {
    Budget budget(Limits::standard, 0);
    const auto image = elf::Image::parse(bytes).value();
    const auto input = Input::load({.image = &image, .budget = left ? &budget : nullptr});
    EXPECT_TRUE(input);
    const auto fde = input->cfi()[0].section.fde(input->eh_frame()[0].item).value();
    instructions = fde.instructions.size() + fde.cie.instructions.size();
    if (left)
      budget.take(Resource::cfi_instructions,
                  budget.left(Resource::cfi_instructions) - *left * (1 + instructions) - more);
    Verdicts verdicts(*input);
    Findings found;
    return check_against_cfi(*input, verdicts, found);
  }

  std::uint64_t section_bytes = 0, instructions = 0;
  std::vector<std::byte> bytes;
};

// One for the FDE and one for each byte of its instructions and its CIE's.
TEST(VerifyCfi, ExecutionCosts) {
  NestedFdes file({{0, 0x10}, {0x10, 0x30}}, 20, 20);
  EXPECT_EQ(file.compared(), 0x40u);
  EXPECT_EQ(file.compared(2), 0x40u);
  EXPECT_EQ(file.compared(1, file.instructions), 0x10u);
  EXPECT_EQ(file.compared(1), 0x10u);
  EXPECT_EQ(file.compared(0, file.instructions), 0u);
}

// The rows of an FDE go on after another one inside of it, unless that costs far more than the section's
// size.
TEST(VerifyCfi, FdesInsideOfAnother) {
  EXPECT_EQ(NestedFdes({{0, 0x40}, {0x10, 0x10}}).compared(), 0x40u);
  EXPECT_EQ(NestedFdes({{0, 0x40}, {0x10, 0x10}}).compared(1), 0x10u) << "the one inside is not executed";
  std::vector<std::pair<std::uint64_t, std::uint64_t>> fdes = {{0, 0x15}};
  for (std::uint64_t i = 0; i < 10; ++i) fdes.emplace_back(2 * i + 1, 1);
  EXPECT_EQ(NestedFdes(fdes, 1000).compared(), 0x15u);
  NestedFdes costly(fdes, 30000);
  const std::uint64_t found = costly.compared();
  const std::uint64_t times = (65536 + 2 * costly.section_bytes) / (64 + 1 + costly.instructions);
  EXPECT_EQ(times, 4u);
  EXPECT_EQ(found, 1 + times + 10);
}

// An instruction that does not exist, in each section, is reported once for each.
TEST(VerifyCfi, DamagedInBothSections) {
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(
      builder.add({.start = text_at, .size = text_size}, std::vector{traits(Abi::amd64).entry_row()}));
  const std::vector<std::byte> text(text_size, std::byte{0x90});
  TestElf file =
      library_of(text, frames(cfi::SectionKind::eh_frame, {0x3e}), builder.finish(sframe_at).value());
  file.sections.push_back(
      {".debug_frame", elf::sht_progbits, 0, 0, frames(cfi::SectionKind::debug_frame, {0x3e}).get()});
  std::vector<std::string> tables;
  for (const Finding& finding : findings_of(file))
    if (finding.id == Id::C111) tables.push_back(finding.table);
  EXPECT_EQ(tables, (std::vector<std::string>{".eh_frame", ".debug_frame"}));
}

TEST(VerifyCfi, PltsOfTheTwoSections) {
  EXPECT_EQ(disagreements(plt(11), plt(11)), Texts{});
  const auto other = disagreements(plt(11), plt(10));
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].find("0x1010-0x1040: .debug_frame has "), 0u) << other[0];
  EXPECT_EQ(disagreements(plt(11), at_16(24)),
            Texts{"0x1010-0x1040: .debug_frame has cfa=sp+24 ra=[cfa-8] fp=same"});
  EXPECT_EQ(disagreements(at_16(24), plt(11)).size(), 1u);
}

// Rules that no row has may be the same: these have a CFA that is the sum of two registers.
TEST(VerifyCfi, ExpressionsOfTheTwoSections) {
  const auto expression = [](int offset) { // DW_CFA_def_cfa_expression: breg7 8, breg6 offset, plus
    return Instructions{advance_16, 0x0f, 5, 0x77, 8, 0x76, offset, 0x22};
  };
  EXPECT_EQ(disagreements(expression(8), expression(8)), Texts{});
  EXPECT_EQ(disagreements(expression(8), expression(16)), Texts{});
  EXPECT_EQ(disagreements(expression(8), at_16(24)), Texts{});
  EXPECT_EQ(disagreements(at_16(24), expression(8)), Texts{});
}

/// A rule of CFA and FP: those are what differs here.
struct SomeRules {
  std::uint8_t base = 7; ///< of the CFA: RSP, or RBP (6)
  std::uint8_t offset = 8;
  std::uint8_t fp = 0; ///< words below the CFA, 0: not saved
  bool operator==(const SomeRules&) const = default;
};

/// The rules of each address of a function.
using RulesByAddress = std::vector<SomeRules>;

RulesByAddress random_rules(std::mt19937_64& random, std::size_t size) {
  RulesByAddress all(size);
  SomeRules now;
  for (std::size_t at = 0; at < size; ++at) {
    if (at != 0 && random() % 8 == 0)
      now = {static_cast<std::uint8_t>(6 + random() % 2), static_cast<std::uint8_t>(8 + 8 * (random() % 3)),
             static_cast<std::uint8_t>(random() % 2 ? 2 : 0)};
    all[at] = now;
  }
  return all;
}

/// Changes the rules of some addresses, once in a while.
RulesByAddress changed_rules(std::mt19937_64& random, RulesByAddress all) {
  for (unsigned changes = random() % 4; changes != 0; --changes) {
    const std::size_t begin = random() % all.size(), end = begin + 1 + random() % (all.size() - begin);
    const auto what = random() % 3;
    for (std::size_t at = begin; at < end; ++at) {
      if (what == 0) all[at].base = 13 - all[at].base;
      if (what == 1) all[at].offset += 8;
      if (what == 2) all[at].fp = 2 - all[at].fp;
    }
  }
  return all;
}

/// DW_CFA_advance_loc1, def_cfa, offset or same_value at each change.
Bytes instructions_of(const RulesByAddress& rules) {
  Bytes bytes;
  std::size_t last = 0;
  SomeRules now;
  for (std::size_t at = 0; at < rules.size(); ++at) {
    if (rules[at] == now) continue;
    now = rules[at];
    bytes.u8(2).u8(at - last).u8(0x0c).u8(now.base).u8(now.offset);
    if (now.fp)
      bytes.u8(0x86).u8(now.fp);
    else
      bytes.u8(8).u8(6);
    last = at;
  }
  return bytes;
}

std::vector<FrameRow> rows_of(const RulesByAddress& rules) {
  std::vector<FrameRow> rows;
  for (std::size_t at = 0; at < rules.size(); ++at) {
    if (at != 0 && rules[at] == rules[at - 1]) continue;
    FrameRow& row = rows.emplace_back(traits(Abi::amd64).entry_row());
    row.offset = static_cast<std::uint32_t>(at);
    row.cfa = Rule::value(rules[at].base, rules[at].offset);
    row.fp = rules[at].fp ? Rule::at_cfa(-8 * rules[at].fp) : Rule::same();
  }
  return rows;
}

/// Findings and where they are: one entry for each address.
using Places = std::map<std::string, std::set<std::uint64_t>>;

// Functions one after another, each with rows, with CFI, or with both, which differ here and there: the
// findings cover the addresses that differ, and no others; a function is right if none of its addresses
// differs.
TEST(VerifyCfi, RandomRows) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    Builder builder({.abi = Abi::amd64});
    CfiAssembler cfi(cfi::SectionKind::eh_frame);
    const std::size_t cie = cfi.cie(cfi.body()
                                        .u8(1)
                                        .text("zR")
                                        .uleb(1)
                                        .sleb(-8)
                                        .uleb(16)
                                        .uleb(1)
                                        .u8(cfi::pe_absptr)
                                        .raw({0x0c, 7, 8, 0x90, 1}));
    Places expected;
    std::uint64_t compared = 0, agree = 0, contradiction = 0, undecided = 0, at = text_at;
    for (std::size_t number = 1 + random() % 6; number != 0; --number) {
      const std::size_t size = 1 + random() % 100;
      const RulesByAddress ours = random_rules(random, size), theirs = changed_rules(random, ours);
      const bool has_rows = random() % 5 != 0, has_frames = random() % 5 != 0 || number == 1;
      if (has_rows) {
        EXPECT_TRUE(builder.add({.start = at, .size = static_cast<std::uint32_t>(size)}, rows_of(ours)));
      }
      if (has_frames) {
        Bytes function = cfi.body();
        function.u64(at).u64(size).uleb(0);
        cfi.fde(cie, function.append(instructions_of(theirs)));
      }
      bool is_equal = true;
      for (std::size_t i = 0; i < size; ++i) {
        const SomeRules &a = ours[i], &b = theirs[i];
        if (has_rows && has_frames) {
          ++compared;
          is_equal &= a == b;
          if (a.base != b.base)
            expected["C101"].insert(at + i);
          else if (a.offset != b.offset)
            expected["C102"].insert(at + i);
          if (a.fp != b.fp) expected["C104"].insert(at + i);
        } else if (has_frames) {
          expected["C107"].insert(at + i);
        } else if (has_rows) {
          expected["C109"].insert(at + i);
        }
      }
      if (has_rows && has_frames) ++(is_equal ? agree : contradiction);
      undecided += has_rows && !has_frames; // there is nothing to compare with
      at += size;
    }
    cfi.terminator();
    const auto section = builder.finish(sframe_at);
    ASSERT_TRUE(section);
    const std::vector<std::byte> text(at - text_at, std::byte{0x50}); // push %rax: no padding
    const TestElf file = library_of(text, cfi.bytes(), *section);
    const auto bytes = file.build();
    const auto image = elf::Image::parse(bytes);
    ASSERT_TRUE(image);
    const auto input = Input::load({.image = &*image});
    ASSERT_TRUE(input);
    Verdicts verdicts(*input);
    Findings found;
    EXPECT_EQ(check_against_cfi(*input, verdicts, found), compared);
    Places places;
    for (const Finding& finding : found.all) {
      auto& of_id = places[std::string(verify::check(finding.id).name)];
      ASSERT_TRUE(finding.at);
      ASSERT_LT(finding.at->pc, finding.end);
      ASSERT_LE(finding.end, at);
      for (std::uint64_t pc = finding.at->pc; pc < finding.end; ++pc)
        EXPECT_TRUE(of_id.insert(pc).second) << "reported twice";
    }
    EXPECT_EQ(places, expected) << round;
    const Summary summary = verdicts.summary();
    EXPECT_EQ(summary.agree, agree) << round;
    EXPECT_EQ(summary.contradiction, contradiction) << round;
    EXPECT_EQ(summary.undecided, undecided) << round;
  }
}

/// The findings of a function with these rows and CFI, in the order of addresses: "C102 0x1010-0x1040".
/// `code`: its instructions, which are asked.
std::vector<std::string> differences(const std::vector<FrameRow>& rows, const Instructions& instructions,
                                     const std::string& code = "") {
  std::vector<std::byte> text = code.empty() ? std::vector<std::byte>(text_size, std::byte{0x50}) : hex(code);
  const auto size = static_cast<std::uint32_t>(text.size());
  Builder builder({.abi = Abi::amd64});
  EXPECT_TRUE(builder.add({.start = text_at, .size = size}, rows));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  const TestElf file = library_of(text, frames(cfi::SectionKind::eh_frame, instructions, size), *section);
  std::vector<std::string> all;
  for (const Finding& finding : findings_of(file, !code.empty())) {
    std::string text_of = std::string(verify::check(finding.id).name) + ' ' + sframe::hex(finding.at->pc) +
                          '-' + sframe::hex(finding.end);
    if (finding.id == Id::C116) text_of += ": " + finding.message;
    all.push_back(std::move(text_of));
  }
  std::ranges::sort(all);
  return all;
}

// Rules that no row can represent (DWARF 5, 6.4.2.3): where they certainly differ in kind from the row's,
// that is a contradiction, else they cannot be compared. The other rules of the same address are compared in
// any case.
TEST(VerifyCfi, RulesThatNoRowHas) {
  const std::vector<FrameRow> rows = {traits(Abi::amd64).entry_row()};
  const auto at_16 = [](Instructions rule, bool other_cfa) {
    rule.insert(rule.begin(), advance_16);
    if (other_cfa) rule.insert(rule.end(), {0x0e, 24}); // DW_CFA_def_cfa_offset
    return rule;
  };
  struct Case {
    const char* what;
    Instructions rule;
    const char* id;
  };
  const Case cases[] = {{"RA by an expression", {0x10, 16, 5, 0x77, 0, 0x76, 8, 0x22}, "C108"},
                        {"RA is a value", {0x14, 16, 1}, "C103"},
                        {"RA is not saved", {0x08, 16}, "C103"},
                        {"FP by an expression", {0x10, 6, 5, 0x77, 0, 0x76, 8, 0x22}, "C108"},
                        {"FP at SP", {0x10, 6, 2, 0x77, 0}, "C104"},
                        {"FP is a value", {0x14, 6, 1}, "C104"}};
  for (const Case& c : cases) {
    const std::string own = std::string(c.id) + " 0x1010-0x1040";
    EXPECT_EQ(differences(rows, at_16(c.rule, false)), Texts{own}) << c.what;
    const Texts with_cfa = differences(rows, at_16(c.rule, true));
    EXPECT_EQ(with_cfa.size(), 2u) << c.what;
    EXPECT_TRUE(std::ranges::count(with_cfa, own) && std::ranges::count(with_cfa, "C102 0x1010-0x1040"))
        << c.what;
  }
  // Without a CFA, nothing else has a meaning.
  EXPECT_EQ(differences(rows, at_16({0x0f, 5, 0x77, 8, 0x76, 8, 0x22, 0x86, 2}, false)),
            Texts{"C108 0x1010-0x1040"});
  // No caller from here on.
  EXPECT_EQ(differences(rows, at_16({0x07, 16}, false)), Texts{"C105 0x1010-0x1040"});
  EXPECT_EQ(differences(rows, at_16({0x86, 2}, false)), Texts{"C104 0x1010-0x1040"});
}

// A rule that starts from SP is the same as one that starts from a CFA of SP plus an offset.
TEST(VerifyCfi, EqualRulesInOtherForms) {
  constexpr std::uint16_t sp = 7;
  FrameRow row = traits(Abi::amd64).entry_row();
  row.offset = 16;
  row.cfa = Rule::value(sp, 16);
  row.fp = Rule::stored(sp, 0);
  const Instructions push = {advance_16, 0x0e, 16, 0x86, 2}; // CFA is SP+16, FP at CFA-16
  EXPECT_EQ(differences({traits(Abi::amd64).entry_row(), row}, push), Texts());
  row.fp = Rule::stored(sp, 8);
  EXPECT_EQ(differences({traits(Abi::amd64).entry_row(), row}, push), Texts{"C104 0x1010-0x1040"});
}

// Where the two differ, the code decides: in favour of the rows, or it says nothing.
TEST(VerifyCfi, CodeConfirmsRows) {
  const auto row = [](std::uint32_t offset, std::uint16_t base, std::int32_t cfa, bool saved = false) {
    FrameRow made = traits(Abi::amd64).entry_row();
    made.offset = offset;
    made.cfa = Rule::value(base, cfa);
    if (saved) made.fp = Rule::at_cfa(-16);
    return made;
  };
  const std::string push_pop = "53 90 5b c3"; // push %rbx; nop; pop %rbx; ret
  const std::vector<FrameRow> right = {row(0, 7, 8), row(1, 7, 16), row(3, 7, 8)}, wrong = {row(0, 7, 8)};
  const Instructions right_cfi = {0x41, 0x0e, 16, 0x42, 0x0e, 8}; // advance 1, CFA at SP+16; advance 2, SP+8
  EXPECT_EQ(differences(right, right_cfi, push_pop), Texts{});
  EXPECT_EQ(differences(right, {}, push_pop),
            Texts{"C116 0x1001-0x1003: the code confirms SFrame and contradicts the CFI"});
  EXPECT_EQ(differences(wrong, right_cfi, push_pop), Texts{"C102 0x1001-0x1003"});
  // push %rbp; mov %rsp, %rbp; nop; pop %rbp; ret: the CFA by either register.
  const std::vector<FrameRow> by_sp = {row(0, 7, 8), row(1, 7, 16, true), row(6, 7, 8)};
  const Instructions by_fp = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x42, 0x0c, 7, 8, 0xc6};
  EXPECT_EQ(differences(by_sp, by_fp, "55 48 89 e5 90 5d c3"),
            Texts{"C116 0x1004-0x1006: the code confirms SFrame, and the CFI as well"});
}

/// What is reported of a function whose CFI has these instructions: [0x1000, 0x1040), while SFrame has these
/// functions.
std::vector<std::string> partial(const std::vector<std::pair<Fde, std::vector<FrameRow>>>& functions,
                                 const Instructions& instructions, std::uint32_t cfi_size = text_size) {
  Builder builder({.abi = Abi::amd64});
  for (const auto& [fde, rows] : functions) EXPECT_TRUE(builder.add(fde, rows));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  const std::vector<std::byte> text(text_size, std::byte{0x50});
  const TestElf file = library_of(text, frames(cfi::SectionKind::eh_frame, instructions, cfi_size), *section);
  std::vector<std::string> all;
  for (const Finding& finding : findings_of(file))
    all.push_back(std::string(verify::check(finding.id).name) + ' ' + sframe::hex(finding.at->pc) + '-' +
                  sframe::hex(finding.end) + ": " + finding.message);
  std::ranges::sort(all);
  return all;
}

// A part of a function that one of the two lacks, by what SFrame can represent.
TEST(VerifyCfi, PartsOfFunctions) {
  const std::vector<FrameRow> rows = {traits(Abi::amd64).entry_row()};
  const auto function = [&](std::uint64_t start, std::uint32_t size) {
    return std::pair(Fde{.start = start, .size = size}, rows);
  };
  EXPECT_EQ(partial({function(0x1000, 0x40)}, {}), Texts{});
  EXPECT_EQ(partial({function(0x1000, 0x20)}, {}),
            Texts{"C110 0x1020-0x1040: the CFI covers this part of the function, SFrame does not"});
  EXPECT_EQ(partial({function(0x1000, 0x40)}, {}, 0x20),
            Texts{"C110 0x1020-0x1040: SFrame covers this part of the function, the CFI does not"});
  EXPECT_EQ(partial({function(0x1010, 0x10)}, {}),
            (Texts{"C110 0x1000-0x1010: the CFI covers this part of the function, SFrame does not",
                   "C110 0x1020-0x1040: the CFI covers this part of the function, SFrame does not"}));
  // From 0x1030 on, the CFA is the sum of two registers.
  const Instructions sum = {0x70, 0x0f, 5, 0x77, 8, 0x76, 8, 0x22};
  const auto parts = partial({function(0x1000, 0x20)}, sum);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_TRUE(parts[0].starts_with("C108 0x1030-0x1040: no SFrame for this part of the function: "))
      << parts[0];
  EXPECT_EQ(parts[1], "C110 0x1020-0x1030: the CFI covers this part of the function, SFrame does not");
  // The whole function, without any SFrame there.
  EXPECT_EQ(partial({function(0x1040, 0)}, {}),
            Texts{"C107 0x1000-0x1040: no SFrame, although version 3 can represent the CFI"});
  const auto whole = partial({function(0x1040, 0)}, sum);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_TRUE(whole[0].starts_with("C108 0x1000-0x1040: no SFrame, because of the CFI at 0x1030: "))
      << whole[0];
}

/// Blocks of SFrame and the expression for a PLT, which steps in each 16 bytes.
TEST(VerifyCfi, BlocksOfPlts) {
  const auto blocks = [](std::uint32_t threshold, std::int32_t step) {
    FrameRow first = traits(Abi::amd64).entry_row(), second = first;
    second.offset = threshold;
    second.cfa.offset += step;
    return std::vector{
        std::pair(Fde{.start = text_at, .size = text_size, .pc_type = PcType::mask, .rep_size = 16},
                  std::vector{first, second})};
  };
  const Instructions at_11 = {0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  EXPECT_EQ(partial(blocks(11, 8), at_11), Texts{});
  // From the first byte on that differs.
  const std::tuple<std::uint32_t, std::int32_t, std::uint64_t> wrong[] = {
      {10, 8, 0x100a}, {12, 8, 0x100b}, {11, 16, 0x100b}};
  for (const auto& [threshold, step, begin] : wrong) {
    const auto found = partial(blocks(threshold, step), at_11);
    ASSERT_FALSE(found.empty());
    EXPECT_TRUE(found[0].starts_with("C102 " + sframe::hex(begin) + '-')) << found[0];
  }
  // One of the two has the same rule everywhere.
  EXPECT_FALSE(partial(blocks(11, 8), {}).empty());
  const std::vector whole = {
      std::pair(Fde{.start = text_at, .size = text_size}, std::vector{traits(Abi::amd64).entry_row()})};
  EXPECT_FALSE(partial(whole, at_11).empty());
}

} // namespace verify_cfi_test
} // namespace sframe::test
