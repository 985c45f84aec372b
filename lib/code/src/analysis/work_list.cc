// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "work_list.h"

#include <algorithm>
#include <functional>

namespace sframe::code {

void WorkList::push(std::uint64_t address, std::uint32_t block) {
  if (block >= waits_.size()) waits_.resize(std::max<std::size_t>(block + 1, 64 + 2 * waits_.size()));
  waits_[block] = 1;
  queue_.push_back({address, block});
  std::ranges::push_heap(queue_, std::greater(), &Waiting::address);
}

std::uint32_t WorkList::take() {
  std::ranges::pop_heap(queue_, std::greater(), &Waiting::address);
  const std::uint32_t block = queue_.back().block;
  queue_.pop_back();
  waits_[block] = 0;
  return block;
}

void WorkList::clear() {
  queue_.clear();
  waits_.clear();
}

} // namespace sframe::code
