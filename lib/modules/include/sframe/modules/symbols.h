// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a frame: an interface for programs that print frames. The ready implementation reads the
// modules' symbol tables.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::modules {

struct FunctionName {
  std::string name;         ///< demangled
  std::uint64_t offset = 0; ///< offset of the pc from the function's start
  std::string symbol;       ///< the name as in the symbol table; may be empty
};

class SymbolLookup {
public:
  virtual ~SymbolLookup() = default;
  /// The function that contains `lookup_pc` (the pc, or one less for a return address), with the offset of
  /// `pc`; both are addresses in the process.
  virtual std::optional<FunctionName> find(Module& module, std::uint64_t lookup_pc, std::uint64_t pc) = 0;
  /// The same for code in no module (made at run time). The default returns nothing.
  virtual std::optional<FunctionName> find_outside(std::uint64_t lookup_pc, std::uint64_t pc) {
    static_cast<void>(lookup_pc), static_cast<void>(pc);
    return std::nullopt;
  }
};

/// The frame's function; `module` is the one at the frame's lookup_pc(), or nullptr.
std::optional<FunctionName> function_of(const unwind::Frame& frame, Module* module, SymbolLookup& symbols);

/// Symbol tables: .symtab, else the separate debug file's, else .dynsym.
class ElfSymbols final : public SymbolLookup {
public:
  std::optional<FunctionName> find(Module& module, std::uint64_t lookup_pc, std::uint64_t pc) override;
};

} // namespace sframe::modules

#pragma GCC visibility pop
