// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: instructions as text, and their operands, by Capstone.

#pragma once

#include "capstone.h"
#include "sframe/code/disassembly.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>

namespace sframe::code {

/// Calls f(instruction) with the first instruction of `bytes`, if Capstone is there and knows it. Throws
/// std::bad_alloc if Capstone gets no memory.
template <cs_arch arch, cs_mode mode, class F>
void with_capstone(std::span<const std::byte> bytes, std::uint64_t address, bool detail, F&& f) {
  const Capstone* const library = capstone();
  csh handle = 0;
  if (!library || library->open(arch, mode, &handle) != CS_ERR_OK) {
    if (took_reserve()) throw std::bad_alloc();
    return;
  }
  if (detail) library->option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  cs_insn* instruction = nullptr;
  const auto* code = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (library->disasm(handle, code, bytes.size(), address, 1, &instruction) == 1) {
    if (!detail || instruction->detail) f(*instruction);
    library->free(instruction, 1);
  }
  library->close(&handle);
  if (took_reserve()) throw std::bad_alloc();
}

/// Disassembler::text for an architecture and mode of Capstone.
template <cs_arch arch, cs_mode mode>
std::string capstone_text(std::span<const std::byte> bytes, std::uint64_t address) {
  std::string text;
  with_capstone<arch, mode>(bytes, address, false, [&](const cs_insn& instruction) {
    text = instruction.mnemonic;
    if (instruction.op_str[0]) text.append(" ").append(instruction.op_str);
  });
  return text;
}

/// Adds a register that is read; `number` may be none.
inline void add_register(InstructionOperands& to, std::uint8_t number) {
  if (number != MemoryAccess::none && std::ranges::find(to.registers, number) == to.registers.end())
    to.registers.push_back(number);
}

/// Adds memory, and the registers of its address. Capstone 4 does not report the size.
inline void add_memory(InstructionOperands& to, const MemoryAccess& access) {
  add_register(to, access.base);
  add_register(to, access.index);
  to.memory.push_back(access);
}

} // namespace sframe::code
