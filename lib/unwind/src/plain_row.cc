// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/unwind/plain_row.h"

#include "column.h"

namespace sframe::unwind {

namespace {

template <class Narrow> bool narrow(std::int64_t from, Narrow& to) {
  to = static_cast<Narrow>(from);
  return to == from;
}

constexpr std::uint64_t bit(std::uint32_t reg) {
  return std::uint64_t{1} << reg;
}

} // namespace

bool PlainRow::set_cfa(std::uint32_t reg, std::int64_t offset) {
  cfa_register_ = static_cast<std::uint8_t>(reg);
  return reg < Registers::count && narrow(offset, cfa_offset_);
}

bool PlainRow::store(std::uint32_t reg, std::int64_t offset) {
  kept_ &= ~bit(reg);
  if (count_ == max_stored || !narrow(offset, offsets_[count_])) return false;
  registers_[count_++] = static_cast<std::uint8_t>(reg);
  return true;
}

bool PlainRow::compile(const CfiMatch& answer, const AbiTraits& abi, const UnwindAbi& unwind) {
  using Kind = cfi::RegisterRule::Kind;
  const cfi::FullRow& row = answer.row;
  *this = {};
  if (answer.signal_frame || answer.interrupts_caller ||
      row.cfa.kind != cfi::CfaRule::Kind::register_offset || !set_cfa(row.cfa.number, row.cfa.offset) ||
      row.ra().kind != Kind::offset || !narrow(row.ra().offset, ra_offset_) ||
      !narrow(abi.sp_from_cfa, sp_offset_))
    return false;
  kept_ = unwind.call_saved;
  for (std::uint32_t reg = 0; reg < Registers::count; ++reg) {
    const std::uint32_t column = column_of(reg, abi);
    const cfi::RegisterRule rule = row.rule(column);
    if (rule.kind == Kind::unspecified || column == row.return_register) continue;
    if (rule.kind == Kind::undefined) {
      kept_ &= ~bit(reg); // SP remains the CFA, as in libgcc
      continue;
    }
    if (rule.kind != Kind::offset) return false;
    if (reg == abi.sp) {
      sp_is_saved_ = true;
      if (!narrow(rule.offset, sp_offset_)) return false;
    } else if (!store(reg, rule.offset)) {
      return false;
    }
  }
  return true;
}

bool PlainRow::compile(const SframeMatch& answer, const AbiTraits& abi) {
  const FrameRow& row = answer.row;
  const auto is_in_frame = [](const Rule& rule) {
    return rule.kind == Rule::Kind::stored && rule.base == Rule::cfa_base;
  };
  *this = {};
  // If RA has a fixed slot, its column is not a register: in rules it stands for the pc.
  const bool cfa_is_from_pc = abi.fixed_ra_offset && row.cfa.base == abi.ra;
  if (answer.signal_frame || row.cfa.kind != Rule::Kind::value || cfa_is_from_pc ||
      !set_cfa(row.cfa.base, row.cfa.offset) || !is_in_frame(row.ra) || !narrow(row.ra.offset, ra_offset_) ||
      !narrow(abi.sp_from_cfa, sp_offset_))
    return false;
  kept_ = bit(Registers::vector_granule);
  if (row.fp.kind == Rule::Kind::same)
    kept_ |= bit(abi.fp);
  else if (!is_in_frame(row.fp) || !store(abi.fp, row.fp.offset))
    return false;
  return true;
}

StepResult PlainRow::failure(const Registers& registers, Memory& memory, std::uint16_t sp) const {
  if (!registers.has(cfa_register_)) return StepResult::failed(StopReason::unknown_register, cfa_register_);
  const std::uint64_t cfa =
      registers.values[cfa_register_] + static_cast<std::uint64_t>(std::int64_t{cfa_offset_});
  const std::uint64_t address = at(cfa, ra_offset_);
  if (!memory.word(address)) return StepResult::failed(StopReason::unreadable_memory, address);
  return StepResult::failed(StopReason::unknown_register, sp);
}

} // namespace sframe::unwind
