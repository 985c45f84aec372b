// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes call frame instructions. An instruction either changes the rules, or moves the location, which
// completes the row in progress: the current rules hold from begin_ to the new location.

#include "sframe/cfi/rows.h"

#include "pointer.h"
#include "sframe/cfi/opcodes.h"
#include "sframe/cfi/reader.h"

namespace sframe::cfi {
namespace {

/// A factored offset: operand times data alignment factor.
std::int64_t scaled(DwarfReader& reader, std::int64_t operand, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(operand, factor, &product)) reader.fail(ErrorKind::offset_overflow);
  return product;
}

/// An unsigned operand as a signed number, modulo 2^64: LLVM writes a negative CFA offset as the unsigned
/// number of the same 64 bits, and readers accept it.
std::int64_t unsigned_offset(DwarfReader& reader) {
  return static_cast<std::int64_t>(reader.uleb());
}

std::uint32_t register_number(DwarfReader& reader) {
  const std::uint64_t value = reader.uleb();
  if (value > UINT32_MAX) reader.fail(ErrorKind::bad_register);
  return static_cast<std::uint32_t>(value);
}

/// The offset and size of an expression, as stored in rules.
template <class R> R expression_rule(DwarfReader& reader, typename R::Kind kind) {
  const std::uint64_t size = reader.uleb();
  const std::uint64_t offset = reader.at();
  if (size > UINT32_MAX) reader.fail(ErrorKind::truncated);
  reader.skip(size);
  return {kind, static_cast<std::uint32_t>(size), static_cast<std::int64_t>(offset)};
}

} // namespace

template <class Registers>
BasicRowCursor<Registers>::BasicRowCursor(const CfiSection& section, const Fde& fde)
    : section_(section), registers_(section.abi(), fde.cie.return_register), begin_(fde.start),
      location_(fde.start), end_(fde.end()), fde_start_(fde.start), code_alignment_(fde.cie.code_alignment),
      data_alignment_(fde.cie.data_alignment), return_register_(fde.cie.return_register),
      fde_encoding_(fde.cie.fde_encoding), address_size_(fde.cie.address_size) {
  run_initial(fde.cie);
  at_ = fde.instructions_offset;
  stop_ = at_ + fde.instructions.size();
}

template <class Registers> void BasicRowCursor<Registers>::run_initial(const Cie& cie) {
  at_ = instruction_ = cie.instructions_offset;
  stop_ = at_ + cie.instructions.size();
  if (cie.instructions.size() > max_initial_instructions) fail(ErrorKind::too_large);
  for (DwarfReader reader = instructions(); !error_ && reader.at() < stop_;) execute(reader);
  cie_state_ = state_;
  heap_states_.clear();
  depth_ = 0;
  initial_ = false;
}

/// Executes until the row in progress is complete: it holds from begin_ to `end`.
template <class Registers> bool BasicRowCursor<Registers>::complete(std::uint64_t& end) {
  if (error_) return false;
  for (DwarfReader reader = instructions(); reader.at() < stop_;) {
    const Step step = execute(reader);
    if (step == Step::done) continue;
    at_ = reader.at();
    end = location_;
    return step == Step::advanced;
  }
  at_ = stop_;
  end = end_;
  return begin_ < end_;
}

/// A reader at the next instruction.
template <class Registers> DwarfReader BasicRowCursor<Registers>::instructions() const {
  return {section_.bytes(), at_, stop_, section_.abi().byte_order};
}

template <class Registers> bool BasicRowCursor<Registers>::next(Row<Registers>& row) {
  std::uint64_t end = 0;
  if (!complete(end)) return false;
  emit_row(row, end);
  return true;
}

template <class Registers> bool BasicRowCursor<Registers>::find(std::uint64_t pc, Row<Registers>& row) {
  std::uint64_t end = 0;
  while (pc >= begin_ && complete(end)) {
    if (pc < end) {
      emit_row(row, end);
      return true;
    }
    begin_ = end;
  }
  return false;
}

template <class Registers> void BasicRowCursor<Registers>::emit_row(Row<Registers>& row, std::uint64_t end) {
  static_cast<State&>(row) = state_;
  row.begin = begin_;
  row.end = end;
  row.fde_start = fde_start_;
  row.return_register = return_register_;
  row.registers = registers_;
  row.section = section_.bytes();
  begin_ = end;
}

template <class Registers> auto BasicRowCursor<Registers>::fail(ErrorKind kind) -> Step {
  error_ = Error{kind, instruction_};
  return Step::failed;
}

template <class Registers> auto BasicRowCursor<Registers>::execute(DwarfReader& reader) -> Step {
  instruction_ = reader.at();
  const std::uint8_t byte = reader.u8();
  const std::uint8_t low = byte & 0x3f;
  Step step = Step::done;
  switch (byte & 0xc0) {
  case cfa_advance_loc: step = advance(low); break;
  case cfa_offset: {
    const std::int64_t offset = scaled(reader, unsigned_offset(reader), data_alignment_);
    set(low, {RegisterRule::Kind::offset, 0, offset});
    break;
  }
  case cfa_restore: step = restore(low); break;
  default: step = execute_extended(byte, reader);
  }
  return reader.failed() ? fail(reader.kind()) : step;
}

template <class Registers>
auto BasicRowCursor<Registers>::execute_extended(std::uint8_t opcode, DwarfReader& reader) -> Step {
  switch (opcode) {
  case cfa_nop: return Step::done;
  case cfa_set_loc: return set_location(reader);
  case cfa_advance_loc1: return advance(reader.u8());
  case cfa_advance_loc2: return advance(reader.fixed<std::uint16_t>());
  case cfa_advance_loc4: return advance(reader.fixed<std::uint32_t>());
  case cfa_restore_extended: return restore(reader.uleb());
  case cfa_remember_state: return remember_state();
  case cfa_restore_state: return restore_state();
  case cfa_def_cfa:
  case cfa_def_cfa_sf:
  case cfa_def_cfa_register:
  case cfa_def_cfa_offset:
  case cfa_def_cfa_offset_sf:
  case cfa_def_cfa_expression: return define_cfa(opcode, reader);
  case cfa_window_save: return negate_ra_state(false);
  case cfa_aarch64_negate_ra_state_with_pc: return negate_ra_state(true);
  case cfa_gnu_args_size: reader.uleb(); return Step::done;
  default: return define_register(opcode, reader);
  }
}

template <class Registers>
auto BasicRowCursor<Registers>::define_cfa(std::uint8_t opcode, DwarfReader& reader) -> Step {
  CfaRule& cfa = state_.cfa;
  if (opcode == cfa_def_cfa_expression) {
    cfa = expression_rule<CfaRule>(reader, CfaRule::Kind::expression);
    return Step::done;
  }
  if (opcode == cfa_def_cfa || opcode == cfa_def_cfa_sf)
    cfa = {CfaRule::Kind::register_offset, register_number(reader), 0};
  else if (cfa.kind != CfaRule::Kind::register_offset)
    return fail(ErrorKind::cfa_not_register);
  else if (opcode == cfa_def_cfa_register) {
    cfa.number = register_number(reader);
    return Step::done;
  }
  const bool factored = opcode == cfa_def_cfa_sf || opcode == cfa_def_cfa_offset_sf;
  cfa.offset = factored ? scaled(reader, reader.sleb(), data_alignment_) : unsigned_offset(reader);
  return Step::done;
}

template <class Registers>
auto BasicRowCursor<Registers>::define_register(std::uint8_t opcode, DwarfReader& reader) -> Step {
  using Kind = RegisterRule::Kind;
  if ((opcode > cfa_val_expression || opcode < cfa_offset_extended) &&
      opcode != cfa_gnu_negative_offset_extended)
    return fail(ErrorKind::unknown_opcode);
  const std::uint64_t reg = register_number(reader);
  RegisterRule rule;
  switch (opcode) {
  case cfa_undefined: rule.kind = Kind::undefined; break;
  case cfa_same_value: rule.kind = Kind::same; break;
  case cfa_register: rule = {Kind::reg, register_number(reader), 0}; break;
  case cfa_expression: rule = expression_rule<RegisterRule>(reader, Kind::expression); break;
  case cfa_val_expression: rule = expression_rule<RegisterRule>(reader, Kind::val_expression); break;
  case cfa_val_offset:
    rule = {Kind::val_offset, 0, scaled(reader, unsigned_offset(reader), data_alignment_)};
    break;
  case cfa_val_offset_sf: rule = {Kind::val_offset, 0, scaled(reader, reader.sleb(), data_alignment_)}; break;
  case cfa_offset_extended:
    rule = {Kind::offset, 0, scaled(reader, unsigned_offset(reader), data_alignment_)};
    break;
  case cfa_offset_extended_sf:
    rule = {Kind::offset, 0, scaled(reader, reader.sleb(), data_alignment_)};
    break;
  default: // GNU negative_offset_extended: obsolete, from GCC 2
    rule = {Kind::offset, 0, scaled(reader, scaled(reader, unsigned_offset(reader), -1), data_alignment_)};
  }
  set(reg, rule);
  return Step::done;
}

template <class Registers> auto BasicRowCursor<Registers>::negate_ra_state(bool with_pc) -> Step {
  if (!section_.abi().signs_return_addresses) return fail(ErrorKind::unknown_opcode);
  state_.ra_signed = !state_.ra_signed;
  if (with_pc) state_.ra_signed_with_pc = !state_.ra_signed_with_pc;
  return Step::done;
}

template <class Registers> auto BasicRowCursor<Registers>::advance(std::uint64_t units) -> Step {
  std::uint64_t delta = 0, location = 0;
  if (__builtin_mul_overflow(units, code_alignment_, &delta) ||
      __builtin_add_overflow(location_, delta, &location))
    location = UINT64_MAX; // end_ is below: past the end
  return move_to(location);
}

template <class Registers> auto BasicRowCursor<Registers>::set_location(DwarfReader& reader) -> Step {
  relocatable_ = false;
  const PointerContext context{section_.address(), section_.bases(), fde_start_, address_size_};
  const Pointer location = read_pointer(reader, fde_encoding_, context);
  if (reader.failed()) return Step::failed;
  if (!initial_ && location.value < location_) return fail(ErrorKind::backwards);
  return move_to(location.value);
}

template <class Registers> auto BasicRowCursor<Registers>::move_to(std::uint64_t location) -> Step {
  if (initial_) return fail(ErrorKind::not_in_cie);
  if (location > end_) {
    fail(ErrorKind::past_end);
    if (begin_ >= end_) return Step::failed;
    location = end_;
  }
  location_ = location;
  return location_ > begin_ ? Step::advanced : Step::done;
}

template <class Registers> auto BasicRowCursor<Registers>::restore(std::uint64_t reg) -> Step {
  // In a CIE, where GNU as puts a leading .cfi_restore of a function (binutils PR 33170), the only state to
  // restore is the one without any rules.
  const std::uint32_t slot = registers_.slot(reg);
  if (slot < Registers::slots) state_.rules[slot] = initial_ ? RegisterRule{} : cie_state_.rules[slot];
  return Step::done;
}

template <class Registers> auto BasicRowCursor<Registers>::remember_state() -> Step {
  constexpr bool in_line = requires {
    Registers::inline_states_only;
  };
  if (depth_ == (in_line ? Registers::inline_states : max_remembered_states))
    return fail(ErrorKind::state_stack_full);
  if (depth_ < inline_states_.size())
    inline_states_[depth_].state = state_;
  else
    heap_states_.push_back(state_);
  ++depth_;
  return Step::done;
}

template <class Registers> auto BasicRowCursor<Registers>::restore_state() -> Step {
  if (depth_ == 0) return fail(ErrorKind::state_stack_empty);
  if (--depth_ < inline_states_.size()) {
    state_ = inline_states_[depth_].state;
  } else {
    state_ = heap_states_.back();
    heap_states_.pop_back();
  }
  return Step::done;
}

template <class Registers> void BasicRowCursor<Registers>::set(std::uint64_t reg, const RegisterRule& rule) {
  const std::uint32_t slot = registers_.slot(reg);
  if (slot < Registers::slots) state_.rules[slot] = rule;
}

template class BasicRowCursor<MinimalRegisters>;
template class BasicRowCursor<AllRegisters>;
template class BasicRowCursor<GeneralAmd64Registers>;
template class BasicRowCursor<GeneralRegisters>;

} // namespace sframe::cfi
