// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printers add to a frame of a walk: module, function, source. Cached by address, because stacks repeat.

#pragma once

#include "source_text.h"

#include "sframe/languages/perf_map.h"
#include "sframe/modules/source.h"
#include "sframe/modules/symbols.h"
#include "sframe/names/function_names.h"
#include "sframe/process/core_space.h"
#include "sframe/unwind/walker.h"
#include "sframe/variables/variables.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

struct SymbolizedFrame : modules::NamedFrame {
  /// Without a name, the FDE for the frame. It is not a symbol: linkers and compilers write several for some
  /// functions, and one for all stubs.
  struct Fde {
    std::uint64_t start = 0;  ///< as addresses are in the file
    std::uint64_t offset = 0; ///< of the pc
  };
  std::optional<Fde> fde;
  std::optional<modules::SourceLocation> source;
  /// The text at each inlined call of `source`, then that at its end; empty where no file is found.
  std::vector<SourceLines> text;
};

/// What to look up.
struct SymbolizerSettings {
  bool names = true;
  bool source = false;
  names::NameStyle style = names::NameStyle::full;
  std::vector<std::string> source_dirs;
  std::shared_ptr<const languages::PerfMap> perf_map; ///< names of code in no module; may be nullptr
  variables::Settings variables;                      ///< used if there are steppers for them
};

class Symbolizer final : public modules::FrameNames {
public:
  /// `steppers`: with which the callers of frames are found, for the values of variables; else none.
  /// `debug_info`: if several symbolizers share it. nullptr: own.
  Symbolizer(modules::ModuleSpace& space, const SymbolizerSettings& settings,
             unwind::StepperList steppers = {},
             std::shared_ptr<modules::DebugInfoCache> debug_info = nullptr);

  const SymbolizedFrame& symbolize(const unwind::Frame& frame) override;

  /// The variables of a frame, as variables::Finder has them; empty if there are no steppers.
  std::vector<variables::Scope> variables(const unwind::Frame& frame, const unwind::Registers& registers) {
    return variables_ ? variables_->find(frame, registers) : std::vector<variables::Scope>();
  }
  /// True if frames may have variables.
  bool has_variables() const { return variables_.has_value(); }
  /// What it has opened, for others that look into it.
  std::shared_ptr<modules::DebugInfoCache> debug_info() const { return debug_info_; }
  /// Call this when the process has run.
  void forget_memory() {
    if (variables_) variables_->forget_memory();
  }

  /// Modules with frames that have no name, in the order of these frames, and how many addresses that are.
  /// Empty if no names are looked up.
  std::span<const std::pair<modules::Module*, std::size_t>> unnamed() const { return unnamed_; }

  bool wants_source() const { return settings_.source; }
  /// A module in which the place of the crash was not looked for, because of the size of its debug
  /// information.
  void note_not_searched(modules::Module& module) { not_searched_ = &module; }
  modules::Module* not_searched() const { return not_searched_; }

private:
  void apply_style(SymbolizedFrame& symbols) const;
  void note_unnamed(modules::Module* module);
  static void find_fde(SymbolizedFrame& symbols, const unwind::Frame& frame);
  void find_text(SymbolizedFrame& symbols);
  void charge(const SymbolizedFrame& symbols) const;

  modules::ModuleSpace& space_;
  SymbolizerSettings settings_;
  modules::ElfSymbols symbols_;
  std::shared_ptr<modules::DebugInfoCache> debug_info_;
  modules::DwarfSource source_;
  SourceText text_;
  std::optional<variables::Finder> variables_;
  modules::FrameCache<SymbolizedFrame> frames_;
  std::vector<std::pair<modules::Module*, std::size_t>> unnamed_;
  modules::Module* not_searched_ = nullptr;
};

} // namespace sframe::unwind_tool
