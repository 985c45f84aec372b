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

/// Instructions whose second operand is written as memory but is a number: the address itself, or how far to
/// shift.
bool only_computes(std::string_view name) {
  constexpr std::string_view names[] = {"la",   "lay",  "rll",  "rllg", "sla",  "slag", "slak",
                                        "slda", "sldl", "sll",  "sllg", "sllk", "sra",  "srag",
                                        "srak", "srda", "srdl", "srl",  "srlg", "srlk"};
  return std::ranges::find(names, name) != std::end(names);
}

/// Instructions that change memory, given as the first operand, according to what it had.
bool updates_memory(std::string_view name) {
  constexpr std::string_view names[] = {"agsi", "algsi", "alsi", "asi", "nc", "ni", "niy",
                                        "oc",   "oi",    "oiy",  "tr",  "xc", "xi", "xiy"};
  return std::ranges::find(names, name) != std::end(names);
}

/// Capstone does not report what is read and what is written: by the mnemonic, stores, moves and updates are
/// known. All others count as reads.
InstructionOperands operands_of(std::span<const std::byte> bytes, std::uint64_t address) {
  InstructionOperands result;
  with_capstone<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>(bytes, address, true, [&](const cs_insn& instruction) {
    result.length = static_cast<std::uint8_t>(instruction.size);
    const std::string_view name = instruction.mnemonic;
    const bool stores = name.starts_with("st"), moves = name.starts_with("mv"),
               updates = updates_memory(name);
    const cs_sysz& detail = instruction.detail->sysz;
    for (std::uint8_t i = 0; i < detail.op_count; ++i) {
      const cs_sysz_op& operand = detail.operands[i];
      if (operand.type == SYSZ_OP_REG && (stores || i != 0)) add_register(result, number_of(operand.reg));
      if (operand.type != SYSZ_OP_MEM) continue;
      const std::uint8_t base = number_of(operand.mem.base), index = number_of(operand.mem.index);
      if (only_computes(name)) {
        add_register(result, base);
        add_register(result, index);
        continue;
      }
      const bool is_first = i == 0;
      add_memory(result, {.base = base,
                          .index = index,
                          .displacement = operand.mem.disp,
                          .size = static_cast<std::uint16_t>(operand.mem.length),
                          .reads = !stores && !(moves && is_first),
                          .writes = stores || ((moves || updates) && is_first)});
    }
  });
  return result;
}

} // namespace

const Disassembler disassemblers::s390x = {capstone_text<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>, operands_of};

} // namespace sframe::code
