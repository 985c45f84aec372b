// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A budget for work on several threads. If all took from one Budget, it would depend on their timing which
// piece of work fails once a resource is used up. Here each piece has a share, so that it does not.

#pragma once

#include "sframe/base/budget.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// Divides what is left of a budget: one half by the sizes of the pieces. The other half, and what pieces
/// leave of their shares, is for pieces that need more than their share, first come, first served in the
/// order of the pieces (a piece that needs more waits until those before it have ended).
class BudgetShares {
public:
  /// One piece per size. `whole` must outlive this, and is charged at its end; nullptr: there is no limit.
  BudgetShares(Budget* whole, std::span<const std::uint64_t> sizes);
  BudgetShares(const BudgetShares&) = delete;
  BudgetShares& operator=(const BudgetShares&) = delete;
  ~BudgetShares();

  /// The budget of one piece, which ends with it. For one thread. Before a Share is made, those of all
  /// pieces before it must have been; for_each_parallel() does so.
  class Share final : public Budget {
  public:
    Share(BudgetShares& shares, std::size_t piece);
    ~Share() override;

  private:
    bool add_more() override;

    BudgetShares& shares_;
    std::size_t piece_;
    bool has_rest_ = false;
  };

private:
  using Amounts = Budget::Amounts;
  struct Ended {
    Amounts left;
    std::uint8_t first;    ///< as Budget::first_
    std::uint32_t used_up; ///< as Budget::used_up_
  };

  Amounts share_of(std::size_t piece) const;
  Amounts wait_for_rest(std::size_t piece);
  void end(std::size_t piece, const Ended& ended);

  Budget unlimited_; ///< the whole if there is none
  Budget& whole_;
  std::vector<std::uint64_t> sizes_;
  double total_size_ = 0;
  Amounts at_start_{};

  std::mutex mutex_; ///< for what follows
  std::condition_variable moved_;
  std::size_t current_ = 0;            ///< the first piece that has not ended
  Amounts rest_{};                     ///< for pieces from `current_` on
  std::map<std::size_t, Ended> ended_; ///< pieces after `current_`
  std::uint8_t first_ = 0;
  std::uint32_t used_up_ = 0;
};

} // namespace sframe

#pragma GCC visibility pop
