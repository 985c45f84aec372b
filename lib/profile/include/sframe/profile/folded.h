// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counted stacks, and the folded format that flame graph programs read. That is one line per stack, outermost
// frame first: "thread;_start;main;work 17".

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sframe::profile {

/// Takes what is written, in pieces of any size.
using Sink = std::function<void(std::string_view text)>;

struct StackCount {
  std::uint64_t all = 0;
  std::uint64_t running = 0; ///< of them, those of threads that were running
};

/// By the stack: its elements, outermost first, with ';' between them.
using StackCounts = std::map<std::string, StackCount>;

/// A name as an element of a stack: without ';' and control characters.
std::string folded_name(std::string_view name);

/// One line per stack, sorted by its text.
void write_folded(const StackCounts& counts, const Sink& to);

} // namespace sframe::profile
