// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/verdicts.h"

namespace sframe::verify {

Verdicts::Verdicts(const Input& input) {
  std::uint64_t first = 0;
  for (const SframePart& part : input.parts()) {
    first_.push_back(first);
    first += part.section.num_fdes();
  }
  marks_.resize(first);
}

Summary Verdicts::summary() const {
  Summary summary{.functions = marks_.size()};
  for (const Verdict verdict : marks_) {
    switch (verdict) {
    case Verdict::agree: ++summary.agree; break;
    case Verdict::contradiction_in_cfi: ++summary.contradiction_in_cfi; [[fallthrough]];
    case Verdict::contradiction: ++summary.contradiction; break;
    case Verdict::unreached: ++summary.unreached; break;
    case Verdict::none:
    case Verdict::undecided: ++summary.undecided; break;
    }
  }
  return summary;
}

} // namespace sframe::verify
