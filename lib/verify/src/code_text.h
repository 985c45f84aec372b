// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed states in words.

#pragma once

#include "sframe/code/analysis.h"
#include "sframe/elf/image.h"

#include <string>

namespace sframe::verify {

/// What the code makes true, as a row: "cfa=sp+24 ra=[cfa-8] fp=same"; where no row does, what is known of
/// SP.
std::string state_text(const code::State& state, const AbiTraits& abi);

/// How following a rule goes wrong: "the CFA rule sp+16 gives CFA-8".
std::string rule_contradiction(std::string_view what, const Rule& rule, const code::RuleCheck& check,
                               const AbiTraits& abi);

/// Which values meet where a rule rests on a conflict.
std::string conflict_text(const code::RowCheck& check, const code::Results& results, const AbiTraits& abi);

/// Which rule of a row rests on something that is not known.
std::string unknown_text(const code::RowCheck& check);

/// True where a rule rests on a conflict between values of which one is in terms of an SP that is not known.
bool rests_on_unknown_sp(const code::RowCheck& check, const code::Results& results);

/// What is wrong at a return.
std::string return_text(const code::State& state, const AbiTraits& abi);

/// The instruction as its assembler writes it.
std::string instruction_text(const elf::Image& image, const code::Instruction& instruction,
                             const AbiTraits& abi);

} // namespace sframe::verify
