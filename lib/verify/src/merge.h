// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges the same finding at adjacent addresses of a function into one finding with a range, unless the CFI
// is the cause at only some of them. The texts are those of the first address.

#pragma once

#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace sframe::verify {

class Merger {
public:
  Merger(const Input& input, Sink& sink) : input_(input), sink_(sink) {}

  /// Adds a finding for [begin, end). `describe` fills in the texts; it is called only if the finding does
  /// not continue an earlier one.
  template <class Describe> void add(Id id, std::uint64_t begin, std::uint64_t end, Describe&& describe) {
    if (extend(id, begin, end)) return;
    Finding finding;
    finding.id = id;
    describe(finding);
    start(std::move(finding), begin, end);
  }

  /// Adds a finding for [begin, end) that already has its texts.
  void add(Finding finding, std::uint64_t begin, std::uint64_t end) {
    if (!extend(finding.id, begin, end, finding.compiler)) start(std::move(finding), begin, end);
  }

  /// Call at a function's end: later findings are not merged with earlier ones.
  void flush();

private:
  struct Run {
    std::uint64_t begin, end;
    Finding finding;
  };
  bool extend(Id id, std::uint64_t begin, std::uint64_t end, bool compiler = false);
  void start(Finding finding, std::uint64_t begin, std::uint64_t end);
  void emit(Run& run);

  const Input& input_;
  Sink& sink_;
  std::vector<Run> runs_; ///< at most one per identifier
};

} // namespace sframe::verify
