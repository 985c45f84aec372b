// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a frame, and its module: interfaces for programs that print frames. The ready
// implementations read the modules' symbol tables.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include "sframe/number_hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

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

struct NamedFrame {
  Module* module = nullptr; ///< at the frame's lookup_pc(), or nullptr
  std::optional<FunctionName> function;
};

/// The names of frames, for what names them for several purposes.
class FrameNames {
public:
  virtual ~FrameNames() = default;
  /// Valid until the next call.
  virtual const NamedFrame& symbolize(const unwind::Frame& frame) = 0;
};

/// What was found for frames, by their address: stacks repeat.
template <class Found> class FrameCache {
public:
  struct Entry {
    Found& found;
    bool added; ///< it is to be filled
  };
  /// Valid until the next call.
  Entry entry(const unwind::Frame& frame) {
    constexpr std::size_t most = 1 << 16; // more than real stacks need
    auto& cache = frame.lookup_pc() == frame.pc ? exact_pcs_ : return_addresses_;
    if (cache.size() >= most) cache.clear();
    const auto [at, added] = cache.try_emplace(frame.pc);
    return {at->second, added};
  }

private:
  std::unordered_map<std::uint64_t, Found, NumberHash> exact_pcs_, return_addresses_;
};

/// Symbol tables, as ElfSymbols. Charges names to the budget of `space`, which must outlive the object.
class ElfFrameNames final : public FrameNames {
public:
  explicit ElfFrameNames(ModuleSpace& space) : space_(space) {}
  const NamedFrame& symbolize(const unwind::Frame& frame) override;

private:
  ModuleSpace& space_;
  ElfSymbols symbols_;
  FrameCache<NamedFrame> frames_;
};

} // namespace sframe::modules

#pragma GCC visibility pop
