// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form of nearly all rows of both tables: the CFA is a register plus an offset, and what is saved is at
// offsets from the CFA. Small enough for one per cache line in a cache of rules. Any other row is a FrameRow
// (row_step.h) or a CompiledRow.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/rule_source.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe::unwind {

class PlainRow {
public:
  /// What a step needs to know of the caller before it can be accepted.
  struct Caller {
    std::uint64_t cfa, sp;
    std::uint64_t pc; ///< with its authentication code, if any
  };

  /// False if the row does not have this form; the object is then unspecified. Signal frames do not have it.
  bool compile(const CfiMatch& answer, const AbiTraits& abi, const UnwindAbi& unwind);
  /// The same for a row of SFrame, whose other registers become unknown (row_step.h).
  bool compile(const SframeMatch& answer, const AbiTraits& abi);

  /// Whether both lead from the same registers to the same CFA, return address and SP.
  bool has_same_caller(const PlainRow& other) const {
    return cfa_register_ == other.cfa_register_ && cfa_offset_ == other.cfa_offset_ &&
           ra_offset_ == other.ra_offset_ && sp_offset_ == other.sp_offset_ &&
           sp_is_saved_ == other.sp_is_saved_;
  }

  /// Finds the caller of a frame with these registers. False if it cannot be found: failure() says why.
  bool find(const Registers& registers, Memory& memory, Caller& caller) const {
    if (!(registers.known >> cfa_register_ & 1)) return false;
    caller.cfa = registers.values[cfa_register_] + static_cast<std::uint64_t>(std::int64_t{cfa_offset_});
    caller.sp = at(caller.cfa, sp_offset_);
    return memory.load(at(caller.cfa, ra_offset_), caller.pc) &&
           (!sp_is_saved_ || memory.load(caller.sp, caller.sp));
  }

  /// Replaces a frame's registers by those of the caller that find() found for them; `sp` is the stack
  /// pointer's number. What cannot be read is unknown.
  void enter(const Caller& caller, std::uint16_t sp, Memory& memory, Registers& registers) const {
    std::uint64_t known = (registers.known & kept_) | std::uint64_t{1} << sp;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::uint8_t reg = registers_[i];
      if (memory.load(at(caller.cfa, offsets_[i]), registers.values[reg])) known |= std::uint64_t{1} << reg;
    }
    registers.values[sp] = caller.sp;
    registers.known = known;
    registers.pc = caller.pc;
  }

  /// Why find() has failed.
  StepResult failure(const Registers& registers, Memory& memory, std::uint16_t sp) const;

  /// A whole step, for steppers: as CompiledRow::apply().
  StepResult apply(const FrameState& frame, Memory& memory, const AbiTraits& abi, FrameState& caller) const {
    Caller found;
    if (!find(frame.registers, memory, found)) return failure(frame.registers, memory, abi.sp);
    caller.registers = frame.registers;
    enter(found, abi.sp, memory, caller.registers);
    caller.pc_exact = false;
    return {.status = StepStatus::stepped, .has_cfa = true, .cfa = found.cfa};
  }

private:
  static constexpr std::size_t max_stored = 9; ///< s390x: r6 to r14; AMD64 has 6 call-saved registers

  static std::uint64_t at(std::uint64_t cfa, std::int16_t offset) {
    return cfa + static_cast<std::uint64_t>(std::int64_t{offset});
  }
  bool set_cfa(std::uint32_t reg, std::int64_t offset);
  bool store(std::uint32_t reg, std::int64_t offset);

  std::uint64_t kept_ = 0; ///< registers without a rule in the row that keep their values
  std::int32_t cfa_offset_ = 0;
  std::int16_t ra_offset_ = 0; ///< from the CFA, as all below
  std::int16_t sp_offset_ = 0; ///< of the caller's SP, or of where it is saved
  std::array<std::int16_t, max_stored> offsets_{};
  std::array<std::uint8_t, max_stored> registers_{};
  std::uint8_t cfa_register_ = 0;
  std::uint8_t count_ = 0;
  bool sp_is_saved_ = false;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
