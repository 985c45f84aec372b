// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is to be analysed again: the blocks whose state has changed since they were run. The one at the lowest
// address comes first, since states mostly flow to higher ones: most blocks are then run once.

#pragma once

#include <cstdint>
#include <vector>

namespace sframe::code {

class WorkList {
public:
  /// Adds a block, unless it waits already. Its address must always be the same.
  void add(std::uint64_t address, std::uint32_t block) {
    if (block >= waits_.size() || !waits_[block]) push(address, block);
  }
  bool empty() const { return queue_.empty(); }
  /// The block with the lowest address, which remains. Not if empty().
  std::uint32_t first() const { return queue_.front().block; }
  /// Removes that block. Not if empty().
  std::uint32_t take();
  /// Before the data flow is computed, or computed again.
  void clear();
  /// Where a limit is met: those that wait will not be run, nor be added again.
  void give_up() { queue_.clear(); }

private:
  struct Waiting {
    std::uint64_t address = 0;
    std::uint32_t block = 0;
  };
  void push(std::uint64_t address, std::uint32_t block);

  std::vector<Waiting> queue_; ///< a heap
  std::vector<char> waits_;    ///< by block: 1 if it does
};

} // namespace sframe::code
