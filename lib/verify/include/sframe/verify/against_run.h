// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares SFrame with what happened while a program ran: findings R401 to R406. lib/run makes the record:
// it follows the program instruction by instruction, and keeps a shadow stack of its calls.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

#include <cstdint>
#include <vector>

namespace sframe::verify {

/// How a row was wrong.
enum class RunFault : std::uint8_t {
  cfa,       ///< it led to another CFA
  ra,        ///< to another return address
  fp,        ///< to another frame pointer of the caller
  no_caller, ///< it has a caller where the program starts
  outermost, ///< it has no caller, but the code was called
};

/// A fault at one instruction.
struct RunMismatch {
  std::uint64_t address = 0; ///< of the instruction, in the file
  RunFault fault{};
  std::uint64_t times = 0;
  // Of the first time.
  bool computed = false; ///< false: the rule could not be applied, since it needs memory that does not exist
  std::uint64_t expected = 0, found = 0; ///< addresses and values in the process
};

/// An instruction that was executed.
struct RunInstruction {
  std::uint64_t address = 0; ///< in the file
  std::uint8_t length = 0;   ///< bytes
  bool has_row = false;
  std::uint64_t visits = 0;
  std::uint64_t compared = 0; ///< of them, those with a row whose caller was known
};

/// What was executed of one file.
struct RunRecord {
  std::vector<RunInstruction> instructions; ///< by address
  std::vector<RunMismatch> mismatches;      ///< by address of an instruction, then by fault
};

/// Reports each fault of an instruction once, neighbouring ones together, and adds a verdict for every
/// function; one that was not reached keeps the verdict of another check. If the CFI has the same rules,
/// Finding::compiler is set. N log N in the functions and FDEs, linear in the record.
RunCoverage check_against_run(const Input& input, const RunRecord& record, Verdicts& verdicts, Sink& sink);

} // namespace sframe::verify
