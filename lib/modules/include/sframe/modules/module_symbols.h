// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols of a module: those of the file, those of the separate debug file if the file has only dynamic
// ones, and those of .gnu_debugdata, which complement the dynamic ones. Functions of Go without any have one
// from Go's own table.

#pragma once

#include "sframe/base/lazy.h"
#include "sframe/elf/go_functions.h"
#include "sframe/elf/symbols.h"
#include "sframe/modules/address.h"
#include "sframe/modules/debug_files.h"
#include "sframe/modules/module_file.h"

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::modules {

class ModuleSymbols {
public:
  using Match = elf::SymbolTable::Match;

  /// Both must outlive the object. `procedure`: the only symbol, of generated code without an image; without
  /// a size if there is none.
  ModuleSymbols(ModuleFile& file, DebugFiles& debug, elf::Symbol procedure)
      : file_(file), debug_(debug), procedure_(procedure) {}

  /// The function that contains the address.
  std::optional<Match> find(LinkAddress address);

  /// The address of a symbol, usually a variable, as in elf::find_definition(). Opens the file, but does not
  /// count as use of the module.
  std::optional<Address> find_definition(std::string_view name);

  /// Go's own table; nullptr if the module has none.
  const elf::GoFunctions* go_functions();
  /// The source line of Go's code by that table.
  std::optional<elf::GoFunctions::Line> find_go_line(LinkAddress address);

  /// Where names of functions come from.
  enum class Source : std::uint8_t {
    none,
    dynamic,   ///< exported functions only: .dynsym
    full,      ///< .symtab of the file or of the debug file
    debugdata, ///< .gnu_debugdata, and .dynsym
  };
  Source source();

private:
  const elf::SymbolTable& table();
  const elf::SymbolTable& load_table();
  std::optional<Match> find_in_files(LinkAddress address);
  std::optional<Match> find_in_table(LinkAddress address);
  std::optional<Match> find_in_object(const elf::Image& object, LinkAddress address);
  void read_debugdata();

  ModuleFile& file_;
  DebugFiles& debug_;
  const elf::Symbol procedure_;
  Lazy<const elf::SymbolTable*> table_; ///< of the file or of the separate debug file
};

} // namespace sframe::modules

#pragma GCC visibility pop
