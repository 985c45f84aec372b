// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is analysed: one function, on one machine. All parts of the analysis read it; only a run sets it.

#pragma once

#include "sframe/code/analysis.h"

#include <algorithm>
#include <cstdint>

namespace sframe::code {

struct Subject {
  explicit Subject(const AbiTraits& traits) : abi(traits), machine(code::machine(traits)) {}

  void set(const Function& wanted) {
    function = wanted;
    size = std::min(wanted.bytes.size(), Analyzer::max_function_size);
  }

  /// True for addresses of the bytes that are analysed.
  bool contains(std::uint64_t address) const { return address - function.start < size; }
  /// From the function's start.
  std::uint64_t offset_of(std::uint64_t address) const { return address - function.start; }
  /// These bytes, from an address of them on.
  std::span<const std::byte> bytes_from(std::uint64_t address) const {
    return function.bytes.subspan(offset_of(address), size - offset_of(address));
  }
  /// True if the caller gave rows, which settle what code leaves open.
  bool has_rows() const { return !function.rows.empty(); }
  /// True for a call of a place inside the function, not of the function itself.
  bool is_internal_call(const Instruction& instruction) const {
    return instruction.flow == Flow::call && contains(instruction.target) &&
           instruction.target != function.start;
  }

  const AbiTraits& abi;
  const Machine& machine;
  Function function;
  std::uint64_t size = 0; ///< of its bytes, those that are analysed
  /// It is analysed for what it does to its caller's registers: each holds its value at the entry first.
  bool is_callee = false;
};

} // namespace sframe::code
