// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts stacks, for the folded format and flame graphs. Unlike other printers, it prints nothing: what is
// written after all samples is made of its counts.

#pragma once

#include "printer.h"

#include "sframe/profile/flame_graph.h"
#include "sframe/profile/folded.h"
#include "sframe/tool/messages.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

class FoldedStacks final : public Printer {
public:
  explicit FoldedStacks(Symbolizer& symbolizer) : symbolizer_(symbolizer) {}

  void begin(process::ProcessState&, const CoreHeader*) override {}
  void begin_thread(std::span<const process::Thread* const> threads) override;
  void begin_goroutine(std::span<const languages::Goroutine* const>) override {} ///< never called
  void frame(const unwind::Frame& frame, const unwind::Registers&) override;
  void comparison(std::span<const unwind::StepperComparison>) override {}
  void end_thread(const unwind::WalkEnd&) override;
  void end(process::ProcessState&) override {}
  /// The different stacks of all samples: in memory, and twice in a flame graph.
  std::uint64_t kept() const override { return 3 * kept_; }

  /// The threads that were running when the following sample was taken, sorted.
  void set_running(std::vector<std::uint32_t> tids) { running_ = std::move(tids); }

  /// How many stacks ended early, by the reason.
  const std::map<unwind::StopReason, std::uint64_t>& cut() const { return cut_; }

  /// The occurrences of each stack; the elements of a stack are separated by ';'.
  const profile::StackCounts& counts() const { return counts_; }

private:
  Symbolizer& symbolizer_;
  std::string thread_;
  std::vector<std::string> frames_; ///< innermost first
  profile::StackCounts counts_;
  std::map<unwind::StopReason, std::uint64_t> cut_;
  std::uint64_t kept_ = 0;
  std::vector<std::uint32_t> running_;
  bool is_running_ = false; ///< the current thread
};

/// As --format=folded or svg.
void print_counts(const OutputFormat& format, const profile::StackCounts& counts,
                  const profile::FlameGraphHeading& heading, tool::Output& out);

/// Warns of the stacks of `file` that ended early, by the reason.
void report_cut(tool::MessageSink& messages, const std::string& file,
                const std::map<unwind::StopReason, std::uint64_t>& cut);

} // namespace sframe::unwind_tool
