// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// printers.h: findings.

#include "printers.h"

#include "sframe/verify/findings.h"

#include <gtest/gtest.h>

#include <ostream>

namespace sframe::verify {

void PrintTo(const Finding& finding, std::ostream* out) {
  *out << check(finding.id).name << std::hex;
  if (finding.at && finding.at->section)
    *out << " in section " << std::dec << finding.at->section << std::hex;
  if (finding.at) *out << " at 0x" << finding.at->pc;
  if (finding.at && finding.end > finding.at->pc) *out << "-0x" << finding.end;
  if (finding.offset) *out << " at " << finding.table << "+0x" << *finding.offset;
  *out << std::dec << ": " << finding.message << (finding.compiler ? " (compiler)" : "");
  for (const auto& [name, text] : {std::pair("sframe", &finding.sframe), std::pair("cfi", &finding.cfi),
                                   std::pair("code", &finding.code), std::pair("at", &finding.instruction)})
    if (!text->empty()) *out << "; " << name << ": " << *text;
}

} // namespace sframe::verify

namespace verify_printers_test {
namespace {

using namespace sframe::verify;

TEST(Printers, Findings) {
  Finding finding{.id = Id::K201, .at = Location{0, 0x1000}, .end = 0x1004, .message = "wrong CFA"};
  finding.sframe = "cfa=sp+8";
  finding.instruction = "f: push %rbx";
  EXPECT_EQ(testing::PrintToString(finding),
            "K201 at 0x1000-0x1004: wrong CFA; sframe: cfa=sp+8; at: f: push %rbx");
  const Finding in_table{.id = Id::S004, .at = {}, .message = "too large", .table = ".sframe", .offset = 28};
  EXPECT_EQ(testing::PrintToString(in_table), "S004 at .sframe+0x1c: too large");
}

} // namespace
} // namespace verify_printers_test
