// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a CFI row as a short list of operations, ready to be applied again and again. A cfi::FullRow has a
// rule for each of 96 registers; a real row says something of less than ten.

#pragma once

#include "sframe/walk/abi.h"
#include "sframe/walk/frame_stepper.h"
#include "sframe/walk/tables.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::walk {

class CompiledRow {
public:
  /// Leaves out rules for registers that a walk does not follow.
  void compile(const CfiAnswer& answer, const UnwindAbi& unwind);

  StepResult apply(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind,
                   FrameState& caller) const;

private:
  using Kind = cfi::RegisterRule::Kind;
  struct Operation {
    std::uint8_t reg = 0;
    Kind kind = Kind::unspecified;
    std::uint32_t number = 0; ///< register, or size of the expression
    std::int64_t offset = 0;  ///< bytes, or place of the expression in section_
  };
  class Context;
  StepResult apply_plain(const FrameState& frame, Memory& memory, const AbiTraits& abi,
                         FrameState& caller) const;
  // All put what they find into `value`, or say why not in `failure`.
  bool compute_cfa(const FrameState& frame, Context& context, std::uint64_t& value,
                   StepResult& failure) const;
  bool compute(const Operation& operation, const FrameState& frame, Memory& memory, Context& context,
               std::uint64_t cfa, std::uint64_t& value, StepResult& failure) const;
  bool compute_rare(const Operation& operation, Memory& memory, Context& context, std::uint64_t cfa,
                    std::uint64_t& value, StepResult& failure) const;
  bool evaluate(std::uint32_t size, std::int64_t offset, Context& context, std::optional<std::uint64_t> cfa,
                std::uint64_t& value, StepResult& failure) const;
  void recover(std::span<const Operation> operations, const FrameState& frame, Memory& memory,
               Context& context, std::uint64_t cfa, FrameState& caller) const;

  static constexpr std::size_t usual_count = 8;

  std::span<const std::byte> section_;
  cfi::CfaRule cfa_;
  std::uint8_t count_ = 0; ///< in first_
  std::uint8_t return_register_ = 0;
  std::uint8_t address_size_ = 8;
  bool signal_frame_ = false;
  bool usable_ = false;
  bool plain_ = false;     ///< CFA is register + offset, and all else is stored at CFA + offset
  std::uint64_t kept_ = 0; ///< registers that calls keep and of which the row says nothing
  Operation return_address_;
  std::array<Operation, usual_count> first_; ///< small, so that many rows fit a cache
  std::vector<Operation> more_;              ///< signal frames have rules for all registers
};

} // namespace sframe::walk
