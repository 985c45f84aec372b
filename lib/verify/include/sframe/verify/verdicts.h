// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result of the checks for each function. Each check that compares functions with a reference (the CFI,
// the code) adds its verdict for a function; the worst counts.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace sframe::verify {

/// In increasing order of precedence.
enum class Verdict : std::uint8_t {
  none,                 ///< not checked
  agree,                ///< everything was compared, nothing differs
  unreached,            ///< not reached by the code check
  undecided,            ///< nothing differs, but not everything could be compared
  contradiction_in_cfi, ///< the code differs from SFrame and from the CFI that SFrame reproduces
  contradiction,        ///< any other difference
};

/// One verdict per function of an input.
class Verdicts {
public:
  /// All are none at first. `input` must outlive the object. 1 byte per function.
  explicit Verdicts(const Input& input);

  /// Function `number` of section `part` (an index in Input::parts()). Thread-safe.
  void add(std::uint32_t part, std::uint32_t number, Verdict verdict) {
    const std::atomic_ref mark(marks_[first_[part] + number]);
    Verdict old = mark.load(std::memory_order_relaxed);
    while (old < verdict && !mark.compare_exchange_weak(old, verdict, std::memory_order_relaxed)) {
    }
  }

  Verdict of(std::uint32_t part, std::uint32_t number) {
    return std::atomic_ref(marks_[first_[part] + number]).load(std::memory_order_relaxed);
  }

  /// The counts of Summary; functions that no check looked at are undecided. Linear.
  Summary summary() const;

private:
  std::vector<std::uint64_t> first_; ///< per part: number of functions in the parts before it
  std::vector<Verdict> marks_;
};

} // namespace sframe::verify
