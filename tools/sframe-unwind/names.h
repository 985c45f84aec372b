// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printers say of a frame beyond the walk: module, function, source. Remembered by address, because
// stacks repeat themselves.

#pragma once

#include "sframe/walk/core_space.h"
#include "sframe/walk/source.h"
#include "sframe/walk/symbols.h"
#include "sframe/walk/walker.h"

#include <optional>
#include <unordered_map>

namespace sframe::unwind {

struct Place {
  walk::Module* module = nullptr;
  std::optional<walk::FunctionName> function;
  std::optional<walk::SourcePlace> source;
};

/// What to look up.
struct PlaceSettings {
  bool names = true;
  bool source = false;
};

class Places {
public:
  Places(walk::AddressSpace& space, PlaceSettings settings) : space_(space), settings_(settings) {}

  const Place& of(const walk::Frame& frame);

private:
  void pay(const Place& place) const;

  walk::AddressSpace& space_;
  PlaceSettings settings_;
  walk::ElfSymbols symbols_;
  walk::DwarfSource source_;
  std::unordered_map<std::uint64_t, Place> exact_, behind_;
};

} // namespace sframe::unwind
