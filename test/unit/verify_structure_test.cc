// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that no PT_LOAD contains (S025 in docs/findings.md), and less code covered than required (P412).

#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/coverage.h>
#include <sframe/verify/structure.h>

#include <gtest/gtest.h>

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

// Two of three functions: 32 of 48 bytes, of which CFI would describe 40.
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
