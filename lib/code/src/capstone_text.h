// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: instructions as text, by Capstone.

#pragma once

#include <capstone/capstone.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sframe::code {

/// A Disassemble function for an architecture and mode of Capstone.
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

} // namespace sframe::code
