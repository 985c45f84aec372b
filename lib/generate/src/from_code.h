// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions without CFI, from their instructions (Options::code).
//
// Starts are found by symbols, by pointers that the dynamic loader relocates, by calls and jumps seen in code
// that was analysed, and last by place: what follows a function and its padding. Each is analysed as if it
// were called. A start is accepted only with a second witness, since control may enter code in other ways (a
// cold part of a function, an interrupt): a return at the height of the assumed entry, a call from accepted
// code, or a jump with the same row from or to accepted code. Code that accepted functions enter by jumps
// with another row, all with the same one, is analysed again with that row. Where accepted code contradicts
// other accepted code, neither gets rows.

#pragma once

#include "sframe/generate/from_cfi.h"

namespace sframe::generate {

/// Adds functions for executable code outside `described`, which has all addresses of CFI and stubs, to
/// `out`. Needs CfiInput::image. The result does not depend on Options::threads. Takes code_steps from the
/// image's budget. Memory grows with the functions found; time is linear in their size, but code that no
/// start reaches is looked at in several rounds, at most max_rounds.
void add_from_code(const CfiInput& input, const AddressSet& described, const Options& options,
                   Conversion& out);

} // namespace sframe::generate
