// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the code of Go's functions shows: where the return address and FP are.

#pragma once

#include "sframe/code/analysis.h"
#include "sframe/code/callees.h"
#include "sframe/elf/go_functions.h"
#include "sframe/elf/image.h"
#include "sframe/row.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace sframe::tables {

/// Where a function has what it saved, once it has set up its frame.
struct GoSaved {
  std::uint64_t from = 0; ///< the first address at which that is so
  Rule ra, fp;
};

/// An instruction of assembly.
struct GoInstruction {
  AddressRange range;
  std::optional<FrameRow> row; ///< none: neither table nor code has one
  bool has_left_stack = false; ///< SP is what the function has read somewhere
};

class GoCode {
public:
  /// Both must outlive the object, and stay where they are.
  GoCode(const elf::Image& image, const elf::GoFunctions& functions);

  /// Of a function with the prologue of Go's compiler and assembler, which changes SP once, at `first`.
  std::optional<GoSaved> saved(const elf::GoFunction& function, const elf::GoFrameSize& first);

  /// All instructions that are certainly reached from the function's start, by address. The row for each is
  /// `by_table`'s (may be empty), where there is one and the code confirms it, else the code's. For FP, this
  /// is `same` where Go has none.
  std::span<const GoInstruction>
  instructions(const elf::GoFunction& function,
               const std::function<std::optional<FrameRow>(std::uint64_t address)>& by_table);

  /// Where the program's first function jumps to, as its last instruction: nothing has called that either. 0:
  /// nowhere.
  std::uint64_t continuation_of_start();

  /// True if the code around an address, where the last instruction has removed the frame, computes FP from
  /// SP: as Go's leaf functions do on AArch64, where it is a word below its caller's SP. The code does not
  /// prove that.
  bool computes_fp(std::uint64_t address);

private:
  std::optional<Rule> place_of(std::uint16_t reg, const code::State& state) const;
  code::Function code_of(const elf::GoFunction& function, std::uint64_t size) const;

  const elf::Image& image_;
  const elf::GoFunctions& functions_;
  const AbiTraits& abi_;
  code::Callees callees_;
  code::Analyzer analyzer_;
  std::unique_ptr<code::Decoder> decoder_;
  std::vector<code::Effect> effects_;
  std::vector<GoInstruction> instructions_;
  std::optional<std::uint64_t> continuation_; ///< of the start, once it was asked for
};

} // namespace sframe::tables
