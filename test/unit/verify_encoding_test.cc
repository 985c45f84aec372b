// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encodings that are wider than needed (S012 in docs/findings.md), in version 2 sections written field by
// field (the SFrame specification, sections 2 to 4): the sizes from which row offsets take two and four
// bytes.

#include "elf_builder.h"

#include <sframe/verify/structure.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sframe::test {
namespace verify_encoding_test {

using namespace verify;

struct Findings final : Sink {
  void add(Finding finding) override {
    all.push_back(std::string(verify::check(finding.id).name) + ": " + finding.message);
  }
  std::vector<std::string> all;
};

using Texts = std::vector<std::string>;

/// The findings for a function of `size` bytes with one row, CFA = SP + 8, whose offset has `width` bytes.
Texts findings(std::uint32_t size, unsigned width) {
  const unsigned type = width == 1 ? 0 : width == 2 ? 1 : 2; // addr1, addr2, addr4
  Writer row;
  row.number(0, width).number(1 | 1 << 1, 1).number(8, 1); // base SP, one word of one byte
  Writer section;
  section.u16(0xdee2).number(2, 1).number(1, 1);                               // version 2, sorted
  section.number(3, 1).number(0, 1).number(std::uint64_t(-8), 1).number(0, 1); // AMD64, RA at CFA-8
  section.u32(1).u32(1).u32(row.bytes.size()).u32(0).u32(20);                  // one function, one row
  section.u32(0x1000).u32(size).u32(0).u32(1).number(type, 1).number(0, 1).u16(0);
  section.append(row.bytes);
  const auto input = Input::load({.raw = section.bytes, .raw_address = 0, .use_raw = true});
  EXPECT_TRUE(input);
  Findings found;
  check_structure(*input, found);
  return found.all;
}

TEST(VerifyEncoding, WidthsOfRowOffsets) {
  const auto wide = [](unsigned width, unsigned needed) {
    return Texts{"S012: function 0: row offsets of " + std::to_string(width) + " bytes each, where " +
                 std::to_string(needed) + " would suffice"};
  };
  for (const std::uint32_t size : {1u, 0xfeu, 0xffu}) {
    EXPECT_EQ(findings(size, 1), Texts{}) << size;
    EXPECT_EQ(findings(size, 2), wide(2, 1)) << size;
    EXPECT_EQ(findings(size, 4), wide(4, 1)) << size;
  }
  for (const std::uint32_t size : {0x100u, 0x101u, 0xfffeu, 0xffffu}) {
    EXPECT_EQ(findings(size, 2), Texts{}) << size;
    EXPECT_EQ(findings(size, 4), wide(4, 2)) << size;
  }
  for (const std::uint32_t size : {0x10000u, 0x10001u, 0xffffffffu})
    EXPECT_EQ(findings(size, 4), Texts{}) << size;
}

} // namespace verify_encoding_test
} // namespace sframe::test
