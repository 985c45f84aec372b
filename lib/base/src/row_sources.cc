// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/row_sources.h"

#include <atomic>

namespace sframe {

namespace {

constinit std::atomic<RowSource*> sources = nullptr; ///< insertion at the head only

} // namespace

void add_row_source(RowSource& source) {
  source.next = sources.load(std::memory_order_relaxed);
  while (!sources.compare_exchange_weak(source.next, &source, std::memory_order_release)) {
  }
}

bool find_sourced_row(std::uint64_t pc, SourcedRow& found) {
  for (const RowSource* source = sources.load(std::memory_order_acquire); source; source = source->next)
    if (source->find(pc, found)) return true;
  return false;
}

} // namespace sframe
