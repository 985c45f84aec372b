// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analyses the code of one FDE after another, with what the CFI says of it: its first row is the entry's, its
// rows settle what code leaves open, and its language-specific data area has the landing pads.

#pragma once

#include "sframe/cfi/frame_row.h"
#include "sframe/code/analysis.h"
#include "sframe/elf/image.h"

#include <span>
#include <vector>

namespace sframe::generate {

class FdeAnalyzer {
public:
  /// Takes code_steps and section_bytes from `budget`, unless it is nullptr. Not for several threads at once.
  /// All references must outlive the object.
  FdeAnalyzer(const elf::Image& image, code::Environment& environment, Budget* budget);

  /// The results for an FDE, valid until the next call. nullptr if there is nothing to compare with: a signal
  /// frame, which the kernel has set up, a first row that cannot be represented, or code that is not in the
  /// file. Linear in the function's code.
  const code::Results* run(const cfi::CfiSection& section, const cfi::Fde& fde);

  /// What the last run() returned.
  const code::Results* results() const { return results_; }

  /// The rows of that FDE by offset, up to the first error. Those that cannot be represented are outermost.
  std::span<const FrameRow> rows() const { return rows_; }
  /// False if that FDE has an error after these.
  bool complete() const { return complete_; }

private:
  const elf::Image& image_;
  const AbiTraits& abi_;
  code::Environment& environment_;
  Budget* budget_;
  code::Analyzer analyzer_;
  std::vector<FrameRow> rows_, hints_; ///< hints_: those that can be represented
  std::vector<code::CallSite> call_sites_;
  const code::Results* results_ = nullptr;
  bool complete_ = false;
};

} // namespace sframe::generate
