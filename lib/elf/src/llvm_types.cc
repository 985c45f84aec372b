// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/llvm_types.h"

namespace sframe::elf {

Problem to_problem(llvm::Error error, std::string_view section) {
  std::string what = llvm::toString(std::move(error));
  while (what.ends_with('\n') || what.ends_with('.')) what.pop_back();
  return {std::move(what), std::string(section), std::nullopt};
}

} // namespace sframe::elf
