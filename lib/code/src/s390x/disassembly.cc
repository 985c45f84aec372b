// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x instructions as text, with their operands.

#include "capstone_text.h"
#include "machines.h"

namespace sframe::code {

namespace {

std::uint8_t number_of(unsigned reg) {
  return reg >= SYSZ_REG_0 && reg <= SYSZ_REG_15 ? static_cast<std::uint8_t>(reg - SYSZ_REG_0)
                                                 : MemoryAccess::none;
}

/// Capstone does not report what is read and what is written: by the mnemonic, only the plain stores are
/// known.
InstructionOperands operands_of(std::span<const std::byte> bytes, std::uint64_t address) {
  InstructionOperands result;
  with_capstone<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>(bytes, address, true, [&](const cs_insn& instruction) {
    result.length = static_cast<std::uint8_t>(instruction.size);
    const std::string_view name = instruction.mnemonic;
    const bool stores = name.starts_with("st"), moves = name.starts_with("mv") || name.ends_with("c");
    const bool is_address = name == "la" || name == "lay" || name.starts_with("sl") || name.starts_with("sr");
    const cs_sysz& detail = instruction.detail->sysz;
    for (std::uint8_t i = 0; i < detail.op_count; ++i) {
      const cs_sysz_op& operand = detail.operands[i];
      if (operand.type == SYSZ_OP_REG && (stores || i != 0)) add_register(result, number_of(operand.reg));
      if (operand.type != SYSZ_OP_MEM || is_address) continue;
      const bool writes = stores || (moves && i == 0), reads = !stores && (!moves || i != 0);
      add_memory(result, {.base = number_of(operand.mem.base),
                          .index = number_of(operand.mem.index),
                          .displacement = operand.mem.disp,
                          .size = static_cast<std::uint16_t>(operand.mem.length),
                          .reads = reads,
                          .writes = writes});
    }
  });
  return result;
}

} // namespace

const Disassembler disassemblers::s390x = {capstone_text<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>, operands_of};

} // namespace sframe::code
