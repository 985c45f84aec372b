// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "machines.h"

#include <capstone/capstone.h>

namespace sframe::code {

std::string capstone_text(int arch, int mode, std::span<const std::byte> bytes, std::uint64_t address) {
  csh handle = 0;
  if (cs_open(static_cast<cs_arch>(arch), static_cast<cs_mode>(mode), &handle) != CS_ERR_OK) return {};
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
