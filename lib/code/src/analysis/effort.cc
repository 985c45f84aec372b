// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "effort.h"

#include "sframe/base/budget.h"

namespace sframe::code {
namespace {

/// Limit of work per byte of code; a function that exceeds it is abandoned. Compilers' code needs less than
/// 2, with few exceptions (15).
constexpr std::uint64_t max_work_per_byte = 32;
constexpr std::uint64_t min_work = 1 << 16;
/// Callees are many, and small.
constexpr std::uint64_t min_work_of_callee = 1 << 12;

/// What a run costs in steps, in addition to work: always, for each guess, for the registers of each join of
/// two states, and for tables that have an entry per byte.
constexpr std::uint64_t steps_per_run = 16;
constexpr std::uint64_t steps_per_guess = 18;
constexpr std::uint64_t registers_per_join_step = 4;
constexpr std::uint64_t bytes_per_step = 64;

} // namespace

void Effort::reset() {
  work_ = decoded_ = guesses_ = joins_ = paid_ = 0;
  limit_met_ = out_of_steps_ = false;
}

std::uint64_t Effort::cost() const {
  return steps_per_run + work_ + steps_per_decoding * decoded_ + steps_per_guess * guesses_ +
         joins_ * (subject_.machine.num_registers / registers_per_join_step) + subject_.size / bytes_per_step;
}

/// Pays for what was done since the last time if that is more than `credit`.
bool Effort::pay(std::uint64_t credit) {
  const std::uint64_t owed = cost() - paid_;
  Budget* const budget = subject_.function.budget;
  if (!budget || owed <= credit) return true;
  paid_ += owed;
  return budget->take(Resource::code_steps, owed);
}

std::uint64_t Effort::limit() const {
  return (subject_.is_callee ? min_work_of_callee : min_work) + max_work_per_byte * subject_.size;
}

} // namespace sframe::code
