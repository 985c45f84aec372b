// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: sections to tables. `base` is the module's first address; what is not within 4 GiB behind it is
// left out, as are functions whose rows are faulty from the fault on.

#pragma once

#include "module.h"
#include "rules.h"

#include <array>

namespace sframe::here {

/// All functions of .eh_frame, with the rules of all registers. False where memory ran out, for what the
/// tables do not know of themselves.
bool compile_cfi(const SectionBytes& section, std::uint64_t base, RuleSet& rules, RowTable& rows);

/// All functions of .sframe: CFA, RA and FP. Likewise.
bool compile_sframe(const SectionBytes& section, std::uint64_t base, RuleSet& rules, RowTable& rows);

/// The rule at a function's first instruction: its operations.
std::array<Operation, 2> entry_operations();

} // namespace sframe::here
