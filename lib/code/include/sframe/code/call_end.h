// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows a call that does not return. Compilers end a function with such a call; the return address is
// then outside the function, usually in the padding before the next one.

#pragma once

#include "sframe/code/instruction.h"

namespace sframe {
class Budget;
}

namespace sframe::code {

/// Decodes instructions in the order of their addresses, without following jumps. Not for several threads at
/// once.
class CallEnds {
public:
  /// The ABI must have a decoder; without one, nothing is a call or padding.
  explicit CallEnds(const AbiTraits& abi);

  /// True if the last instruction of `bytes` is a call. They must start with an instruction, at `address`.
  /// Linear; takes code_steps from the budget, if given, and is false if that is used up.
  bool ends_with_call(std::span<const std::byte> bytes, std::uint64_t address, Budget* budget);

  /// Bytes of the padding instruction (a nop, a trap or zeros) that `bytes` start with; 0 if they start with
  /// another instruction. A zero that is smaller than all instructions is one in front of another, or of an
  /// address at which compilers start functions.
  std::uint32_t padding(std::span<const std::byte> bytes, std::uint64_t address);

  /// True if `bytes` are padding only. Linear; takes code_steps in the same way.
  bool is_padding(std::span<const std::byte> bytes, std::uint64_t address, Budget* budget);

private:
  bool decode(std::span<const std::byte> bytes, std::uint64_t address);

  const AbiTraits* abi_;
  std::unique_ptr<Decoder> decoder_;
  Instruction instruction_;
  std::vector<Effect> effects_;
};

} // namespace sframe::code
