// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printers add to a frame of a walk: module, function, source. Cached by address, because stacks repeat.

#pragma once

#include "function_names.h"

#include "sframe/modules/source.h"
#include "sframe/modules/symbols.h"
#include "sframe/process/core_space.h"
#include "sframe/unwind/walker.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

struct SymbolizedFrame {
  modules::Module* module = nullptr;
  std::optional<modules::FunctionName> function;
  std::optional<modules::SourceLocation> source;
};

/// What to look up.
struct SymbolizerSettings {
  bool names = true;
  bool source = false;
  NameStyle style = NameStyle::full;
};

class Symbolizer {
public:
  /// `source`: what is kept of debug information, if several symbolizers share it; it must outlive the
  /// modules of each of them, and this object. nullptr: own.
  Symbolizer(modules::ModuleSpace& space, SymbolizerSettings settings, modules::DwarfSource* source = nullptr)
      : space_(space), settings_(settings), source_(source ? *source : own_source_) {}
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  const SymbolizedFrame& symbolize(const unwind::Frame& frame);

  /// Modules with frames that have no name, in the order of these frames, and how many addresses that are.
  /// Empty if no names are looked up.
  std::span<const std::pair<modules::Module*, std::size_t>> unnamed() const { return unnamed_; }

private:
  void apply_style(SymbolizedFrame& symbols) const;
  void note_unnamed(modules::Module* module);
  void charge(const SymbolizedFrame& symbols) const;

  modules::ModuleSpace& space_;
  SymbolizerSettings settings_;
  modules::ElfSymbols symbols_;
  modules::DwarfSource own_source_;
  modules::DwarfSource& source_;
  std::unordered_map<std::uint64_t, SymbolizedFrame> exact_pcs_, return_addresses_;
  std::vector<std::pair<modules::Module*, std::size_t>> unnamed_;
};

} // namespace sframe::unwind_tool
