// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/verdicts.h"

#include <algorithm>

namespace sframe::verify {

Verdicts::Verdicts(const Input& input) {
  std::uint64_t first = 0;
  for (const SframePart& part : input.parts()) {
    first_.push_back(first);
    first += part.section.num_fdes();
  }
  marks_.resize(first);
}

void Verdicts::add(const Verdicts& other) {
  for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i] = std::max(marks_[i], other.marks_[i]);
}

Summary Verdicts::summary() const {
  Summary summary{.functions = marks_.size()};
  for (const Verdict verdict : marks_) {
    switch (verdict) {
    case Verdict::agree: ++summary.agree; break;
    case Verdict::contradiction: ++summary.contradiction; break;
    case Verdict::unreached: ++summary.unreached; break;
    case Verdict::none:
    case Verdict::undecided: ++summary.undecided; break;
    }
  }
  return summary;
}

} // namespace sframe::verify
