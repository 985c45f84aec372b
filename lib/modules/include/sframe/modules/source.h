// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source position of a frame: an interface for programs that print frames, like symbols.h. The ready
// implementation reads DWARF: the module's own, or its separate debug file's.

#pragma once

#include "sframe/modules/debug_info_cache.h"
#include "sframe/modules/module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::modules {

struct SourceLine {
  std::string file; ///< with its folder, as given to the compiler
  std::uint32_t line = 0;
};

/// A call that the compiler inlined.
struct InlinedCall {
  std::string function; ///< the called function, demangled; empty if unknown
  SourceLine at;        ///< in it
};

/// The source of a frame: inlined calls, innermost first, then the place in the frame's function.
struct SourceLocation {
  std::vector<InlinedCall> inlined;
  SourceLine at;
};

class SourceLookup {
public:
  virtual ~SourceLookup() = default;
  /// The source place of the instruction at `lookup_pc`, an address in the process (the pc, or one less for
  /// a return address); nothing if unknown.
  virtual std::optional<SourceLocation> find(Module& module, std::uint64_t lookup_pc) = 0;
};

/// DWARF line tables and inlined subroutines; of Go's code without DWARF, the line in Go's own table, with
/// the innermost of inlined calls only, without its name. Opens them at the first query for a module and
/// keeps them: memory grows with the number of units used.
class DwarfSource final : public SourceLookup {
public:
  /// `cache` may be shared with other lookups.
  explicit DwarfSource(std::shared_ptr<DebugInfoCache> cache = std::make_shared<DebugInfoCache>());
  ~DwarfSource() override;
  std::optional<SourceLocation> find(Module& module, std::uint64_t lookup_pc) override;

private:
  std::shared_ptr<DebugInfoCache> cache_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
