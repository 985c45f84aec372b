// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// printers.h: rules, rows and FDEs.

#include "printers.h"

#include "sframe/fde.h"
#include "sframe/row.h"

#include <gtest/gtest.h>

#include <ostream>

namespace sframe {

void PrintTo(const Rule& rule, std::ostream* out) {
  using Kind = Rule::Kind;
  switch (rule.kind) {
  case Kind::same: *out << "same"; return;
  case Kind::undefined: *out << "undefined"; return;
  case Kind::fixed: *out << "fixed"; return;
  case Kind::value:
  case Kind::stored: break;
  }
  if (rule.kind == Kind::stored) *out << '[';
  if (rule.base == Rule::cfa_base)
    *out << "cfa";
  else
    *out << 'r' << rule.base;
  *out << std::showpos << rule.offset << std::noshowpos;
  if (rule.kind == Kind::stored) *out << ']';
}

void PrintTo(const FrameRow& row, std::ostream* out) {
  *out << "0x" << std::hex << row.offset << std::dec << ": cfa=" << testing::PrintToString(row.cfa)
       << " ra=" << testing::PrintToString(row.ra) << " fp=" << testing::PrintToString(row.fp)
       << (row.ra_signed ? " signed" : "");
}

void PrintTo(const Fde& fde, std::ostream* out) {
  *out << std::hex << "0x" << fde.start << "-0x" << fde.start + fde.size << std::dec;
  if (fde.pc_type == PcType::mask) *out << ", blocks of " << unsigned{fde.rep_size};
  if (fde.signal_frame) *out << ", signal frame";
  if (fde.pauth_key == PauthKey::b) *out << ", key B";
}

} // namespace sframe

namespace sframe_printers_test {
namespace {

using namespace sframe;

TEST(Printers, Rows) {
  EXPECT_EQ(testing::PrintToString(Rule::value(7, 16)), "r7+16");
  EXPECT_EQ(testing::PrintToString(Rule::stored(6, -8)), "[r6-8]");
  EXPECT_EQ(testing::PrintToString(Rule::at_cfa(-16)), "[cfa-16]");
  const FrameRow row{
      .offset = 20, .cfa = Rule::value(31, 0), .ra = Rule::fixed(), .fp = {}, .ra_signed = true};
  EXPECT_EQ(testing::PrintToString(row), "0x14: cfa=r31+0 ra=fixed fp=same signed");
  EXPECT_EQ(testing::PrintToString(FrameRow::outermost(0)), "0x0: cfa=undefined ra=undefined fp=undefined");
}

TEST(Printers, Fdes) {
  Fde fde{.start = 0x1000, .size = 32};
  EXPECT_EQ(testing::PrintToString(fde), "0x1000-0x1020");
  fde.pc_type = PcType::mask;
  fde.rep_size = 16;
  fde.signal_frame = true;
  fde.pauth_key = PauthKey::b;
  EXPECT_EQ(testing::PrintToString(fde), "0x1000-0x1020, blocks of 16, signal frame, key B");
}

} // namespace
} // namespace sframe_printers_test
