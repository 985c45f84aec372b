// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the form of nearly all CFI rows: the CFA is a register plus an offset, and all saved registers
// are at offsets from the CFA. Small enough for one per cache line in a cache of rules; any other row is a
// CompiledRow.

#pragma once

#include "sframe/modules/tables.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace sframe::steppers {

class PlainRow {
public:
  /// False if the row does not have this form; the object is then unspecified.
  bool compile(const unwind::CfiMatch& answer, const unwind::UnwindAbi& unwind);

  unwind::StepResult apply(const unwind::FrameState& frame, unwind::Memory& memory, const AbiTraits& abi,
                           unwind::FrameState& caller) const;

private:
  static constexpr std::size_t max_stored = 7; ///< AMD64 has 6 call-saved registers

  static bool narrow(std::int64_t from, std::int16_t& to) {
    to = static_cast<std::int16_t>(from);
    return to == from;
  }

  std::uint64_t kept_ = 0; ///< call-saved registers without a rule in the row
  std::int32_t cfa_offset_ = 0;
  std::int16_t ra_offset_ = 0; ///< from the CFA, as all below
  std::array<std::int16_t, max_stored> offsets_{};
  std::array<std::uint8_t, max_stored> registers_{};
  std::uint8_t cfa_register_ = 0;
  std::uint8_t count_ = 0;
};

inline bool PlainRow::compile(const unwind::CfiMatch& answer, const unwind::UnwindAbi& unwind) {
  using Kind = cfi::RegisterRule::Kind;
  const cfi::FullRow& row = answer.row;
  if (answer.signal_frame || row.cfa.kind != cfi::CfaRule::Kind::register_offset ||
      row.cfa.number >= unwind::Registers::count || row.ra().kind != Kind::offset ||
      !narrow(row.ra().offset, ra_offset_))
    return false;
  cfa_register_ = static_cast<std::uint8_t>(row.cfa.number);
  cfa_offset_ = static_cast<std::int32_t>(row.cfa.offset);
  if (cfa_offset_ != row.cfa.offset) return false;
  kept_ = unwind.call_saved;
  count_ = 0;
  for (std::uint32_t reg = 0; reg < unwind::Registers::count; ++reg) {
    const cfi::RegisterRule rule = row.rule(reg);
    if (rule.kind == Kind::unspecified || reg == row.return_register) continue;
    if (rule.kind == Kind::undefined) {
      kept_ &= ~(std::uint64_t{1} << reg);
      continue;
    }
    if (rule.kind != Kind::offset || count_ == max_stored || !narrow(rule.offset, offsets_[count_]))
      return false;
    kept_ &= ~(std::uint64_t{1} << reg);
    registers_[count_++] = static_cast<std::uint8_t>(reg);
  }
  return true;
}

inline unwind::StepResult PlainRow::apply(const unwind::FrameState& frame, unwind::Memory& memory,
                                          const AbiTraits& abi, unwind::FrameState& caller) const {
  if (!frame.registers.has(cfa_register_))
    return unwind::StepResult::failed(unwind::StopReason::unknown_register, cfa_register_);
  const std::uint64_t cfa =
      frame.registers.values[cfa_register_] + static_cast<std::uint64_t>(std::int64_t{cfa_offset_});
  const auto at = [&](std::int16_t offset) { return cfa + static_cast<std::uint64_t>(std::int64_t{offset}); };
  if (!memory.load(at(ra_offset_), caller.registers.pc))
    return unwind::StepResult::failed(unwind::StopReason::unreadable_memory, at(ra_offset_));
  std::uint64_t known = frame.registers.known & kept_;
  for (std::uint64_t left = known; left; left &= left - 1) {
    const int reg = std::countr_zero(left);
    caller.registers.values[reg] = frame.registers.values[reg];
  }
  // The row's rule for SP, if any, is applied last.
  known |= std::uint64_t{1} << abi.sp;
  caller.registers.values[abi.sp] = cfa + static_cast<std::uint64_t>(std::int64_t{abi.sp_from_cfa});
  for (std::size_t i = 0; i < count_; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << registers_[i];
    known = memory.load(at(offsets_[i]), caller.registers.values[registers_[i]]) ? known | bit : known & ~bit;
  }
  caller.registers.known = known;
  caller.pc_exact = false;
  return {.status = unwind::StepStatus::stepped, .has_cfa = true, .cfa = cfa};
}

} // namespace sframe::steppers
