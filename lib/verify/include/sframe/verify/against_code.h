// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing SFrame with the machine code: findings K201 to K306.
//
// Each function is analysed from its first row on (lib/code); before every instruction that control reaches, the
// row that holds there is followed in the computed state, and must lead to the CFA, the return address and the
// caller's frame pointer. What the code leaves open is never a finding of its own but makes the function undecided.
//
// A row that the code contradicts while the CFI says the same was copied faithfully: the compiler (or whoever wrote
// the CFI) is to blame, Finding::compiler says so.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

namespace sframe::verify {

/// True where the input has code that can be analysed: a linked image of an ABI that lib/code can decode.
bool has_code(const Input& input);

/// Reports contradictions by address, and adds a verdict for every function. On up to `threads` threads; what is
/// reported does not depend on their number. Linear in the bytes of code; memory for functions and FDEs, and for the
/// findings of the functions being analysed.
void check_against_code(const Input& input, unsigned threads, Verdicts& verdicts, Sink& sink);

} // namespace sframe::verify
