// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text by Zydis for AMD64 and by Capstone for the others. Separate from the decoders, so that programs that
// print no instructions do not load Capstone: its tables add at least a millisecond to each start.

#include "sframe/code/disassembly.h"

#include <Zydis/Zydis.h>
#include <array>
#include <capstone/capstone.h>

namespace sframe::code {

namespace {

/// The first instruction of `bytes`; empty if it is not known.
using Disassemble = std::string (*)(std::span<const std::byte> bytes, std::uint64_t address);

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

template <cs_arch arch, cs_mode mode>
std::string capstone_text(std::span<const std::byte> bytes, std::uint64_t address) {
  csh handle = 0;
  if (cs_open(arch, mode, &handle) != CS_ERR_OK) return {};
  cs_insn* instruction = nullptr;
  const auto* code = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::string text;
  if (cs_disasm(handle, code, bytes.size(), address, 1, &instruction) == 1) {
    text = instruction->mnemonic;
    if (instruction->op_str[0]) text.append(" ").append(instruction->op_str);
    cs_free(instruction, 1);
  }
  cs_close(&handle);
  return text;
}

struct Line {
  Abi abi;
  Disassemble text;
};

// Instructions are little-endian on AArch64 of either byte order.
constexpr Line lines[] = {
    {Abi::amd64, zydis_text},
    {Abi::aarch64_little, capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>},
    {Abi::aarch64_big, capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>},
    {Abi::s390x, capstone_text<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>},
};

} // namespace

std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address) {
  std::string text;
  for (const Line& line : lines)
    if (line.abi == abi.id) text = line.text(bytes, address);
  if (!text.empty()) return text;
  constexpr char digits[] = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    if (!text.empty()) text += ' ';
    text += digits[value >> 4];
    text += digits[value & 15];
  }
  return text;
}

} // namespace sframe::code
