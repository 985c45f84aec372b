// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same finding at neighbouring addresses of one function is one finding with a range, unless the CFI is to
// blame at one of them and not at the other. The texts are those of its first address.

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

  /// A finding for [begin, end). `describe` fills in the texts; it is called only where the finding does not
  /// continue an earlier one.
  template <class Describe> void add(Id id, std::uint64_t begin, std::uint64_t end, Describe&& describe) {
    if (extend(id, begin, end)) return;
    Finding finding;
    finding.id = id;
    describe(finding);
    start(std::move(finding), begin, end);
  }

  /// A finding for [begin, end) that has its texts already.
  void add(Finding finding, std::uint64_t begin, std::uint64_t end) {
    if (!extend(finding.id, begin, end, finding.compiler)) start(std::move(finding), begin, end);
  }

  /// To be called at a function's end: what follows is not merged with what came before.
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
