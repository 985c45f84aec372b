// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/walk/symbols.h"

namespace sframe::walk {

std::optional<FunctionName> ElfSymbols::find(Module& module, std::uint64_t lookup_pc, std::uint64_t pc) {
  const auto match = module.find_symbol(lookup_pc - module.bias());
  if (!match) return std::nullopt;
  return FunctionName{elf::demangle(match->symbol->name), match->offset + (pc - lookup_pc)};
}

} // namespace sframe::walk
