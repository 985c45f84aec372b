// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::repair: finds rows of an FDE that its code contradicts, and the rows that the code proves right in
// their place. sframe-verify reports the same contradictions as K201 to K206, K211 and K212.

#pragma once

#include "sframe/code/callees.h"
#include "sframe/generate/fde_analyzer.h"
#include "sframe/generate/report.h"

#include <span>
#include <vector>

namespace sframe::generate {

class Repairer {
public:
  /// Takes code_steps from `budget`; what is past it is not repaired. Not for several threads at once;
  /// `callees` may be shared. All references must outlive the object.
  Repairer(const elf::Image& image, code::Callees& callees, Budget& budget);

  /// The repairs of an FDE, by address, disjoint: valid until the next call. Rows that cannot be represented,
  /// and PLTs, are not repaired. Linear in the function's code.
  std::span<const Repair> find(const cfi::CfiSection& section, const cfi::Fde& fde);

  /// The analysis of that FDE.
  const FdeAnalyzer& analyzer() const { return analyzer_; }

private:
  void visit(const code::Reached& at);

  const AbiTraits& abi_;
  Budget& budget_;
  FdeAnalyzer analyzer_;
  const code::Results* results_ = nullptr;
  std::uint64_t start_ = 0; ///< of the current FDE
  bool switches_stack_ = false;
  std::vector<Repair> repairs_;
};

} // namespace sframe::generate
