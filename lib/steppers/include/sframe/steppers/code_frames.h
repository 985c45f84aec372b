// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a function's machine code shows of a frame: whether the function keeps a frame record, how far the
// frame is set up at the pc, and the row that leads to the caller. For code without tables: assembly,
// generated code, files with missing tables.
//
//   sframe::steppers::CodeFrames frames(space.abi());
//   if (const CodeFrame* code = frames.find(frame, memory)) ... code->kind, code->setup, code->row
//
// The function's start comes from symbols or tables. Otherwise candidates are the targets of calls whose
// return addresses are on the stack, the ends of padding and of code that tables cover, and the start of the
// mapping. A candidate is accepted only if control flows from it to the frame's pc and the return address
// found by the resulting row follows a call.

#pragma once

#include "sframe/row.h"
#include "sframe/unwind/frame_stepper.h"

#include <array>
#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)

namespace sframe::steppers {

/// What a function as a whole does with the frame pointer.
enum class FrameKind : std::uint8_t {
  no_record, ///< FP never points to a frame record
  record,    ///< FP points to a frame record in at least a part of the function
};

/// How far the frame is set up before one instruction.
enum class FrameSetup : std::uint8_t {
  none,     ///< FP is the caller's, and not saved: before the prologue, after the epilogue, in a leaf
  saved,    ///< FP is still the caller's, and saved on the stack, too
  complete, ///< FP points to the frame record
  other,    ///< FP has another value
};

/// What the code shows before one instruction.
struct CodeFrame {
  /// Call-saved registers that the function has stored: the offset of each from the CFA.
  struct Stored {
    std::uint16_t reg = 0;
    std::int32_t offset = 0;
  };
  static constexpr std::size_t max_stored = 16;

  FrameKind kind = FrameKind::no_record;
  FrameSetup setup = FrameSetup::none;
  std::uint64_t function = 0; ///< the function's start, known or assumed
  FrameRow row;               ///< no rule is `fixed`
  std::uint64_t kept = 0;     ///< bit N: register N still has the caller's value
  std::uint8_t num_stored = 0;
  std::array<Stored, max_stored> stored{};
};

/// Not for concurrent use.
class CodeFrames {
public:
  /// For any ABI; finds nothing if the ABI's code cannot be analysed.
  explicit CodeFrames(const AbiTraits& abi);
  ~CodeFrames();
  CodeFrames(CodeFrames&&) noexcept;
  CodeFrames& operator=(CodeFrames&&) noexcept;

  /// The analysis at the frame's lookup_pc(); nullptr if it does not lead to a caller. Results are cached by
  /// address, in a table of fixed size, and valid until the next call. The first query for an address costs
  /// an analysis of the function: microseconds to milliseconds, at most max_function_size bytes each. The
  /// bytes are taken from the address space's budget or, if it has none, from one of 16 MiB for the life of
  /// the object. Allocates only for functions larger than those before.
  const CodeFrame* find(const unwind::FrameState& frame, unwind::Memory& memory);

  /// Sets `caller` to the frame's caller: the row's CFA, RA and FP, and other registers that the code keeps
  /// or stores. Constant cost.
  static unwind::StepResult step(const CodeFrame& code, const unwind::FrameState& frame,
                                 unwind::Memory& memory, unwind::FrameState& caller);

  static constexpr std::uint64_t max_function_size = std::uint64_t{1} << 18;

private:
  class [[gnu::visibility("hidden")]] Reader;
  const AbiTraits* abi_;
  std::unique_ptr<Reader> reader_; ///< made at the first query: most walks need none
};

} // namespace sframe::steppers

#pragma GCC visibility pop
