// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: compiles sections to tables. `base` is the module's first address. Leaves out what is not within
// 4 GiB after it, and the rows of a function from the first invalid one on.

#pragma once

#include "module.h"
#include "rules.h"

#include <array>

namespace sframe::here {

/// All functions of .eh_frame, with the rules of all registers. False if memory ran out in a way that the
/// tables do not detect themselves.
bool compile_cfi(const SectionBytes& section, std::uint64_t base, RulePool& rules, RowTable& rows);

/// All functions of .sframe, likewise: CFA, RA and FP.
bool compile_sframe(const SectionBytes& section, std::uint64_t base, RulePool& rules, RowTable& rows);

/// The operations of the rule at a function's first instruction.
std::array<Operation, 2> entry_operations();

} // namespace sframe::here
