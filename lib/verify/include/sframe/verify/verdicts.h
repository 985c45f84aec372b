// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checks came to, function by function. Each check that compares functions with a witness (the CFI, the
// code) says its verdict of a function; the worst counts.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace sframe::verify {

/// In the order in which one outweighs another.
enum class Verdict : std::uint8_t {
  none,                 ///< not looked at
  agree,                ///< all was compared, nothing differs
  unreached,            ///< the code check did not get to it
  undecided,            ///< nothing differs, but not all could be compared
  contradiction_in_cfi, ///< the code differs, from SFrame and from the CFI that SFrame repeats
  contradiction,        ///< something else differs
};

/// One verdict per function of an input.
class Verdicts {
public:
  /// All none. `input` must outlive the object. 1 byte per function.
  explicit Verdicts(const Input& input);

  /// Function `number` of section `part` (its place in Input::parts()). For several threads at a time.
  void add(std::uint32_t part, std::uint32_t number, Verdict verdict) {
    const std::atomic_ref mark(marks_[first_[part] + number]);
    Verdict old = mark.load(std::memory_order_relaxed);
    while (old < verdict && !mark.compare_exchange_weak(old, verdict, std::memory_order_relaxed)) {}
  }

  Verdict of(std::uint32_t part, std::uint32_t number) {
    return std::atomic_ref(marks_[first_[part] + number]).load(std::memory_order_relaxed);
  }

  /// The counts of Summary: functions that nobody looked at are undecided. Linear.
  Summary summary() const;

private:
  std::vector<std::uint64_t> first_; ///< per part: how many functions the parts before it have
  std::vector<Verdict> marks_;
};

} // namespace sframe::verify
