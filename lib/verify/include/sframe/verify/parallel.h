// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings of several threads in a deterministic order.

#pragma once

#include "sframe/base/parallel.h"
#include "sframe/verify/findings.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sframe::verify {

/// Stores findings until they can be passed on.
class FindingBuffer : public Sink {
public:
  void add(Finding finding) override { findings_.push_back(std::move(finding)); }

  /// Passes all findings to `sink` in the order in which they came, and clears the buffer.
  void replay(Sink& sink) {
    for (Finding& finding : findings_) sink.add(std::move(finding));
    findings_.clear();
  }

private:
  std::vector<Finding> findings_;
};

/// Checks items [0, count) in pieces of `chunk`. work(begin, end, scratch, sink) may run on several threads
/// at once, each with its own scratch from make_scratch(). `sink` receives the findings in the order of the
/// items, regardless of the number of threads, which are `most` at most. Findings are stored for a round of a
/// few chunks per thread at a time; free threads join at the next round.
template <class MakeScratch, class Work>
void check_in_chunks(Workers& workers, unsigned most, std::size_t count, std::size_t chunk, Sink& sink,
                     const MakeScratch& make_scratch, const Work& work) {
  std::vector<FindingBuffer> buffers(std::size_t{std::max(most, 1u)} * 64);
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t chunks = std::min(buffers.size(), (count - begin + chunk - 1) / chunk);
    for_each_parallel(chunks, workers, most, make_scratch, [&](std::size_t i, auto& scratch) {
      const std::size_t from = begin + i * chunk;
      work(from, std::min(from + chunk, count), scratch, buffers[i]);
    });
    for (std::size_t i = 0; i < chunks; ++i) buffers[i].replay(sink);
    begin += chunks * chunk;
  }
}

} // namespace sframe::verify
