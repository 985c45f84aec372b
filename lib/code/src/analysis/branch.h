// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a conditional branch tells of the state on either side, by the compare before it. After
//
//     cmp $7,%edi; ja elsewhere
//
// the register is 0 to 7 where the branch is not taken, which makes it the index of a jump table; after
// `cmp %rax,%rsp; jne loop`, SP is what the other register is, which ends loops that probe the stack.

#pragma once

#include "subject.h"

#include <span>

namespace sframe::code {

/// Refines the state on one side of a branch. False if control cannot go there. `conflicts`: those that the
/// state names.
bool refine(const Instruction& branch, bool taken, State& state, const Subject& subject,
            std::span<const Conflict> conflicts);

} // namespace sframe::code
