// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks that were seen and how often: the folded format that flame graph programs read, a line per stack,
// outermost frame first: "thread;_start;main;work 17". A printer like the others, except that it prints at
// the end of all samples.

#pragma once

#include "printer.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::unwind {

class FoldedStacks final : public Printer {
public:
  explicit FoldedStacks(Places& places) : places_(places) {}

  void begin(walk::ProcessState&) override {}
  void begin_thread(std::span<const walk::Thread* const> threads) override;
  void frame(const walk::Frame& frame, const walk::Registers&) override;
  void comparison(std::span<const walk::StepperComparison>) override {}
  void end_thread(const walk::WalkEnd&) override;
  void end(walk::ProcessState&) override {}

  /// A line per stack, in the order of the text.
  void print(tool::Output& out) const;

  /// How often each stack was seen; the parts of a stack are separated by ';'.
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

private:
  Places& places_;
  std::string thread_;
  std::vector<std::string> frames_; ///< innermost first
  std::map<std::string, std::uint64_t> counts_;
};

/// A name as a part of a stack: without ';' and control characters.
std::string folded_name(std::string_view name);

} // namespace sframe::unwind
