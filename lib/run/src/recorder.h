// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the files that a program has mapped, with their decoded instructions and the faults of their rows.

#pragma once

#include "sframe/run/run.h"
#include "sframe/run/shadow_stack.h"
#include "sframe/unwind/row_step.h"

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace sframe::run {

/// An instruction as it was decoded when it was executed for the first time.
struct Decoded {
  code::Instruction instruction; ///< addresses as in the file
  std::vector<code::Effect> effects;
  std::optional<verify::RowTable::Match> row;
  verify::RunInstruction seen;
};

/// A file that the program has mapped.
struct MappedFile {
  std::string path;
  elf::File::Id id;
  std::optional<verify::RowTable> rows;            ///< empty: not verified
  std::unordered_map<std::uint64_t, Decoded> code; ///< by address in the file
};

/// Compares what a row leads to with the caller, which is nullptr before the first call. Adds to the
/// instruction's faults, unless it is not known what is right.
Unknown compare(const verify::RowTable::Match& row, const AbiTraits& abi, const unwind::Registers& registers,
                unwind::Memory& memory, const Call* caller, verify::RunInstruction& seen);

/// The instructions of a file, by address.
verify::RunRecord record_of(MappedFile& file);

} // namespace sframe::run
