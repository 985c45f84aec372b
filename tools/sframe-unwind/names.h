// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printers say of a frame beyond the walk: module and function. Remembered by address, because stacks
// repeat themselves.

#pragma once

#include "sframe/walk/core_space.h"
#include "sframe/walk/symbols.h"
#include "sframe/walk/walker.h"

#include <optional>
#include <unordered_map>

namespace sframe::unwind {

struct Place {
  walk::Module* module = nullptr;
  std::optional<walk::FunctionName> function;
};

class Places {
public:
  Places(walk::AddressSpace& space, bool with_names) : space_(space), with_names_(with_names) {}

  const Place& of(const walk::Frame& frame);

private:
  walk::AddressSpace& space_;
  bool with_names_;
  walk::ElfSymbols symbols_;
  std::unordered_map<std::uint64_t, Place> exact_, behind_call_;
};

} // namespace sframe::unwind
