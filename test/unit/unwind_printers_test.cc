// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// printers.h: frames.

#include "printers.h"

#include "sframe/unwind/frame_stepper.h"

#include <gtest/gtest.h>

#include <ostream>

namespace sframe::unwind {

void PrintTo(const FrameState& frame, std::ostream* out) {
  const Registers& registers = frame.registers;
  *out << std::hex << "pc 0x" << registers.pc << (frame.pc_exact ? "" : " (return address)");
  if (frame.after_fault) *out << " (after a fault)";
  for (std::uint16_t reg = 0; reg < Registers::count; ++reg)
    if (registers.has(reg)) *out << " r" << std::dec << reg << "=0x" << std::hex << registers.values[reg];
  *out << std::dec;
}

} // namespace sframe::unwind

namespace unwind_printers_test {
namespace {

TEST(Printers, Frames) {
  sframe::unwind::FrameState frame{.registers = {}, .pc_exact = false, .after_fault = false, .shadow = {}};
  frame.registers.pc = 0x1004;
  frame.registers.set(7, 0x20);
  frame.registers.set(16, 0xabc);
  EXPECT_EQ(testing::PrintToString(frame), "pc 0x1004 (return address) r7=0x20 r16=0xabc");
}

} // namespace
} // namespace unwind_printers_test
