// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code as a third witness where SFrame and the CFI differ. It is analysed only there.

#pragma once

#include "cfi_rows.h"
#include "sframe/code/callees.h"
#include "sframe/generate/fde_analyzer.h"
#include "sframe/verify/input.h"

#include <optional>
#include <vector>

namespace sframe::verify {

class CodeWitness {
public:
  /// For an input that has_code(). It must outlive the object. Not for several threads at once.
  explicit CodeWitness(const Input& input);

  /// If the code proves `row` right at every instruction in [begin, end), which are in the FDE: what it says
  /// of both, as a static text. Else nullptr. Linear in the function; takes code_steps from the input's
  /// budget, and is nullptr if that is used up.
  const char* confirms(const FrameRow& row, const CfiRule& cfi, const OpenFde& fde, std::uint64_t begin,
                       std::uint64_t end);

private:
  const code::Results* analyse(const OpenFde& fde);

  const Input& input_;
  const AbiTraits& abi_;
  code::Callees callees_;
  generate::FdeAnalyzer analyzer_;
  std::optional<std::uint64_t> analysed_; ///< start of the function with results_
  const code::Results* results_ = nullptr;
};

} // namespace sframe::verify
