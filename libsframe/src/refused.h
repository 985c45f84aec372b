// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What adding functions and laying them out have in common: the limit of 32-bit fields, and refusals.
#pragma once

#include "sframe/builder.h"

#include <expected>

namespace sframe {

inline constexpr std::uint64_t max_u32 = 0xffffffff;

inline std::unexpected<Refusal> refused(RefusalReason reason, const Fde& fde,
                                        std::uint32_t row = Refusal::none) {
  return std::unexpected(Refusal{reason, row, fde.start});
}

} // namespace sframe
