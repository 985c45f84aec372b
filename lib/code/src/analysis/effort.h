// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an analysis has cost so far, and whether it may go on. Each part counts here what it does. Two limits
// hold: one that follows from the function's size, against code that never comes to rest, and the caller's
// budget (Resource::code_steps), which is charged in amounts of some hundred steps.

#pragma once

#include "subject.h"

#include <cstdint>

namespace sframe::code {

class Effort {
public:
  explicit Effort(const Subject& subject) : subject_(subject) {}

  /// Before a run.
  void reset();

  // What was done:
  /// Instructions executed, edges followed, and what takes as long.
  void add(std::uint64_t steps = 1) { work_ += steps; }
  /// An instruction was decoded and is kept.
  void add_decoded() { ++decoded_; }
  /// One was decoded, and forgotten.
  void add_decoding() { work_ += steps_per_decoding; }
  void add_guess() { ++guesses_; }
  /// Two states were joined, one with so many words.
  void add_join(std::size_t words) { joins_ += 1 + steps_of_words(words); }

  /// So many words on the stack that a state knows cost a visitor that many steps, and as many joins.
  static std::uint64_t steps_of_words(std::size_t words) { return words / words_per_step; }

  /// The cost in steps.
  std::uint64_t cost() const;
  /// Pays what is owed if it is much. False if the budget is used up.
  bool pay() { return pay(steps_on_credit); }
  /// Pays what is owed. False if the budget is used up.
  bool pay_all() { return pay(0); }
  /// Adds steps, and pays now and then. False if the budget is used up.
  bool go(std::uint64_t steps) {
    const std::uint64_t before = work_;
    work_ += steps;
    return before / steps_on_credit == work_ / steps_on_credit || pay_all();
  }

  /// Before an instruction is decoded to be kept: true if it may be. All is paid for now and then; once that
  /// fails, nothing more is decoded in this run.
  bool may_decode() {
    if (decoded_ % paid_together == 0 && !pay()) out_of_steps_ = limit_met_ = true;
    return !out_of_steps_;
  }
  /// Before a block is run: true if it may be.
  bool may_run() { return work_ <= limit() && pay(); }

  /// A limit was met, of any part: the results are incomplete.
  void meet_limit() { limit_met_ = true; }
  bool limit_met() const { return limit_met_; }

private:
  static constexpr std::uint64_t steps_on_credit = 256;
  static constexpr std::uint64_t steps_per_decoding = 4;
  static constexpr std::uint64_t words_per_step = 16;
  static constexpr std::uint64_t paid_together = 64; ///< instructions

  bool pay(std::uint64_t credit);
  std::uint64_t limit() const;

  const Subject& subject_;
  std::uint64_t work_ = 0;
  std::uint64_t decoded_ = 0;
  std::uint64_t guesses_ = 0;
  std::uint64_t joins_ = 0;
  std::uint64_t paid_ = 0; ///< part of the cost
  bool limit_met_ = false;
  bool out_of_steps_ = false; ///< of the budget
};

} // namespace sframe::code
