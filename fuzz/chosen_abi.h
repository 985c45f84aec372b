// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the ABI for the bytes of an input that say nothing of it.

#pragma once

#include "sframe/abi.h"

#include <cstdint>

namespace sframe::fuzz {

/// Each of them for some of an input's first bytes. Static.
inline const AbiTraits& chosen_abi(std::uint8_t first) {
  const auto abis = all_abis();
  return *abis[first % abis.size()];
}

} // namespace sframe::fuzz
