// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what is known of an ABI's faults.

#include "fault_abi.h"

#include <utility>

namespace sframe::crash {

const FaultAbi& fault_abi(Abi id) {
  switch (id) {
// clang-format off
#define SFRAME_DEFINE_ABI(name, identifier) case Abi::name: return abi::name;
#include "sframe/abis.def"
    // clang-format on
  }
  std::unreachable(); // there are no others than those of abis.def
}

} // namespace sframe::crash
