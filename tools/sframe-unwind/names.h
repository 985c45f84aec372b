// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printers add to a frame of a walk: module, function, source. Cached by address, because stacks repeat.

#pragma once

#include "sframe/modules/source.h"
#include "sframe/modules/symbols.h"
#include "sframe/process/core_space.h"
#include "sframe/unwind/walker.h"

#include <optional>
#include <unordered_map>

namespace sframe::unwind_tool {

struct Place {
  modules::Module* module = nullptr;
  std::optional<modules::FunctionName> function;
  std::optional<modules::SourcePlace> source;
};

/// What to look up.
struct PlaceSettings {
  bool names = true;
  bool source = false;
};

class Places {
public:
  Places(modules::ModuleSpace& space, PlaceSettings settings) : space_(space), settings_(settings) {}

  const Place& of(const unwind::Frame& frame);

private:
  void pay(const Place& place) const;

  modules::ModuleSpace& space_;
  PlaceSettings settings_;
  modules::ElfSymbols symbols_;
  modules::DwarfSource source_;
  std::unordered_map<std::uint64_t, Place> exact_, behind_;
};

} // namespace sframe::unwind_tool
