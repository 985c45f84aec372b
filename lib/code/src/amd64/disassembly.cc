// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 instructions as text, by Zydis.

#include "decoder.h"
#include "machines.h"

#include <Zydis/Zydis.h>
#include <algorithm>
#include <array>

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

std::string zydis_text(std::span<const std::byte> bytes, std::uint64_t address) {
  ZydisFormatter formatter;
  std::array<char, 256> text{};
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  if (Decoded decoded; decode(bytes, decoded))
    ZydisFormatterFormatInstruction(&formatter, &decoded.instruction, decoded.operands.data(),
                                    decoded.instruction.operand_count_visible, text.data(), text.size(),
                                    address, nullptr);
  return text.data();
}

void add(std::vector<std::uint8_t>& registers, std::uint8_t number) {
  if (number != MemoryAccess::none && std::ranges::find(registers, number) == registers.end())
    registers.push_back(number);
}

/// Hidden operands count, too: string instructions and the stack.
InstructionOperands zydis_operands(std::span<const std::byte> bytes, std::uint64_t address) {
  InstructionOperands result;
  Decoded decoded;
  if (!decode(bytes, decoded)) return result;
  result.length = decoded.instruction.length;
  result.is_return = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_RET &&
                     decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  const std::size_t count = decoded.instruction.operand_count,
                    visible_count = decoded.instruction.operand_count_visible;
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
    // What is pushed is below the stack pointer.
    if (!visible && writes && !reads && access.base == amd64::rsp) access.displacement -= access.size;
    add(result.registers, access.base);
    add(result.registers, access.index);
    // An address without a general register for its segment, or with a vector of indices (gather).
    const bool is_known = memory.segment != ZYDIS_REGISTER_FS && memory.segment != ZYDIS_REGISTER_GS &&
                          memory.type != ZYDIS_MEMOP_TYPE_VSIB && decoded.instruction.address_width == 64 &&
                          (access.index != MemoryAccess::none || memory.index == ZYDIS_REGISTER_NONE);
    if (is_known && (reads || writes)) result.memory.push_back(access);
  }
  return result;
}

} // namespace

const Disassembler disassemblers::amd64 = {zydis_text, zydis_operands};

} // namespace sframe::code
