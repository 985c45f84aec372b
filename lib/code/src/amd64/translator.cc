// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates AMD64 instructions to effects. Instructions that compilers use to move SP, FP and addresses are
// translated exactly, by mnemonic; all others clobber the operands that Zydis reports as written (generic()).
//
// A write to a 32-bit register clears the upper half, one to a smaller part keeps the rest: neither keeps an
// address in it. (Intel SDM, volume 1, section 3.4.1.1.)

#include "amd64/decoder.h"

#include <algorithm>

namespace sframe::code::amd64 {
namespace {

using Kind = Effect::Kind;

/// The condition of a branch, if it can bound an index.
Condition condition_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
  case ZYDIS_MNEMONIC_JNBE: return Condition::above;
  case ZYDIS_MNEMONIC_JNB: return Condition::above_or_equal;
  case ZYDIS_MNEMONIC_JB: return Condition::below;
  case ZYDIS_MNEMONIC_JBE: return Condition::below_or_equal;
  case ZYDIS_MNEMONIC_JZ: return Condition::equal;
  case ZYDIS_MNEMONIC_JNZ: return Condition::not_equal;
  default: return Condition::other;
  }
}

} // namespace

void Translator::translate() {
  if (translate_control() || translate_stack()) return;
  const std::size_t before = effects_.size();
  if (!translate_data() && !translate_arithmetic()) generic();
  const ZydisAccessedFlags* flags = raw_.cpu_flags;
  const bool compares = effects_.size() > before && effects_.back().kind == Kind::compare;
  instruction_.writes_flags =
      flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) && !compares;
}

bool Translator::is_register(std::uint32_t i, std::uint8_t size) const {
  return is(i, ZYDIS_OPERAND_TYPE_REGISTER) && reg(i).number != Effect::none && reg(i).size == size;
}

/// Empty if the address is not in the flat address space, or does not use 64-bit registers.
std::optional<MemoryOperand> Translator::memory_operand(const ZydisDecodedOperand& operand) const {
  const ZydisDecodedOperandMem& mem = operand.mem;
  if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS || raw_.address_width != 64)
    return std::nullopt;
  MemoryOperand memory{.value = mem.disp.has_displacement ? mem.disp.value : 0};
  if (mem.base == ZYDIS_REGISTER_RIP) {
    memory.value += static_cast<std::int64_t>(instruction_.address + instruction_.length);
  } else if (mem.base != ZYDIS_REGISTER_NONE) {
    memory.base = gpr(mem.base).number;
    if (memory.base == Effect::none) return std::nullopt;
  }
  if (mem.index != ZYDIS_REGISTER_NONE) {
    memory.index = gpr(mem.index).number;
    memory.scale = mem.scale;
    if (memory.index == Effect::none) return std::nullopt;
  }
  return memory;
}

// Control flow

bool Translator::translate_control() {
  switch (raw_.meta.category) {
  case ZYDIS_CATEGORY_COND_BR:
    if (raw_.mnemonic == ZYDIS_MNEMONIC_LOOP || raw_.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
        raw_.mnemonic == ZYDIS_MNEMONIC_LOOPNE)
      effects_.push_back({.kind = Kind::clobber, .reg = rcx});
    if (raw_.mnemonic == ZYDIS_MNEMONIC_XBEGIN) effects_.push_back({.kind = Kind::clobber, .reg = rax});
    instruction_.condition = condition_of(raw_.mnemonic);
    branch_to_target(Flow::branch);
    return true;
  case ZYDIS_CATEGORY_UNCOND_BR:
    if (raw_.mnemonic != ZYDIS_MNEMONIC_JMP) return false;
    jump_or_call(false);
    return true;
  case ZYDIS_CATEGORY_CALL: jump_or_call(true); return true;
  case ZYDIS_CATEGORY_RET: // also from interrupts and system calls: kernels only
    instruction_.flow = raw_.mnemonic == ZYDIS_MNEMONIC_RET && raw_.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR
                            ? Flow::ret
                            : Flow::stop;
    return true;
  default: break;
  }
  switch (raw_.mnemonic) {
  case ZYDIS_MNEMONIC_UD0:
  case ZYDIS_MNEMONIC_UD1:
  case ZYDIS_MNEMONIC_UD2:
  case ZYDIS_MNEMONIC_HLT: instruction_.flow = Flow::stop; return true;
  case ZYDIS_MNEMONIC_INT3:
    instruction_.flow = Flow::stop;
    instruction_.is_nop = true;
    return true;
  case ZYDIS_MNEMONIC_SYSCALL: instruction_.system_call_register = rax; [[fallthrough]];
  case ZYDIS_MNEMONIC_INT:
    generic();
    effects_.push_back({.kind = Kind::clobber, .reg = rax});
    return true;
  default: return false;
  }
}

void Translator::branch_to_target(Flow flow) {
  instruction_.flow = flow;
  if (is_immediate(0)) set_target();
}

void Translator::set_target() {
  ZyanU64 target = 0;
  if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&raw_, &operands_[0], instruction_.address, &target)))
    instruction_.target = target;
}

void Translator::jump_or_call(bool is_call) {
  if (is_immediate(0)) return branch_to_target(is_call ? Flow::call : Flow::jump);
  instruction_.flow = is_call ? Flow::indirect_call : Flow::indirect_jump;
  if (is_call) {
    if (is_memory(0) && operands_[0].mem.base == ZYDIS_REGISTER_RIP) set_target();
    return;
  }
  if (is_register(0, 8)) {
    instruction_.jump_register = reg(0).number;
  } else if (is_memory(0)) {
    instruction_.jump_register = scratch;
    load(scratch, operands_[0], false);
  }
}

// The stack

bool Translator::translate_stack() {
  switch (raw_.mnemonic) {
  case ZYDIS_MNEMONIC_PUSH:
  case ZYDIS_MNEMONIC_PUSHF:
  case ZYDIS_MNEMONIC_PUSHFQ: push(); return true;
  case ZYDIS_MNEMONIC_POPF:
  case ZYDIS_MNEMONIC_POPFQ: instruction_.writes_flags = true; [[fallthrough]];
  case ZYDIS_MNEMONIC_POP: pop(); return true;
  case ZYDIS_MNEMONIC_LEAVE:
    effects_.push_back({.kind = Kind::set, .reg = rsp, .source = rbp});
    effects_.push_back({.kind = Kind::load, .reg = rbp, .source = rsp});
    effects_.push_back({.kind = Kind::add, .reg = rsp, .value = 8});
    return true;
  case ZYDIS_MNEMONIC_ENTER:
    if (immediate(1) != 0) return false; // nested frames: not used
    effects_.push_back({.kind = Kind::store, .reg = rbp, .source = rsp, .value = -8});
    effects_.push_back({.kind = Kind::add, .reg = rsp, .value = -8});
    effects_.push_back({.kind = Kind::set, .reg = rbp, .source = rsp});
    effects_.push_back({.kind = Kind::add, .reg = rsp, .value = -immediate(0)});
    return true;
  default: return false;
  }
}

void Translator::push() {
  const std::int64_t size = raw_.operand_width == 16 ? 2 : 8;
  if (size == 8 && has_operand() && is_register(0, 8))
    effects_.push_back({.kind = Kind::store, .reg = reg(0).number, .source = rsp, .value = -8});
  else
    overwrite({.base = rsp, .value = -size}, static_cast<std::uint32_t>(size));
  effects_.push_back({.kind = Kind::add, .reg = rsp, .value = -size});
}

/// The address of a memory operand uses SP after the pop.
void Translator::pop() {
  const std::int64_t size = raw_.operand_width == 16 ? 2 : 8;
  const bool to_register = has_operand() && (is_register(0, 8) || is_register(0, 2));
  const std::uint8_t to = to_register ? reg(0).number : Effect::none;
  if (to_register && size == 8)
    effects_.push_back({.kind = Kind::load, .reg = to, .source = rsp});
  else if (to_register)
    effects_.push_back({.kind = Kind::clobber, .reg = to});
  if (to != rsp) effects_.push_back({.kind = Kind::add, .reg = rsp, .value = size});
  if (!to_register && has_operand() && is_memory(0))
    if (const auto at = memory_operand(operands_[0])) overwrite(*at, static_cast<std::uint32_t>(size));
}

// Moving data

bool Translator::translate_data() {
  switch (raw_.mnemonic) {
  case ZYDIS_MNEMONIC_MOV: move(); return true;
  case ZYDIS_MNEMONIC_MOVZX: return extend(false);
  case ZYDIS_MNEMONIC_MOVSX:
  case ZYDIS_MNEMONIC_MOVSXD: return extend(true);
  case ZYDIS_MNEMONIC_CDQE:
    effects_.push_back({.kind = Kind::set, .reg = rax, .source = rax, .size = 4, .is_signed = true});
    return true;
  case ZYDIS_MNEMONIC_LEA: load_effective_address(); return true;
  case ZYDIS_MNEMONIC_XCHG: return exchange();
  default: return false;
  }
}

void Translator::move() {
  if (is_register(0, 8) || is_register(0, 4)) {
    const Gpr to = reg(0);
    if (is_register(1, to.size)) {
      const auto size = static_cast<std::uint8_t>(to.size == 8 ? 0 : to.size);
      effects_.push_back({.kind = Kind::set, .reg = to.number, .source = reg(1).number, .size = size});
      return;
    }
    if (is_immediate(1)) {
      const std::int64_t value = to.size == 8 ? immediate(1) : static_cast<std::uint32_t>(immediate(1));
      effects_.push_back({.kind = Kind::set, .reg = to.number, .value = value});
      return;
    }
    if (is_memory(1)) return load(to.number, operands_[1], false);
  }
  if (is_memory(0) && is_register(1, 8)) {
    const auto at = memory_operand(operands_[0]);
    if (at && at->index == Effect::none && at->base != Effect::none)
      effects_.push_back({.kind = Kind::store, .reg = reg(1).number, .source = at->base, .value = at->value});
    return;
  }
  generic();
}

/// reg := a number in memory of the operand's size.
void Translator::load(std::uint8_t to, const ZydisDecodedOperand& operand, bool is_signed) {
  const auto at = memory_operand(operand);
  const auto size = static_cast<std::uint8_t>(operand.size / 8);
  if (!at) {
    effects_.push_back({.kind = Kind::clobber, .reg = to});
  } else if (at->index != Effect::none) {
    effects_.push_back({.kind = Kind::load_table,
                        .reg = to,
                        .source = at->base,
                        .index = at->index,
                        .size = size,
                        .scale = at->scale,
                        .is_signed = is_signed,
                        .value = at->value});
  } else if (size == 8) {
    effects_.push_back({.kind = Kind::load, .reg = to, .source = at->base, .value = at->value});
  } else {
    effects_.push_back({.kind = Kind::clobber, .reg = to});
    // A byte is an index with a bound.
    if (size == 1 && !is_signed) effects_.push_back({.kind = Kind::set, .reg = to, .source = to, .size = 1});
  }
}

bool Translator::extend(bool is_signed) {
  if (!is_register(0, 8) && !is_register(0, 4)) return false;
  const std::uint8_t to = reg(0).number;
  if (is_memory(1)) {
    load(to, operands_[1], is_signed);
    return true;
  }
  if (!is(1, ZYDIS_OPERAND_TYPE_REGISTER)) return false;
  const Gpr from = reg(1);
  if (from.number == Effect::none || from.high) return false;
  effects_.push_back(
      {.kind = Kind::set, .reg = to, .source = from.number, .size = from.size, .is_signed = is_signed});
  return true;
}

void Translator::load_effective_address() {
  const auto at = memory_operand(operands_[1]);
  if (!is_register(0, 8) || !at) return generic();
  const std::uint8_t to = reg(0).number;
  const auto add = [&](std::uint8_t source, std::int64_t value) {
    if (value) effects_.push_back({.kind = Kind::add, .reg = to, .source = source, .value = value});
  };
  if (at->index == Effect::none || to != at->index) {
    effects_.push_back({.kind = Kind::set, .reg = to, .source = at->base, .value = at->value});
    if (at->index != Effect::none) add(at->index, at->scale);
    return;
  }
  // The index is in the register that receives the sum: multiplied in place, then added to.
  add(to, at->scale - 1 + (at->base == to));
  if (at->base != Effect::none && at->base != to) add(at->base, 1);
  add(Effect::none, at->value);
}

bool Translator::exchange() {
  if (!is_register(0, 8) || !is_register(1, 8)) return false;
  const std::uint8_t a = reg(0).number, b = reg(1).number;
  effects_.push_back({.kind = Kind::set, .reg = scratch, .source = a});
  effects_.push_back({.kind = Kind::set, .reg = a, .source = b});
  effects_.push_back({.kind = Kind::set, .reg = b, .source = scratch});
  return true;
}

// Arithmetic

/// Memory fences before SSE2, and still the fastest: lock add or lock or of 0 to the top of the stack.
bool Translator::leaves_memory_as_it_is() const {
  if (raw_.mnemonic != ZYDIS_MNEMONIC_ADD && raw_.mnemonic != ZYDIS_MNEMONIC_OR) return false;
  return is_memory(0) && is_immediate(1) && immediate(1) == 0;
}

bool Translator::translate_arithmetic() {
  if (leaves_memory_as_it_is()) return true;
  switch (raw_.mnemonic) {
  case ZYDIS_MNEMONIC_ADD: return add_or_subtract(1);
  case ZYDIS_MNEMONIC_SUB: return add_or_subtract(-1);
  case ZYDIS_MNEMONIC_CMP: return compare();
  case ZYDIS_MNEMONIC_TEST: return true; // writes flags only
  case ZYDIS_MNEMONIC_AND: return mask();
  case ZYDIS_MNEMONIC_OR: return poison_stack();
  case ZYDIS_MNEMONIC_BTS: return mark_frame(Kind::sign);
  case ZYDIS_MNEMONIC_BTR: return mark_frame(Kind::authenticate);
  case ZYDIS_MNEMONIC_SHL: return shift_left();
  case ZYDIS_MNEMONIC_XOR:
    if (!(is_register(0, 8) || is_register(0, 4)) || !is_register(1, reg(0).size) ||
        reg(0).number != reg(1).number)
      return false;
    effects_.push_back({.kind = Kind::set, .reg = reg(0).number, .value = 0});
    return true;
  default: return false;
  }
}

bool Translator::add_or_subtract(int sign) {
  if (!is_register(0, 8)) return false;
  const std::uint8_t to = reg(0).number;
  if (is_immediate(1)) {
    effects_.push_back({.kind = Kind::add, .reg = to, .value = sign * immediate(1)});
    return true;
  }
  if (!is_register(1, 8)) return false;
  effects_.push_back({.kind = Kind::add, .reg = to, .source = reg(1).number, .value = sign});
  return true;
}

/// Only registers: words in memory have no name for their bound.
bool Translator::compare() {
  if (!is(0, ZYDIS_OPERAND_TYPE_REGISTER)) return true;
  const Gpr left = reg(0);
  if (left.number == Effect::none || left.high) return true;
  if (is_immediate(1))
    effects_.push_back({.kind = Kind::compare, .reg = left.number, .size = left.size, .value = immediate(1)});
  else if (is_register(0, 8) && is_register(1, 8))
    effects_.push_back({.kind = Kind::compare, .reg = left.number, .source = reg(1).number});
  return true;
}

bool Translator::mask() {
  if (!is_immediate(1)) return false;
  const bool is_wide = is_register(0, 8);
  if (!is_wide && !is_register(0, 4)) return false;
  const std::int64_t value = is_wide ? immediate(1) : static_cast<std::uint32_t>(immediate(1));
  effects_.push_back({.kind = Kind::align, .reg = reg(0).number, .value = value});
  return true;
}

/// SP changes only where the processor speculates wrongly (clang -mspeculative-load-hardening): nothing else
/// sets bits of SP.
bool Translator::poison_stack() {
  return is_register(0, 8) && reg(0).number == rsp && is_register(1, 8);
}

/// Swift's asynchronous functions mark the caller's FP before they save it.
bool Translator::mark_frame(Effect::Kind kind) {
  constexpr std::int64_t mark = 60;
  if (!is_register(0, 8) || reg(0).number != rbp || !is_immediate(1) || immediate(1) != mark) return false;
  effects_.push_back({.kind = kind, .reg = rbp, .index = 0});
  return true;
}

bool Translator::shift_left() {
  constexpr std::int64_t max_shift = 3; // scales an index
  if (!is_register(0, 8) || !is_immediate(1) || immediate(1) < 0 || immediate(1) > max_shift) return false;
  const std::int64_t factor = std::int64_t{1} << immediate(1);
  const std::uint8_t to = reg(0).number;
  effects_.push_back({.kind = Kind::add, .reg = to, .source = to, .value = factor - 1});
  return true;
}

// Everything else

void Translator::overwrite(const MemoryOperand& at, std::uint32_t size) {
  if (at.base == Effect::none || at.index != Effect::none)
    return; // does not write a tracked word of the frame
  constexpr std::uint32_t step = 128, max_size = 8192;
  for (std::uint32_t done = 0; done < std::min(size, max_size); done += step)
    effects_.push_back({.kind = Kind::overwrite,
                        .source = at.base,
                        .size = static_cast<std::uint8_t>(std::min(step, size - done)),
                        .value = at.value + done});
}

void Translator::generic() {
  for (std::uint32_t i = 0; i < raw_.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands_[i];
    if (!(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) continue;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      if (const Gpr to = gpr(operand.reg.value); to.number != Effect::none)
        effects_.push_back({.kind = Kind::clobber, .reg = to.number});
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
      if (const auto at = memory_operand(operand)) overwrite(*at, operand.size / 8);
    }
  }
}

} // namespace sframe::code::amd64
