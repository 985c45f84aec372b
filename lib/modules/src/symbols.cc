// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/modules/symbols.h"

#include "sframe/names/demangle.h"

namespace sframe::modules {

std::optional<FunctionName> ElfSymbols::find(Module& module, std::uint64_t lookup_pc, std::uint64_t pc) {
  const auto match = module.symbols().find(module.link(lookup_pc));
  if (!match) return std::nullopt;
  Budget* budget = module.file_options().budget.get();
  const auto& name = match->symbol->name;
  return FunctionName{names::demangle(name, budget), match->offset + (pc - lookup_pc), std::string(name)};
}

std::optional<FunctionName> function_of(const unwind::Frame& frame, Module* module, SymbolLookup& symbols) {
  if (!module) return symbols.find_outside(frame.lookup_pc(), frame.pc);
  // No call precedes the first byte of a signal trampoline: its name is found by the pc itself.
  if (frame.signal_frame)
    if (auto exact = symbols.find(*module, frame.pc, frame.pc)) return exact;
  return symbols.find(*module, frame.lookup_pc(), frame.pc);
}

const NamedFrame& ElfFrameNames::symbolize(const unwind::Frame& frame) {
  const auto [named, added] = frames_.entry(frame);
  if (!added) return named;
  named.module = space_.module_at(frame.lookup_pc());
  named.function = function_of(frame, named.module, symbols_);
  // So that a walk ends when the budget is used up.
  if (Budget* const budget = space_.budget(); budget && named.function)
    budget->take(Resource::name_bytes, named.function->name.size());
  return named;
}

} // namespace sframe::modules
