// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "folded.h"

#include "sframe/base/text.h"

#include <algorithm>
#include <ranges>

namespace sframe::unwind_tool {

using profile::folded_name;
using profile::StackCount;

void FoldedStacks::begin_thread(std::span<const process::Thread* const> threads) {
  thread_ = folded_name(threads.front()->name);
  frames_.clear();
  is_running_ = std::ranges::binary_search(running_, threads.front()->tid);
}

void FoldedStacks::frame(const unwind::Frame& frame, const unwind::Registers&) {
  const SymbolizedFrame& symbols = symbolizer_.symbolize(frame);
  // Unnamed functions are shown by their FDE or module, so that a graph does not split at every address.
  if (symbols.function)
    frames_.push_back(folded_name(symbols.function->name));
  else if (symbols.fde)
    frames_.push_back("[" + folded_name(symbols.module->shown_name()) + " FDE " + hex(symbols.fde->start) +
                      "]");
  else
    frames_.push_back(symbols.module ? "[" + folded_name(symbols.module->shown_name()) + "]" : "[unknown]");
  kept_ += frames_.back().size();
}

void FoldedStacks::end_thread(const unwind::WalkEnd& end) {
  if (!end.complete) ++cut_[end.reason];
  std::string stack = thread_;
  for (const std::string& frame : frames_ | std::views::reverse) {
    stack += ';';
    stack += frame;
    kept_ -= frame.size();
  }
  frames_.clear();
  const std::size_t size = stack.size();
  const auto [at, is_new] = counts_.try_emplace(std::move(stack));
  if (is_new) kept_ += size;
  StackCount& count = at->second;
  ++count.all;
  count.running += is_running_;
}

void print_counts(const OutputFormat& format, const profile::StackCounts& counts,
                  const profile::FlameGraphHeading& heading, tool::Output& out) {
  const profile::Sink to = [&](std::string_view text) { out << text; };
  if (&format == &svg_format)
    profile::draw_flame_graph(counts, heading, to);
  else
    profile::write_folded(counts, to);
}

void report_cut(tool::MessageSink& messages, const std::string& file,
                const std::map<unwind::StopReason, std::uint64_t>& cut) {
  for (const auto& [reason, count] : cut)
    messages.warning(file, counted(count, "stack") + " ended early: " + unwind::message(reason));
}

} // namespace sframe::unwind_tool
