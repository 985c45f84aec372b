// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the function starts of an SFrame section as relocated fields.

#pragma once

#include "sframe/section.h"

namespace sframe::elf {

/// Bytes of the field at the start of an index entry (specification, section 2.3).
inline unsigned start_size(const sframe::Section& section) {
  return section.header().version >= 3 ? 8 : 4;
}

} // namespace sframe::elf
