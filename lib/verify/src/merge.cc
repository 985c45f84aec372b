// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "merge.h"

#include <algorithm>

namespace sframe::verify {

bool Merger::extend(Id id, std::uint64_t begin, std::uint64_t end, bool compiler) {
  for (Run& run : runs_) {
    if (run.finding.id != id || run.end != begin || run.finding.compiler != compiler) continue;
    run.end = end;
    return true;
  }
  return false;
}

void Merger::start(Finding finding, std::uint64_t begin, std::uint64_t end) {
  const auto same = std::ranges::find(runs_, finding.id, [](const Run& run) { return run.finding.id; });
  if (same != runs_.end()) {
    emit(*same);
    runs_.erase(same);
  }
  runs_.push_back({begin, end, std::move(finding)});
}

void Merger::emit(Run& run) {
  const Location at = input_.locate(run.begin);
  run.finding.at = at;
  run.finding.end = at.pc + (run.end - run.begin);
  sink_.add(std::move(run.finding));
}

void Merger::flush() {
  std::ranges::stable_sort(runs_, {}, &Run::begin);
  for (Run& run : runs_) emit(run);
  runs_.clear();
}

} // namespace sframe::verify
