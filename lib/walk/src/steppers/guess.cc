// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "steppers/guess.h"

#include <array>

namespace sframe::walk {

bool follows_call(const UnwindAbi& abi, Memory& memory, std::uint64_t address) {
  if (!memory.space().is_code(address - 1)) return false;
  std::array<std::byte, 16> bytes;
  // Fewer bytes where a mapping starts just before.
  for (std::uint32_t size = abi.longest_call; size >= 2; --size)
    if (memory.bytes(address - size, std::span(bytes).first(size)))
      return abi.ends_with_call(std::span(bytes).first(size));
  return false;
}

StepResult guessed_call(FrameState& caller, const AbiTraits& abi, std::uint64_t return_address,
                        std::uint64_t cfa) {
  caller.registers.set(abi.sp, offset_by(cfa, abi.sp_from_cfa));
  caller.registers.pc = return_address;
  caller.pc_exact = false;
  return {.status = StepStatus::stepped, .trust = Trust::heuristic, .has_cfa = true, .cfa = cfa};
}

} // namespace sframe::walk
