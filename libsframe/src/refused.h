// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What adding functions and laying them out have in common: the limit of 32-bit fields, and refusals.
#pragma once

#include "sframe/builder.h"
#include "sframe/expected.h"

namespace sframe {

inline constexpr std::uint64_t max_u32 = 0xffffffff;

inline unexpected<Refusal> refused(RefusalReason reason, const Fde& fde, std::uint32_t row = Refusal::none) {
  return unexpected(Refusal{reason, row, fde.start});
}

} // namespace sframe
