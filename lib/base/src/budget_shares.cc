// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/budget_shares.h"

#include <algorithm>
#include <utility>

namespace sframe {

namespace {

constexpr Resource resource(std::size_t number) {
  return static_cast<Resource>(number);
}

} // namespace

BudgetShares::BudgetShares(Budget* whole, std::span<const std::uint64_t> sizes)
    : unlimited_(Limits::off, 0), whole_(whole ? *whole : unlimited_), sizes_(sizes.begin(), sizes.end()) {
  for (const std::uint64_t size : sizes) total_size_ += static_cast<double>(size);
  for (std::size_t i = 0; i < resource_count; ++i) rest_[i] = at_start_[i] = whole_.left(resource(i));
  for (std::size_t piece = 0; piece < sizes.size(); ++piece) {
    const Amounts share = share_of(piece);
    for (std::size_t i = 0; i < resource_count; ++i) rest_[i] -= share[i];
  }
}

/// The whole is charged only here, so that its other users do not depend on the threads' timing either.
BudgetShares::~BudgetShares() {
  if (first_) whole_.use_up(resource(first_ - 1u));
  for (std::size_t i = 0; i < resource_count; ++i) {
    if (used_up_ & Budget::bit(resource(i)))
      whole_.use_up(resource(i));
    else
      whole_.take(resource(i), std::min(at_start_[i] - rest_[i], whole_.left(resource(i))));
  }
}

BudgetShares::Amounts BudgetShares::share_of(std::size_t piece) const {
  Amounts share{};
  const double part = total_size_ > 0 ? static_cast<double>(sizes_[piece]) / total_size_ / 2 : 0;
  for (std::size_t i = 0; i < resource_count; ++i)
    share[i] = static_cast<std::uint64_t>(static_cast<double>(at_start_[i]) * part);
  return share;
}

BudgetShares::Amounts BudgetShares::wait_for_rest(std::size_t piece) {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [&] { return current_ == piece; });
  return std::exchange(rest_, {});
}

void BudgetShares::end(std::size_t piece, const Ended& ended) {
  {
    const std::lock_guard lock(mutex_);
    ended_.emplace(piece, ended);
    for (auto next = ended_.begin(); next != ended_.end() && next->first == current_; ++current_) {
      for (std::size_t i = 0; i < resource_count; ++i) rest_[i] += next->second.left[i];
      if (first_ == 0) first_ = next->second.first;
      used_up_ |= next->second.used_up;
      next = ended_.erase(next);
    }
  }
  moved_.notify_all();
}

BudgetShares::Share::Share(BudgetShares& shares, std::size_t piece)
    : Budget(shares.whole_.limits(), shares.share_of(piece)), shares_(shares), piece_(piece) {}

BudgetShares::Share::~Share() {
  Ended ended{{}, first_, used_up_};
  for (std::size_t i = 0; i < resource_count; ++i) ended.left[i] = left(resource(i));
  shares_.end(piece_, ended);
}

bool BudgetShares::Share::add_more() {
  if (std::exchange(has_rest_, true)) return false;
  add(shares_.wait_for_rest(piece_));
  return true;
}

} // namespace sframe
