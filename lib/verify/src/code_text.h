// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes computed states in words.

#pragma once

#include "sframe/code/analysis.h"
#include "sframe/elf/image.h"

#include <string>

namespace sframe::verify {

/// The row that is correct for the state: "cfa=sp+24 ra=[cfa-8] fp=same"; if there is none, what is known of
/// SP.
std::string state_text(const code::State& state, const AbiTraits& abi);

/// How a rule is contradicted: "the CFA rule sp+16 yields CFA-8".
std::string rule_contradiction(std::string_view what, const Rule& rule, const code::RuleCheck& check,
                               const AbiTraits& abi);

/// The values that meet if a rule depends on a conflict.
std::string conflict_text(const code::RowCheck& check, const code::Results& results, const AbiTraits& abi);

/// The rule of a row that depends on an unknown value.
std::string unknown_text(const code::RowCheck& check);

/// True if a rule depends on a conflict in which one value is relative to an unknown SP.
bool rests_on_unknown_sp(const code::RowCheck& check, const code::Results& results);

/// What is wrong at a return.
std::string return_text(const code::State& state, const AbiTraits& abi);

/// The instruction in assembler syntax.
std::string instruction_text(const elf::Image& image, const code::Instruction& instruction,
                             const AbiTraits& abi);

} // namespace sframe::verify
