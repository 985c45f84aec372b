// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: checks the relocations of .sframe in a relocatable object (S018): one per function, for its start.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

namespace sframe::verify {

/// Does nothing unless the section is in a relocatable object. Functions without a relocation give one
/// finding per section. N log N in the relocations.
void check_relocations(const Input& input, Sink& sink);

} // namespace sframe::verify
