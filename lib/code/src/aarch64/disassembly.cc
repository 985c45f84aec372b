// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64 instructions as text, with their operands.

#include "capstone_text.h"
#include "machines.h"

namespace sframe::code {

namespace {

/// The DWARF number of a general register or of its lower half; none for others, such as xzr.
std::uint8_t number_of(unsigned reg) {
  if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) return static_cast<std::uint8_t>(reg - ARM64_REG_X0);
  if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) return static_cast<std::uint8_t>(reg - ARM64_REG_W0);
  switch (reg) {
  case ARM64_REG_X29: return 29;
  case ARM64_REG_X30: return 30;
  case ARM64_REG_SP:
  case ARM64_REG_WSP: return 31;
  default: return MemoryAccess::none;
  }
}

/// An atomic operation also writes: "ldadd", "ldumaxal".
bool only_loads(std::string_view name) {
  constexpr std::string_view atomic[] = {"ldadd", "ldclr", "ldeor", "ldset", "ldsm", "ldum"};
  return name.starts_with("ld") &&
         std::ranges::none_of(atomic, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

InstructionOperands operands_of(std::span<const std::byte> bytes, std::uint64_t address) {
  InstructionOperands result;
  with_capstone<CS_ARCH_ARM64, CS_MODE_ARM>(bytes, address, true, [&](const cs_insn& instruction) {
    result.length = static_cast<std::uint8_t>(instruction.size);
    const std::string_view name = instruction.mnemonic, text = instruction.op_str;
    const bool stores = name.starts_with("st"), loads = only_loads(name);
    const cs_arm64& detail = instruction.detail->arm64;
    for (std::uint8_t i = 0; i < detail.op_count; ++i) {
      const cs_arm64_op& operand = detail.operands[i];
      if (operand.type == ARM64_OP_REG && (stores || operand.access & CS_AC_READ || detail.op_count == 1))
        add_register(result, number_of(operand.reg));
      if (operand.type != ARM64_OP_MEM || name.starts_with("prf")) continue;
      const bool after = text.find("], ") != text.npos; // the displacement is added after the access
      const bool shifted = operand.shift.type == ARM64_SFT_LSL;
      // An index of 32 bits is extended first: left out.
      if (operand.ext != ARM64_EXT_INVALID && operand.ext != ARM64_EXT_UXTX && operand.ext != ARM64_EXT_SXTX)
        continue;
      add_memory(result, {.base = number_of(operand.mem.base),
                          .index = after ? MemoryAccess::none : number_of(operand.mem.index),
                          .scale = static_cast<std::uint8_t>(shifted ? 1u << (operand.shift.value & 7) : 1),
                          .displacement = after ? 0 : operand.mem.disp,
                          .size = 0,
                          .reads = !stores,
                          .writes = !loads});
    }
  });
  return result;
}

} // namespace

// Instructions are little-endian in programs of either byte order.
const Disassembler disassemblers::aarch64_little = {capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>, operands_of};
const Disassembler disassemblers::aarch64_big = {capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>, operands_of};

} // namespace sframe::code
