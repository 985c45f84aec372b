// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of Go's code from the function table of its linker (sframe/elf/go_functions.h), which every program of
// Go has, stripped ones too: the distance from SP to the frame's end at each address. The rest is Go's frame
// layout on AMD64 (cmd/internal/obj/x86/obj6.go): the CFA is SP + size + 8, the return address is at CFA-8,
// FP at CFA-16.
//
// FP is saved by an instruction of its own, before or after SP has changed. The code at the first change
// shows which: `push %rbp`, or `mov %rbp, N-8(%rsp)`. Code with another prologue (assembly without a frame)
// has no rows from there on: where its caller's FP is, is not known.
//
// Other machines: on AArch64 Go saves FP below SP, where only its own functions leave it alone.

#pragma once

#include "sframe/elf/go_functions.h"
#include "sframe/elf/image.h"
#include "sframe/row.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::tables {

/// A range of addresses with one row, or none.
struct GoRow {
  enum class Missing : std::uint8_t {
    nothing,      ///< there is a row
    stack_switch, ///< the function changes to another stack
    frame_layout, ///< where it saves its caller's FP is not known
  };

  AddressRange range;
  FrameRow row; ///< offset 0; only if nothing is missing
  Missing missing = Missing::nothing;
};

/// A function and its rows.
struct GoRows {
  bool signal = false;     ///< elf::GoFunction::is_injected: an FDE of a signal frame
  std::vector<GoRow> rows; ///< by address; without the padding
};

class GoTable {
public:
  /// Nothing if the image has no such table, or one of Go before 1.18, which does not mark the functions that
  /// change stacks, or code for another machine. The image must outlive the object.
  static std::optional<GoTable> load(const elf::Image& image);

  /// Number of functions.
  std::uint64_t size() const { return functions_.size(); }
  /// The rows of one function; none where the table is damaged. False if the budget (cfi_instructions of the
  /// image) is used up. Linear in the table's entries for it.
  bool rows(std::uint64_t number, GoRows& rows) const;

private:
  GoTable(const elf::Image& image, elf::GoFunctions functions)
      : image_(&image), functions_(std::move(functions)) {}

  const elf::Image* image_;
  elf::GoFunctions functions_;
};

} // namespace sframe::tables
