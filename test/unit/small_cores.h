// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small cores of other machines in the lit tests' inputs.

#pragma once

#include "inputs.h"

#include "sframe/remote/targets.h"

#include <memory>
#include <string>
#include <vector>

namespace sframe::test {

/// nullptr if this build cannot decompress it.
inline std::unique_ptr<remote::CoreTarget> open_small_core(const std::string& machine) {
  auto target = remote::CoreTarget::open(small_cores() / (machine + ".core.zst"),
                                         {.executable = small_cores() / (machine + ".elf")});
  return target ? std::move(*target) : nullptr;
}

/// The expected stack, innermost first; "[signal]" for trampolines.
inline std::vector<std::string> small_core_calls() {
  return {"die",     "second",  "[signal]", "leaf",    "handler", "[signal]", "faulting",
          "recurse", "recurse", "recurse",  "recurse", "enter",   "_start"};
}

} // namespace sframe::test
