// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/disassembly.h"

#include "machines.h"

#include <utility>

namespace sframe::code {

namespace {

const Disassembler& disassembler_of(const AbiTraits& abi) {
  switch (abi.id) {
// clang-format off
#define SFRAME_DEFINE_ABI(name, identifier) case Abi::name: return disassemblers::name;
#include "sframe/abis.def"
    // clang-format on
  }
  std::unreachable(); // traits exist for the ABIs of abis.def only
}

} // namespace

std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address) {
  std::string text = disassembler_of(abi).text(bytes, address);
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

InstructionOperands instruction_operands(const AbiTraits& abi, std::span<const std::byte> bytes,
                                         std::uint64_t address) {
  const auto operands = disassembler_of(abi).operands;
  return operands ? operands(bytes, address) : InstructionOperands();
}

} // namespace sframe::code
