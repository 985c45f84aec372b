// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that no PT_LOAD contains (S025 in docs/findings.md), program headers that are not the section's
// (S024 and S019), functions that are not sorted (S017), and less code covered than required (P412).

#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/coverage.h>
#include <sframe/verify/structure.h>

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace sframe::test {
namespace verify_structure_test {

using namespace verify;

constexpr std::uint64_t text_at = 0x1000, sframe_at = 0x2000;
constexpr std::uint32_t function_size = 16;

struct Findings final : Sink {
  void add(Finding finding) override {
    all.push_back(std::string(verify::check(finding.id).name) +
                  (finding.at ? ' ' + sframe::hex(finding.at->pc) : std::string()) + ": " + finding.message);
  }
  std::vector<std::string> all;
};

using Texts = std::vector<std::string>;

std::vector<std::byte> section_of(std::size_t functions) {
  Builder builder({.abi = Abi::amd64});
  for (std::size_t i = 0; i < functions; ++i)
    EXPECT_TRUE(builder.add({.start = text_at + i * function_size, .size = function_size},
                            std::vector{traits(Abi::amd64).entry_row()}));
  auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  return std::move(*section);
}

/// Three functions, of which the first `loaded` are in a PT_LOAD; the section is in none.
TestElf file_with(const std::vector<std::byte>& section, std::size_t loaded) {
  const std::vector<std::byte> text(3 * function_size, std::byte{0x90});
  TestElf file;
  file.type = elf::et_dyn;
  file.sections = {{".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
                   {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, section}};
  file.segments = {
      {elf::pt_load, elf::pf_r | elf::pf_x, text_at, std::vector<std::byte>(loaded * function_size)}};
  return file;
}

/// Those with this identifier.
Texts findings(const TestElf& file, std::string_view id) {
  const auto bytes = file.build();
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  Findings found;
  check_structure(*input, found);
  std::erase_if(found.all, [&](const std::string& text) { return !text.starts_with(id); });
  return found.all;
}

// One finding for all of them, at the first.
TEST(VerifyStructure, FunctionsThatAreNotLoaded) {
  const auto section = section_of(3);
  EXPECT_EQ(findings(file_with(section, 3), "S025"), Texts{});
  EXPECT_EQ(findings(file_with(section, 2), "S025"), Texts{"S025 0x1020: no PT_LOAD contains this function"});
  EXPECT_EQ(findings(file_with(section, 1), "S025"),
            Texts{"S025 0x1010: no PT_LOAD contains this function and 1 more"});
  EXPECT_EQ(findings(file_with(section, 0), "S025"),
            Texts{"S025 0x1000: no PT_LOAD contains this function and 2 more"});
}

/// A PT_GNU_SFRAME, of which the test says what it has instead of the section's place and size.
struct Header {
  std::int64_t address = 0, offset = 0, file_size = 0, memory_size = 0;
};

/// A file whose section is in a readable PT_LOAD, and its header, as far as it differs.
std::vector<std::byte> file_with_header(const Header& differs, std::uint32_t load_flags = elf::pf_r) {
  const auto section = section_of(3);
  TestElf file = file_with(section, 3);
  file.segments.push_back({elf::pt_load, load_flags, sframe_at, section});
  file.segments.push_back({elf::pt_gnu_sframe, elf::pf_r, sframe_at, section});
  auto bytes = file.build();
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    return value;
  };
  const auto set = [&](std::size_t at, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, 8); };
  // The contents are there three times: the header, like the PT_LOAD, names those of the section.
  const std::size_t headers = 64, size = 56, sections = number(40), section_header = sections + 2 * 64;
  const std::uint64_t offset = number(section_header + 24);
  const auto field = [&](std::size_t segment, std::size_t at) { return headers + segment * size + at; };
  set(field(1, 8), offset);
  set(field(2, 8), offset + static_cast<std::uint64_t>(differs.offset));
  set(field(2, 16), sframe_at + static_cast<std::uint64_t>(differs.address));
  set(field(2, 32), section.size() + static_cast<std::uint64_t>(differs.file_size));
  set(field(2, 40), section.size() + static_cast<std::uint64_t>(differs.memory_size));
  return bytes;
}

Texts findings(const std::vector<std::byte>& bytes) {
  const auto image = elf::Image::parse(bytes);
  EXPECT_TRUE(image);
  const auto input = Input::load({.image = &*image});
  EXPECT_TRUE(input);
  Findings found;
  check_structure(*input, found);
  return found.all;
}

TEST(VerifyStructure, ProgramHeaderOfTheSection) {
  const std::string size = std::to_string(section_of(3).size()),
                    more = std::to_string(section_of(3).size() + 1),
                    less = std::to_string(section_of(3).size() - 1);
  const std::string of_section = ", the section 0x2000, " + size + " bytes";
  const auto is = [&](const std::string& address, const std::string& header_size,
                      const std::string& rest = "") {
    return "PT_GNU_SFRAME is " + address + ", " + header_size + " bytes" + of_section + rest;
  };
  EXPECT_EQ(findings(file_with_header({})), Texts{});
  EXPECT_EQ(findings(file_with_header({.address = 8})), Texts{"S024: " + is("0x2008", size)});
  EXPECT_EQ(findings(file_with_header({.file_size = -1, .memory_size = -1})),
            Texts{"S024: " + is("0x2000", less)});
  EXPECT_EQ(findings(file_with_header({.memory_size = -1})),
            Texts{"S024: " + is("0x2000", size, "; p_memsz is " + less)});
  // The whole section, and more.
  EXPECT_EQ(findings(file_with_header({.file_size = 1})),
            Texts{"S019: " + is("0x2000", more, "; p_memsz is " + size)});
  const Texts moved = findings(file_with_header({.offset = 8}));
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_TRUE(moved[0].starts_with("S024: " + is("0x2000", size, "; file offset 0x")));
  // More than what is loaded, or nothing that may be read.
  const Texts unmapped{"S024: PT_GNU_SFRAME is not inside a readable PT_LOAD"};
  EXPECT_EQ(findings(file_with_header({.memory_size = 1})), unmapped);
  EXPECT_EQ(findings(file_with_header({}, elf::pf_x)), unmapped);
}

// Without section headers there is nothing to compare with; with others only, a section is missing.
TEST(VerifyStructure, ProgramHeaderWithoutSection) {
  const auto section = section_of(3);
  TestElf file = file_with(section, 3);
  file.sections.pop_back();
  file.segments.push_back({elf::pt_load, elf::pf_r, sframe_at, section});
  file.segments.push_back({elf::pt_gnu_sframe, elf::pf_r, sframe_at, section});
  const std::string missing = "S024: PT_GNU_SFRAME without a section .sframe";
  EXPECT_EQ(findings(file.build()), Texts{missing});
  file.sections.clear();
  EXPECT_EQ(findings(file.build()), Texts{});
}

// Two of three functions: 32 of 48 bytes, of which CFI would describe 40.
/// S017: the order of one function is none.
TEST(VerifyStructure, UnsortedFunctions) {
  for (std::size_t functions = 1; functions <= 3; ++functions) {
    auto section = section_of(functions);
    EXPECT_EQ(findings(file_with(section, 3), "S017"), Texts());
    section[3] &= ~std::byte{flag_sorted};
    const Texts found = findings(file_with(section, 3), "S017");
    const Texts expected = {"S017: flag SORTED is clear, with " + std::to_string(functions) + " functions"};
    EXPECT_EQ(found, functions > 1 ? expected : Texts()) << functions;
  }
}

TEST(VerifyStructure, RequiredCoverage) {
  const auto bytes = file_with(section_of(2), 3).build();
  const auto image = elf::Image::parse(bytes);
  const auto input = Input::load({.image = &*image});
  ASSERT_TRUE(input);
  Coverage found = coverage(*input);
  EXPECT_EQ(found.executable.total, 48u);
  EXPECT_EQ(found.executable.covered, 32u);
  EXPECT_EQ(found.described.total, 0u);
  const auto report = [&](std::optional<double> executable, std::optional<double> described) {
    Findings findings;
    check_coverage(*input, found, {executable, described}, findings);
    return findings.all;
  };
  EXPECT_EQ(report({}, {}), Texts{});
  EXPECT_EQ(report({}, 1), Texts{"P412: there is no CFI: pass a file that has it"});
  found.described = {40, 30}; // exactly 75 %
  EXPECT_EQ(report(66.66, 75), Texts{});
  const std::string covers =
      "P412: covers 66.66 % of 48 executable bytes, 75.00 % of 40 bytes with CFI; required: ";
  EXPECT_EQ(report(66.67, 75), Texts{covers + "66.67 % of the executable bytes"});
  EXPECT_EQ(report(66.66, 75.5), Texts{covers + "75.50 % of the bytes with CFI"});
  EXPECT_EQ(report(100, 100).size(), 2u);
  const auto section = section_of(2);
  const auto raw = Input::load({.raw = section, .raw_address = sframe_at, .use_raw = true});
  ASSERT_TRUE(raw);
  Findings findings;
  check_coverage(*raw, coverage(*raw), {1, {}}, findings);
  ASSERT_EQ(findings.all.size(), 1u);
  EXPECT_EQ(findings.all[0].find("P412: a raw section has no executable bytes"), 0u);
}

} // namespace verify_structure_test
} // namespace sframe::test
