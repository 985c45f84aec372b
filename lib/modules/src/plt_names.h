// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of linker-generated stubs, as disassemblers show them: "malloc@plt". No symbol table has them. A stub
// is that of the function whose name the dynamic relocation of its pointer has (.rela.plt, or .rela.dyn for
// stubs of functions whose address is taken, too); so it does not matter how the linker lays stubs out.

#pragma once

#include "sframe/elf/image.h"
#include "sframe/elf/symbols.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace sframe::modules {

class PltNames {
public:
  PltNames() = default;
  PltNames(PltNames&&) = default; // a copy would refer to the names of the original
  PltNames& operator=(PltNames&&) = default;

  /// Without section headers, or if the budget is used up, some or all names are missing. Linear in the stubs
  /// and the dynamic relocations.
  static PltNames load(const elf::Image& image);

  /// The stub that contains the address. Logarithmic. Valid for the life of the object.
  std::optional<elf::SymbolTable::Match> find(std::uint64_t address) const;

private:
  std::vector<elf::Symbol> stubs_; ///< by address
  std::deque<std::string> names_;  ///< of stubs_; never moved
};

} // namespace sframe::modules
