// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 instructions as text, by Zydis.

#include "decoder.h"
#include "machines.h"

#include <Zydis/Zydis.h>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sframe::code {

namespace {

struct Decoded {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

bool decode(std::span<const std::byte> bytes, Decoded& decoded) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &decoded.instruction,
                                             decoded.operands.data()));
}

std::string_view suffix(std::uint16_t bits) {
  return bits == 8 ? "b" : bits == 16 ? "w" : bits == 32 ? "l" : "q";
}

bool is_vector(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  const ZydisRegisterClass kind = ZydisRegisterGetClass(operand.reg.value);
  return kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_ZMM ||
         kind == ZYDIS_REGCLASS_MMX || kind == ZYDIS_REGCLASS_MASK;
}

/// Puts right what Zydis 4 writes in another way than assemblers of AT&T syntax read.
void mend(const Decoded& decoded, std::string& text) {
  const ZydisDecodedInstruction& instruction = decoded.instruction;
  const std::span operands = std::span(decoded.operands).first(instruction.operand_count_visible);
  // "call 8(%rax)": an indirect branch has a star.
  const bool is_branch = instruction.meta.category == ZYDIS_CATEGORY_CALL ||
                         instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
  if (is_branch && operands.size() == 1 && operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
    if (const std::size_t at = text.rfind(' ') + 1; text[at] != '*') text.insert(at, 1, '*');
  // "movsxb (%rdi), %eax": these have the sizes of both operands, as in "movsbl".
  const ZydisMnemonic mnemonic = instruction.mnemonic;
  const bool is_signed = mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  if ((is_signed || mnemonic == ZYDIS_MNEMONIC_MOVZX) && operands.size() == 2)
    text.replace(0, text.find(' '),
                 std::string(is_signed ? "movs" : "movz")
                     .append(suffix(operands[1].size))
                     .append(suffix(operands[0].size)));
  // "movsdq (%rdi), %xmm0": the size of what is accessed follows from the mnemonic.
  const std::string_view name = ZydisMnemonicGetString(mnemonic);
  const auto memory = std::ranges::find(operands, ZYDIS_OPERAND_TYPE_MEMORY, &ZydisDecodedOperand::type);
  const bool is_of_number = name.find("cvtsi2") != name.npos || name.find("cvtusi2") != name.npos;
  const bool is_narrowing = name.find("pd2") != name.npos || name.find("qq2") != name.npos;
  const std::size_t start = text.find(name);
  if (std::ranges::any_of(operands, is_vector) && memory != operands.end() && !is_narrowing &&
      start != text.npos)
    text.replace(start + name.size(), text.find(' ', start) - start - name.size(),
                 is_of_number ? suffix(memory->size) : "");
  if (mnemonic == ZYDIS_MNEMONIC_ENTER) { // not in the order of the others
    const std::size_t comma = text.find(", "), first = text.find('$');
    text = text.substr(0, first) + text.substr(comma + 2) + ", " + text.substr(first, comma - first);
  }
}

std::string zydis_text(std::span<const std::byte> bytes, std::uint64_t address) {
  ZydisFormatter formatter;
  std::array<char, 256> text{};
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
  Decoded decoded;
  if (!decode(bytes, decoded) ||
      !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &decoded.instruction, decoded.operands.data(),
                                                    decoded.instruction.operand_count_visible, text.data(),
                                                    text.size(), address, nullptr)))
    return {};
  std::string result = text.data();
  mend(decoded, result);
  return result;
}

void add(std::vector<std::uint8_t>& registers, std::uint8_t number) {
  if (number != MemoryAccess::none && std::ranges::find(registers, number) == registers.end())
    registers.push_back(number);
}

/// What the only operand in the text is used for.
void add_meaning(const Decoded& decoded, InstructionOperands& result) {
  const ZydisMnemonic mnemonic = decoded.instruction.mnemonic;
  const bool is_division = mnemonic == ZYDIS_MNEMONIC_DIV || mnemonic == ZYDIS_MNEMONIC_IDIV;
  const bool is_branch = (mnemonic == ZYDIS_MNEMONIC_CALL || mnemonic == ZYDIS_MNEMONIC_JMP) &&
                         decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  const ZydisDecodedOperand& operand = decoded.operands[0];
  if (!is_division && !is_branch) return;
  InstructionOperands::Value value{.size = static_cast<std::uint8_t>(operand.size / 8)};
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    const amd64::Gpr reg = amd64::gpr(operand.reg.value);
    value.reg = reg.number;
    if (value.reg == MemoryAccess::none || reg.high) return;
  } else if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) {
    return;
  }
  (is_division ? result.divisor : result.target) = value;
  result.is_call = mnemonic == ZYDIS_MNEMONIC_CALL;
  result.is_signed_division = mnemonic == ZYDIS_MNEMONIC_IDIV;
}

bool is_undefined(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_UD0 || mnemonic == ZYDIS_MNEMONIC_UD1 || mnemonic == ZYDIS_MNEMONIC_UD2;
}

/// Hidden operands count, too: string instructions and the stack.
InstructionOperands zydis_operands(std::span<const std::byte> bytes, std::uint64_t address) {
  InstructionOperands result;
  Decoded decoded;
  if (!decode(bytes, decoded)) return result;
  result.length = decoded.instruction.length;
  result.is_return = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET &&
                     decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  result.is_undefined = is_undefined(decoded.instruction.mnemonic);
  // Prefetches ignore faults.
  const bool is_hint =
      std::string_view(ZydisMnemonicGetString(decoded.instruction.mnemonic)).starts_with("prefetch");
  const std::size_t count = decoded.instruction.operand_count,
                    visible_count = decoded.instruction.operand_count_visible;
  bool is_first_known = true; // the first of the memory is that of the operand in the text
  for (std::size_t place = 0; place < count; ++place) {
    const bool visible = place < visible_count;
    // AT&T syntax has the source first.
    const ZydisDecodedOperand& operand = decoded.operands[visible ? visible_count - 1 - place : place];
    const bool reads = operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    const bool writes = operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && reads)
      add(result.registers, amd64::gpr(operand.reg.value).number);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    const auto& memory = operand.mem;
    const bool is_pc_relative = memory.base == ZYDIS_REGISTER_RIP;
    MemoryAccess access{.base = is_pc_relative ? MemoryAccess::none : amd64::gpr(memory.base).number,
                        .index = amd64::gpr(memory.index).number,
                        .scale = std::max<std::uint8_t>(memory.scale, 1),
                        .displacement = memory.disp.value,
                        .size = static_cast<std::uint16_t>(operand.size / 8),
                        .reads = reads,
                        .writes = writes};
    if (is_pc_relative) access.displacement += static_cast<std::int64_t>(address + result.length);
    const bool is_stack = !visible && access.base == amd64::rsp; // with all its bits
    // What is pushed is below the stack pointer.
    if (is_stack && writes && !reads) access.displacement -= access.size;
    add(result.registers, access.base);
    add(result.registers, access.index);
    // An address without a general register for its segment, or with a vector of indices (gather).
    const bool is_known = memory.segment != ZYDIS_REGISTER_FS && memory.segment != ZYDIS_REGISTER_GS &&
                          memory.type != ZYDIS_MEMOP_TYPE_VSIB &&
                          (decoded.instruction.address_width == 64 || is_stack) &&
                          (access.index != MemoryAccess::none || memory.index == ZYDIS_REGISTER_NONE);
    if (is_known && (reads || writes) && !is_hint) {
      result.memory.push_back(access);
      continue;
    }
    is_first_known &= !visible;
    result.reads_elsewhere |= reads && !is_hint;
    result.writes_elsewhere |= writes && !is_hint;
  }
  if (is_first_known) add_meaning(decoded, result);
  return result;
}

} // namespace

const Disassembler disassemblers::amd64 = {zydis_text, zydis_operands};

} // namespace sframe::code
