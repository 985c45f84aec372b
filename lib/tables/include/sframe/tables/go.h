// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of Go's code from the function table of its linker (sframe/elf/go_functions.h), which every program of
// Go has, stripped ones too: the distance from SP to the frame's end at each address. That gives the CFA.
// Where the return address and FP are, the code shows (lib/code), since releases differ and assembly does as
// it likes. The compiler's own layouts are (cmd/internal/obj/x86/obj6.go, arm64/obj7.go, s390x/objz.go):
//
//           | return address        | caller's FP                                                  |
//   AMD64   | above the frame       | in its top word                                              |
//   AArch64 | in its bottom word    | in the word below SP: the callees' frames leave that alone,  |
//           |                       | and signal handlers have a stack of their own                |
//   s390x   | in its bottom word    | there is no FP: r11 is not kept by calls                     |
//
// A frame whose saved registers the code does not show has no rows.

#pragma once

#include "sframe/elf/go_functions.h"
#include "sframe/elf/image.h"
#include "sframe/row.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sframe::tables {

/// A range of addresses with one row, or none.
struct GoRow {
  enum class Missing : std::uint8_t {
    nothing,      ///< there is a row
    stack_switch, ///< the function changes to another stack
    frame_layout, ///< where it saves the return address, or its caller's FP, is not known
  };

  AddressRange range;
  FrameRow row; ///< offset 0; only if nothing is missing
  Missing missing = Missing::nothing;
};

/// A function and its rows.
struct GoRows {
  bool signal = false;     ///< elf::GoFunction::is_injected or is_restorer: an FDE of a signal frame
  std::vector<GoRow> rows; ///< by address; without the padding
};

class GoCode; // src/go_code.h

class GoTable {
public:
  /// Nothing if the image has no such table, or one of Go before 1.18, which does not mark the functions that
  /// change stacks, or code for another machine. The image must outlive the object.
  static std::optional<GoTable> load(const elf::Image& image);

  GoTable(GoTable&&) noexcept;
  GoTable& operator=(GoTable&&) noexcept;
  ~GoTable();

  /// Number of functions.
  std::uint64_t size() const { return functions_->size(); }
  /// The rows of one function; none where the table is damaged. False if the budget (cfi_instructions of the
  /// image) is used up. Linear in the table's entries for it, and in its code if it is assembly.
  bool rows(std::uint64_t number, GoRows& rows);

private:
  GoTable(const elf::Image& image, elf::GoFunctions functions);
  void add_restorer(std::uint64_t number, AddressRange range, GoRows& rows) const;

  const elf::Image* image_;
  std::unique_ptr<elf::GoFunctions> functions_; ///< of code_, too
  std::unique_ptr<GoCode> code_;
};

} // namespace sframe::tables
