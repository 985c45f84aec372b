// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows compared with the code that they are for, before they are published; and rows made from code. Of the
// library sframe-jit-check, which decodes instructions. About 1 us for a short function: for debug builds of
// a compiler, or for some functions of many.

#pragma once

#include "sframe/jit/rows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// The code contradicts a row: with the registers and stack that it has made, the row gives another caller.
struct Contradiction {
  std::uint32_t offset = 0; ///< of the instruction in the code; the first that contradicts this row
  FrameRow row;             ///< the row for it
  /// What the code says instead; nothing if no row can say it.
  std::optional<FrameRow> right;

  friend bool operator==(const Contradiction&, const Contradiction&) = default;
};

struct CheckResult {
  std::vector<Contradiction> contradictions; ///< by offset
  std::uint32_t agreed = 0;                  ///< instructions whose row is right
  /// Instructions that have no row, or of which the code does not tell: SP was loaded or aligned, paths meet
  /// with different values, code that is reached by a jump through a register; outermost rows, and with them
  /// all code without rows.
  std::uint32_t undecided = 0;

  friend bool operator==(const CheckResult&, const CheckResult&) = default;
};

/// Compares the rows with the instructions from `code` on, which are read in this process. It is entered by a
/// call at its first byte; with a frame that is already there, by `entry`. Code of repeated blocks: each is
/// entered. Linear in the code's size. Throws std::bad_alloc.
CheckResult check(const void* code, const Rows& rows, std::optional<FrameRow> entry = {});

/// The rows that the instructions make. Nothing if some of them cannot be decided, or are not reached. Linear
/// in the code's size. Throws std::bad_alloc.
std::optional<std::vector<FrameRow>> analyse(std::span<const std::byte> code, std::uint64_t start,
                                             std::optional<FrameRow> entry = {}, Abi abi = host_abi());

} // namespace sframe::jit

#pragma GCC visibility pop
