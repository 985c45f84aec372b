// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "guesses.h"

namespace sframe::code {
namespace {

constexpr std::size_t max_guesses = 1 << 14;

} // namespace

void Guesses::forget_flow() {
  guesses_.clear();
  targets_.clear();
  pending_.clear();
}

void Guesses::add(std::uint32_t from, const State& state, std::span<const std::uint64_t> targets) {
  std::uint32_t& known = code_[from].guess;
  if (known == no_index) {
    if (guesses_.size() >= max_guesses) return effort_.meet_limit();
    known = static_cast<std::uint32_t>(guesses_.size());
    guesses_.emplace_back();
  }
  effort_.add_guess();
  Guess& guess = guesses_[known];
  guess.from = from;
  guess.state = state;
  if (!guess.pending) pending_.push_back(known);
  guess.pending = true;
  if (guess.num_targets != targets.size()) {
    guess.first_target = static_cast<std::uint32_t>(targets_.size());
    guess.num_targets = static_cast<std::uint32_t>(targets.size());
    targets_.insert(targets_.end(), targets.begin(), targets.end());
  }
}

} // namespace sframe::code
