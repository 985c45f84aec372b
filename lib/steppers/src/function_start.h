// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: possible starts of the function that contains an address.

#pragma once

#include "sframe/address.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::steppers {

/// The bytes that may belong to a function; extends beyond the address.
struct FunctionRange : AddressRange {
  bool guessed = false; ///< found by a call or by the bytes before it; false: a symbol or table has it
};

/// The code before an address. Reads each byte once, however many mappings the bytes are in.
class CodeWindow {
public:
  static constexpr std::size_t capacity = 3 * smallest_page;

  /// The code from `lowest` to `highest`; at most `capacity` bytes. Reads nothing yet.
  void reset(unwind::AddressSpace& space, std::uint64_t lowest, std::uint64_t highest);
  /// Rises to above the highest byte that cannot be read, when that is known.
  std::uint64_t lowest() const { return lowest_; }
  /// At most `size` of the bytes before `address`. Valid until reset().
  std::span<const std::byte> before(std::uint64_t address, std::uint64_t size);

private:
  void extend();

  unwind::AddressSpace* space_ = nullptr;
  std::uint64_t origin_ = 0, lowest_ = 0, first_ = 0; ///< of bytes_, of the code, of what was read
  std::array<std::byte, capacity> bytes_;
};

/// A few candidates, the most likely first.
class FunctionStarts {
public:
  /// Cost of find(), in bytes read: up to 1024 words of the stack, and the code before the address.
  static constexpr std::uint64_t cost = 8192;

  /// Functions larger than `longest` bytes are rejected.
  explicit FunctionStarts(std::uint64_t longest) : longest_(longest) {}

  /// If a symbol or a table covers the address, its start is the only candidate. Otherwise, first the
  /// targets of calls whose return addresses are on the frame's stack (or in the link register), the nearest
  /// first. Then the nearest first of: the ends of padding, the end of code that tables cover, the start of
  /// the mapping. Looks back max_back bytes, for targets of calls max_call_back.
  void find(const unwind::FrameState& frame, const unwind::UnwindAbi& abi, unwind::Memory& memory);

  std::span<const FunctionRange> ranges() const { return std::span(ranges_).first(count_); }

private:
  bool by_symbol(std::uint64_t address, unwind::RuleSource& source);
  bool by_table(std::uint64_t address, unwind::RuleSource& source);
  void by_calls(const unwind::FrameState& frame, const unwind::UnwindAbi& abi, unwind::Memory& memory);
  void by_padding(std::uint64_t address, std::uint64_t alignment, std::size_t most,
                  const unwind::UnwindAbi& abi);
  void add(std::uint64_t start, std::uint64_t address);

  static constexpr std::uint64_t max_back = 8192, max_call_back = 65536, max_ahead = 2048;
  static constexpr std::size_t max_count = 8, max_called = 4;
  std::array<FunctionRange, max_called + max_count> ranges_;
  std::size_t count_ = 0;
  std::uint64_t longest_;
  CodeWindow code_;
};

} // namespace sframe::steppers
