// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 instructions as text, by Zydis.

#include "machines.h"

#include <Zydis/Zydis.h>
#include <array>

namespace sframe::code {

namespace {

std::string zydis_text(std::span<const std::byte> bytes, std::uint64_t address) {
  ZydisDecoder decoder;
  ZydisFormatter formatter;
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  std::array<char, 256> text{};
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
  if (ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &instruction, operands.data())))
    ZydisFormatterFormatInstruction(&formatter, &instruction, operands.data(),
                                    instruction.operand_count_visible, text.data(), text.size(), address,
                                    nullptr);
  return text.data();
}

} // namespace

const Disassemble disassemblers::amd64 = zydis_text;

} // namespace sframe::code
