// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function's machine code says of a frame: whether the function keeps a frame record, how far it is
// set up where the frame stands, and the row that leads to the caller. For code without tables: assembly,
// generated code, files whose tables are missing.
//
//   sframe::steppers::CodeFrames frames(space.abi());
//   if (const CodeFrame* code = frames.find(frame, memory)) ... code->kind, code->setup, code->row
//
// Where the function starts is known from symbols; else it is looked for behind the code that tables cover,
// at the start of the mapping, and behind padding. A guess counts only if control gets from there to the
// frame's pc and the return address that its row leads to follows a call.

#pragma once

#include "sframe/row.h"
#include "sframe/unwind/frame_stepper.h"

#include <array>
#include <cstdint>
#include <memory>

namespace sframe::steppers {

/// What a function does with the frame pointer, taken as a whole.
enum class FrameKind : std::uint8_t {
  no_record, ///< nowhere does FP point to a frame record
  record,    ///< FP points to a frame record, at least in a part of the function
};

/// How far the frame is set up before one instruction.
enum class FrameSetup : std::uint8_t {
  none,     ///< FP is the caller's, and saved nowhere: before the prologue, behind the epilogue, in a leaf
  saved,    ///< FP still is the caller's, which is on the stack, too
  complete, ///< FP points to the frame record
  other,    ///< FP has another value
};

/// What the code says before one instruction.
struct CodeFrame {
  /// Registers that calls keep and that the function has stored: offset of each from the CFA.
  struct Stored {
    std::uint16_t reg = 0;
    std::int32_t offset = 0;
  };
  static constexpr std::size_t max_stored = 16;

  FrameKind kind = FrameKind::no_record;
  FrameSetup setup = FrameSetup::none;
  std::uint64_t function = 0; ///< where the function starts, or is taken to start
  FrameRow row;               ///< no rule is `fixed`
  std::uint64_t kept = 0;     ///< bit N: register N still has the caller's value
  std::uint8_t num_stored = 0;
  std::array<Stored, max_stored> stored{};
};

/// Not for concurrent use.
class CodeFrames {
public:
  /// For any ABI; finds nothing for one whose code cannot be analysed.
  explicit CodeFrames(const AbiTraits& abi);
  ~CodeFrames();
  CodeFrames(CodeFrames&&) noexcept;
  CodeFrames& operator=(CodeFrames&&) noexcept;

  /// What the code says at the frame's lookup_pc(); nullptr where it says nothing that leads to a caller.
  /// Answers are kept by address, in a table of fixed size, and are valid until the next call. The first one
  /// for an address costs an analysis of the function: microseconds to milliseconds, at most
  /// max_function_size bytes each and max_work bytes in the life of the object. Allocates nothing once it has
  /// seen functions as large.
  const CodeFrame* find(const unwind::FrameState& frame, unwind::Memory& memory);

  /// Makes `caller` of the frame: the row's CFA, RA and FP, and what the code keeps or stores of other
  /// registers. Constant cost.
  static unwind::StepResult step(const CodeFrame& code, const unwind::FrameState& frame,
                                 unwind::Memory& memory, unwind::FrameState& caller);

  static constexpr std::uint64_t max_function_size = std::uint64_t{1} << 18;
  static constexpr std::uint64_t max_work = std::uint64_t{1} << 24;

private:
  class Reader;
  const AbiTraits* abi_;
  std::unique_ptr<Reader> reader_; ///< made for the first question: most walks ask none
};

} // namespace sframe::steppers
