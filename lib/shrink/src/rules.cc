// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of DWARF 5, section 6.4.2, and the GNU and AArch64 additions. Nothing is left out: what is
// not known ends the execution, and the bytes are compared.

#include "rules.h"

#include "instructions.h"

#include <algorithm>

namespace sframe::shrink {

using namespace cfi;

namespace {

/// As in lib/cfi: compilers nest to 1 or 2.
constexpr std::size_t max_depth = 64;

std::int64_t scaled(std::int64_t number, std::int64_t factor) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(factor));
}

} // namespace

bool Rules::equals(const Rules& other) const {
  const auto same_cfa = [&] {
    if (has_cfa != other.has_cfa || cfa_by_expression != other.cfa_by_expression) return false;
    if (cfa_by_expression) return std::ranges::equal(cfa_expression, other.cfa_expression);
    return cfa_register == other.cfa_register && cfa_offset == other.cfa_offset;
  };
  return same_cfa() && arguments == other.arguments && signature == other.signature &&
         std::ranges::equal(registers, other.registers, [](const Recovery& one, const Recovery& two) {
           return one.reg == two.reg && one.kind == two.kind && one.offset == two.offset &&
                  std::ranges::equal(one.expression, two.expression);
         });
}

Execution::Execution(const Fde& fde, const AbiTraits& abi, Restored restored)
    : fde_(fde), abi_(abi), restored_(restored),
      reader_(fde_.instructions, 0, fde_.instructions.size(), abi.byte_order), location_(fde.start),
      begin_(fde.start), end_(fde.start) {
  DwarfReader initial(fde_.cie.instructions, 0, fde_.cie.instructions.size(), abi.byte_order);
  while (!failed_ && initial.left() != 0) failed_ = !execute(initial, fde_.cie.instructions);
  failed_ = failed_ || location_ != fde.start;
  initial_ = now_;
  remembered_.clear();
}

bool Execution::next() {
  if (failed_ || finished_) return false;
  begin_ = end_;
  while (reader_.left() != 0 && location_ == begin_) {
    failed_ = !execute(reader_, fde_.instructions);
    if (failed_) return false;
  }
  if (location_ == begin_) location_ = fde_.end(); // the last range
  end_ = std::min(location_, fde_.end());
  finished_ = end_ == fde_.end();
  return begin_ < end_;
}

void Execution::set(const Recovery& recovery) {
  auto& all = now_.registers;
  const auto place = std::ranges::lower_bound(all, recovery.reg, {}, &Recovery::reg);
  if (place != all.end() && place->reg == recovery.reg)
    *place = recovery;
  else
    all.insert(place, recovery);
}

void Execution::restore(std::uint64_t reg) {
  const auto initial = std::ranges::lower_bound(initial_.registers, reg, {}, &Recovery::reg);
  if (restored_ == Restored::initial_rule && initial != initial_.registers.end() && initial->reg == reg)
    return set(*initial);
  std::erase_if(now_.registers, [&](const Recovery& one) { return one.reg == reg; });
}

/// The instructions that change the CFA. False for others.
bool Execution::execute_cfa(std::uint8_t opcode, std::uint64_t reg, std::uint64_t number, std::int64_t offset,
                            std::span<const std::byte> expression) {
  const std::int64_t factored = scaled(offset, fde_.cie.data_alignment);
  const auto in_register = [&](std::uint64_t which) {
    now_.has_cfa = true;
    now_.cfa_by_expression = false;
    now_.cfa_register = which;
  };
  switch (opcode) {
  case cfa_def_cfa:
    in_register(reg);
    now_.cfa_offset = static_cast<std::int64_t>(number);
    return true;
  case cfa_def_cfa_sf:
    in_register(reg);
    now_.cfa_offset = factored;
    return true;
  case cfa_def_cfa_register: in_register(reg); return true;
  case cfa_def_cfa_offset: now_.cfa_offset = static_cast<std::int64_t>(number); return true;
  case cfa_def_cfa_offset_sf: now_.cfa_offset = factored; return true;
  case cfa_def_cfa_expression:
    now_.has_cfa = true;
    now_.cfa_by_expression = true;
    now_.cfa_expression = expression;
    return true;
  default: return false;
  }
}

bool Execution::execute(DwarfReader& reader, std::span<const std::byte> bytes) {
  using Kind = Recovery::Kind;
  const auto one = read_instruction(reader, bytes);
  if (!one) return false;
  if (execute_cfa(one->opcode, one->reg, one->number, one->offset, one->expression)) return true;
  const std::int64_t factor = fde_.cie.data_alignment;
  const std::int64_t up = scaled(static_cast<std::int64_t>(one->number), factor);
  switch (one->opcode) {
  case cfa_nop: return true;
  case cfa_advance_loc:
  case cfa_advance_loc1:
  case cfa_advance_loc2:
  case cfa_advance_loc4: location_ += one->number * fde_.cie.code_alignment; return location_ >= begin_;
  case cfa_offset:
  case cfa_offset_extended: set({one->reg, Kind::stored, up, {}}); return true;
  case cfa_offset_extended_sf: set({one->reg, Kind::stored, scaled(one->offset, factor), {}}); return true;
  case cfa_gnu_negative_offset_extended: set({one->reg, Kind::stored, -up, {}}); return true;
  case cfa_val_offset: set({one->reg, Kind::value, up, {}}); return true;
  case cfa_val_offset_sf: set({one->reg, Kind::value, scaled(one->offset, factor), {}}); return true;
  case cfa_undefined: set({one->reg, Kind::undefined, 0, {}}); return true;
  case cfa_same_value: set({one->reg, Kind::same, 0, {}}); return true;
  case cfa_register:
    set({one->reg, Kind::other_register, static_cast<std::int64_t>(one->number), {}});
    return true;
  case cfa_expression: set({one->reg, Kind::stored_by, 0, one->expression}); return true;
  case cfa_val_expression: set({one->reg, Kind::value_by, 0, one->expression}); return true;
  case cfa_restore:
  case cfa_restore_extended: restore(one->reg); return true;
  case cfa_gnu_args_size: now_.arguments = one->number; return true;
  case cfa_window_save: now_.signature ^= 1; return abi_.signs_return_addresses;
  case cfa_aarch64_negate_ra_state_with_pc: now_.signature ^= 3; return abi_.signs_return_addresses;
  case cfa_remember_state: remembered_.push_back(now_); return remembered_.size() <= max_depth;
  case cfa_restore_state: {
    if (remembered_.empty()) return false;
    const std::uint64_t arguments = now_.arguments; // not of the rules in libgcc
    now_ = std::move(remembered_.back());
    now_.arguments = arguments;
    remembered_.pop_back();
    return true;
  }
  default: return false;
  }
}

} // namespace sframe::shrink
