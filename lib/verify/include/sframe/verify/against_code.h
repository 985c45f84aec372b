// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares SFrame with the machine code: findings K201 to K306.
//
// Each function is analysed from its first row on (lib/code). Before every reachable instruction, the row
// that applies there is followed in the computed state; it must yield the CFA, the return address and the
// caller's frame pointer. What the code leaves open is not a finding by itself, but makes the function
// undecided.
//
// If the code contradicts a row and the CFI agrees with the row, SFrame reproduces wrong CFI: the compiler
// (or the author of the CFI) is the cause, and Finding::compiler is set.

#pragma once

#include "sframe/base/parallel.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

namespace sframe::verify {

/// True if the input has code that can be analysed: a linked image of an ABI that lib/code can decode.
bool has_code(const Input& input);

/// Reports contradictions by address, and adds a verdict for every function. The report does not
/// depend on the number of threads. Linear in the bytes of code; memory for functions and FDEs,
/// and for the findings of the functions being analysed.
void check_against_code(const Input& input, Workers& workers, Verdicts& verdicts, Sink& sink);

} // namespace sframe::verify
