// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CFI row as a list of operations that can be applied many times. A cfi::FullRow has a rule for each of 96
// registers; a real row has fewer than ten, except for signal frames, which have all registers.

#pragma once

#include "sframe/unwind/abi.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/operation.h"
#include "sframe/unwind/rule_source.h"
#include "sframe/unwind/save_locations.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// Copies the row's expressions: it does not refer to the CFI section.
class CompiledRow {
public:
  /// Maximum size in bytes of a row's expressions together; real rows need about a hundred.
  static constexpr std::size_t max_expressions = 1 << 16;

  /// Drops rules for registers that a walk does not track. A row whose expressions exceed max_expressions
  /// fails to apply.
  void compile(const CfiMatch& answer, const AbiTraits& abi);

  /// Finds the caller of `frame`. On `stepped`, `caller` is complete: registers that cannot be recovered are
  /// unknown; otherwise its contents are unspecified. Fails if the CFA or the return address cannot be
  /// computed.
  StepResult apply(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind,
                   FrameState& caller) const;

  /// After a step: sets where the caller's registers are saved. `cfa` is the CFA that the step found, `own`
  /// has the locations of the frame's registers.
  void locate(const FrameState& frame, Memory& memory, const AbiTraits& abi, const UnwindAbi& unwind,
              std::uint64_t cfa, const SaveLocations& own, SaveLocations& caller) const;

private:
  using Kind = OperationKind;
  using Operation = unwind::Operation<std::uint32_t, std::int64_t>;
  class [[gnu::visibility("hidden")]] Values;
  template <class Rule> Rule keep_expression(const cfi::FullRow& row, Rule rule);
  SaveLocation location(const Operation& operation, Values& values, const SaveLocations& own) const;

  std::vector<std::byte> expressions_;
  Operation cfa_;
  std::uint8_t count_ = 0; ///< of operations_
  std::uint8_t address_size_ = 8;
  bool signal_frame_ = false;
  bool interrupts_caller_ = false;
  bool usable_ = false;
  bool is_outermost_ = false;
  bool has_cfa_ = false;
  Operation return_address_;
  std::array<Operation, Registers::count> operations_;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
