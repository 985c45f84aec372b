// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a core file: header, notes, memory and modules, and the modules' tables in memory,
// queried at addresses in the modules.

#include "core_checks.h"

namespace core_fuzzer {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sframe::fuzz::check_core(data, size);
}

} // namespace core_fuzzer
