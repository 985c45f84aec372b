// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the source a frame is: a plug-in of whoever prints frames, like symbols.h. The ready one reads
// DWARF: the module's own, or its separate debug file's.

#pragma once

#include "sframe/modules/module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sframe::modules {

struct SourceLine {
  std::string file; ///< with its folder, as the compiler was given it
  std::uint32_t line = 0;
};

/// A call that the compiler replaced by the called function's body.
struct InlinedCall {
  std::string function; ///< that was called; demangled; empty where its name is not known
  SourceLine at;        ///< in it
};

/// The source of a frame: innermost inlined call first, then the place in the function that has the frame.
struct SourcePlace {
  std::vector<InlinedCall> inlined;
  SourceLine at;
};

class SourceLookup {
public:
  virtual ~SourceLookup() = default;
  /// The place of the instruction at `lookup_pc` (the pc, or one less for a return address), an address in
  /// the process; nothing where it is not known.
  virtual std::optional<SourcePlace> find(Module& module, std::uint64_t lookup_pc) = 0;
};

/// DWARF line tables and inlined subroutines. Opens what it needs at the first question about a module, and
/// keeps it: memory grows with the units that frames are in.
class DwarfSource final : public SourceLookup {
public:
  DwarfSource();
  ~DwarfSource() override;
  std::optional<SourcePlace> find(Module& module, std::uint64_t lookup_pc) override;

private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

} // namespace sframe::modules
