// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the function that contains an address may start.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::steppers {

struct FunctionRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0; ///< bytes that may belong to it; reaches beyond the address
  bool guessed = false;   ///< by what stands before it; else something names it
};

/// A few places, the likely ones first.
class FunctionStarts {
public:
  /// Of find(), as so many bytes that are looked at: up to 1024 words of the stack, and code before the
  /// address.
  static constexpr std::uint64_t cost = 8192;

  /// Functions of more than `longest` bytes are none.
  explicit FunctionStarts(std::uint64_t longest) : longest_(longest) {}

  /// By the symbol, or a table that covers the address: then it is the only place. Else by the calls whose
  /// return addresses are on the frame's stack (or in the link register), nearest target first; then nearest
  /// first: after padding, at the end of what tables cover, where the mapping starts. Looks back max_back
  /// bytes, for targets of calls max_call_back.
  void find(const unwind::FrameState& frame, const unwind::UnwindAbi& abi, unwind::Memory& memory);

  std::span<const FunctionRange> ranges() const { return std::span(ranges_).first(count_); }

private:
  bool by_symbol(std::uint64_t address, unwind::RuleSource& source);
  bool by_table(std::uint64_t address, unwind::RuleSource& source);
  void by_calls(const unwind::FrameState& frame, const unwind::UnwindAbi& abi, unwind::Memory& memory);
  void by_padding(std::uint64_t address, std::uint64_t lowest, std::uint64_t alignment, std::size_t most,
                  const unwind::UnwindAbi& abi, unwind::Memory& memory);
  void add(std::uint64_t start, std::uint64_t address);

  static constexpr std::uint64_t max_back = 8192, max_call_back = 65536, max_ahead = 2048;
  static constexpr std::size_t max_count = 8, max_called = 4;
  std::array<FunctionRange, max_called + max_count> ranges_;
  std::size_t count_ = 0;
  std::uint64_t longest_;
};

} // namespace sframe::steppers
