// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names.h"

#include <algorithm>
#include <utility>

namespace sframe::unwind_tool {

Symbolizer::Symbolizer(modules::ModuleSpace& space, const SymbolizerSettings& settings,
                       unwind::StepperList steppers, std::shared_ptr<modules::DebugInfoCache> debug_info)
    : space_(space), settings_(settings),
      debug_info_(debug_info ? std::move(debug_info) : std::make_shared<modules::DebugInfoCache>()),
      source_(debug_info_), text_(settings.source_dirs) {
  if (!steppers.empty()) variables_.emplace(space, std::move(steppers), debug_info_, settings.variables);
}

const SymbolizedFrame& Symbolizer::symbolize(const unwind::Frame& frame) {
  const auto [symbols, added] = frames_.entry(frame);
  if (!added) return symbols;
  symbols.module = space_.module_at(frame.lookup_pc());
  if (symbols.module && settings_.source) symbols.source = source_.find(*symbols.module, frame.lookup_pc());
  if (symbols.source) find_text(symbols);
  if (settings_.names) symbols.function = modules::function_of(frame, symbols.module, symbols_);
  if (settings_.names && !symbols.module && settings_.perf_map)
    symbols.function = settings_.perf_map->find(frame.lookup_pc(), frame.pc);
  apply_style(symbols);
  if (settings_.names && !symbols.function && symbols.module) {
    note_unnamed(symbols.module);
    find_fde(symbols, frame);
  }
  charge(symbols);
  return symbols;
}

/// Names of inlined calls are in debug information, which mostly has the mangled name, too; only one is kept.
void Symbolizer::apply_style(SymbolizedFrame& symbols) const {
  if (symbols.function) {
    const std::string& symbol = symbols.function->symbol;
    if (!symbol.empty() && (settings_.style != names::NameStyle::full || names::is_ocaml(symbol)))
      symbols.function->name = names::function_name(symbol, settings_.style, space_.budget());
  }
  if (settings_.style != names::NameStyle::shortened || !symbols.source) return;
  for (modules::InlinedCall& call : symbols.source->inlined)
    call.function = names::shortened_name(call.function);
}

void Symbolizer::find_fde(SymbolizedFrame& symbols, const unwind::Frame& frame) {
  const auto range = symbols.module->find_function(frame.lookup_pc());
  if (range) symbols.fde = {symbols.module->link(range->start).value, frame.pc - range->start};
}

void Symbolizer::find_text(SymbolizedFrame& symbols) {
  const auto add = [&](const modules::SourceLine& at) {
    symbols.text.push_back(text_.find(*symbols.module, at).value_or(SourceLines()));
  };
  for (const modules::InlinedCall& call : symbols.source->inlined) add(call.at);
  add(symbols.source->at);
}

void Symbolizer::note_unnamed(modules::Module* module) {
  const auto known = std::ranges::find(unnamed_, module, &std::pair<modules::Module*, std::size_t>::first);
  if (known != unnamed_.end())
    ++known->second;
  else
    unnamed_.emplace_back(module, 1);
}

/// Charges the name to the budget, as the source lookup did with its names: the walk ends when it is used up.
void Symbolizer::charge(const SymbolizedFrame& symbols) const {
  Budget* const budget = space_.budget();
  if (!budget) return;
  if (symbols.function) budget->take(Resource::name_bytes, symbols.function->name.size());
}

} // namespace sframe::unwind_tool
