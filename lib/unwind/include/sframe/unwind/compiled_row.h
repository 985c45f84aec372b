// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any CFI row as a list of operations, ready to be applied again and again. A cfi::FullRow has a
// rule for each of 96 registers; a real row says something of less than ten, a signal frame's of all that
// there are.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/rule_source.h"
#include "sframe/unwind/save_locations.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::unwind {

/// Keeps nothing of the section that the row is of: its expressions are copied.
class CompiledRow {
public:
  /// Bytes that a row's expressions may have together; real ones have a hundred.
  static constexpr std::size_t max_expressions = 1 << 16;

  /// Leaves out rules for registers that a walk does not follow. A row with longer expressions than
  /// max_expressions fails to apply.
  void compile(const CfiAnswer& answer);

  StepResult apply(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind,
                   FrameState& caller) const;

  /// After a step: where the caller's registers are kept. `cfa` is what the step found, `own` are the
  /// locations of the frame's registers.
  void locate(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind,
              std::uint64_t cfa, const SaveLocations& own, SaveLocations& caller) const;

private:
  using Kind = cfi::RegisterRule::Kind;
  struct Operation {
    std::uint8_t reg = 0;
    Kind kind = Kind::unspecified;
    std::uint32_t number = 0; ///< register, or size of the expression
    std::int64_t offset = 0;  ///< bytes, or place of the expression in expressions_
  };
  class Context;
  template <class Rule> Rule keep_expression(const cfi::FullRow& row, Rule rule);
  // All put what they find into `value`, or say why not in `failure`.
  bool compute_cfa(const FrameState& frame, Context& context, std::uint64_t& value,
                   StepResult& failure) const;
  bool compute(const Operation& operation, const FrameState& frame, Memory& memory, Context& context,
               std::uint64_t cfa, std::uint64_t& value, StepResult& failure) const;
  bool compute_rare(const Operation& operation, Memory& memory, Context& context, std::uint64_t cfa,
                    std::uint64_t& value, StepResult& failure) const;
  bool evaluate(std::uint32_t size, std::int64_t offset, Context& context, std::optional<std::uint64_t> cfa,
                std::uint64_t& value, StepResult& failure) const;
  SaveLocation location(const Operation& operation, Context& context, std::uint64_t cfa,
                        const SaveLocations& own) const;

  std::vector<std::byte> expressions_;
  cfi::CfaRule cfa_;
  std::uint8_t count_ = 0; ///< of operations_
  std::uint8_t return_register_ = 0;
  std::uint8_t address_size_ = 8;
  bool signal_frame_ = false;
  bool usable_ = false;
  Operation return_address_;
  std::array<Operation, Registers::count> operations_;
};

} // namespace sframe::unwind
