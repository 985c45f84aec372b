// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The landing pads of a function, as the analysis of its code takes them.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/code/analysis.h"
#include "sframe/elf/image.h"

#include <vector>

namespace sframe::generate {

/// The calls of an FDE's function that have a landing pad, from its language-specific data area; those before
/// the first fault if the area is damaged. Takes section_bytes from the budget, if given. Linear in the area.
std::vector<code::CallSite> call_sites(const elf::Image& image, const cfi::Fde& fde, const AbiTraits& abi,
                                       Budget* budget);

} // namespace sframe::generate
