// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and lines for addresses: the module, the function and the source line of an address in a core, a live
// process or this program, for profilers and error reporters that have addresses only (docs/symbols.md).
//
//   AddressNames names(process.space());
//   const AddressName name = names.find(pc, AddressKind::return_address);
//   std::puts(address_text(name, pc).c_str()); // "work + 0x2a  (server)  server.c:23"

#pragma once

#include "sframe/modules/module.h"
#include "sframe/modules/source.h"
#include "sframe/modules/symbols.h"

#include <cstdint>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::modules {

enum class AddressKind : std::uint8_t {
  instruction,    ///< of one that was executed or is about to be: a first frame, a signal frame's caller
  return_address, ///< the call is before it: names and lines are those of the call
};

struct AddressName {
  Module* module = nullptr;        ///< valid for the life of the address space; nullptr: in none
  std::uint64_t module_offset = 0; ///< of the address from the module's start
  std::uint64_t file_address = 0;  ///< the address in the module's file, as symbolizers of files take it
  std::optional<FunctionName> function;
  std::optional<SourceLocation> source; ///< with inlined calls
};

/// For one thread at a time.
class AddressNames {
public:
  /// Whether lines are looked up, which takes time in proportion to the debug information.
  enum class Lines : bool { no, yes };

  /// `space` must outlive the object. Opens nothing.
  explicit AddressNames(ModuleSpace& space, Lines lines = Lines::yes) : space_(space), lines_(lines) {}

  /// The first address of a module opens its file, its debug file and their tables; they are kept. Further
  /// ones cost a binary search in each, and the demangling of the name.
  AddressName find(std::uint64_t address, AddressKind kind);

private:
  ModuleSpace& space_;
  const Lines lines_;
  ElfSymbols symbols_;
  DwarfSource source_;
};

/// For people: function, module and line, as far as they are known, else the address: "work + 0x2a  (server)
/// server.c:23", "(libc.so.6 + 0x2724a)", "0x7f1558bc524a". Names may have any bytes.
std::string address_text(const AddressName& name, std::uint64_t address);

} // namespace sframe::modules

#pragma GCC visibility pop
