// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the call frame information of a linked image (.eh_frame and .eh_frame_hdr) again, in fewer bytes:
// functions without a language-specific data area (LSDA) share an FDE with their neighbours, over padding
// only, and the instructions from one state to the next are the shortest. The rules of every register are the
// same at every address. compare.h proves that of any two tables; callers that write a file use it.
//
// What cannot be written in another way is copied: instructions that are not understood, and the FDEs of
// signal frames and of functions with an LSDA stay alone. As a library call for linkers: nothing here
// depends on ELF; image.h does.

#pragma once

#include "sframe/address.h"
#include "sframe/base/problem.h"
#include "sframe/cfi/section.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::shrink {

struct Options {
  /// The most bytes of instructions in an FDE that several functions share: what an unwinder executes to
  /// find a row. A single function may have more.
  std::uint32_t max_cfi_bytes = 128;
  /// Instead, where no function has a personality routine, so that hardly any exception passes; 0: the same.
  std::uint32_t max_plain_cfi_bytes = 0;
  /// Of entries: 1 or 4. All readers accept 1.
  std::uint32_t alignment = 1;
  /// False: each FDE stays alone.
  bool join = true;
  /// Whether [end of a function, start of the next) is empty or padding. Without it only functions that touch
  /// are joined.
  std::function<bool(const AddressRange&)> is_padding;
  /// The ranges of a function, by address, where its rules may be those of the address before the range.
  /// Without it, none. Not asked for signal frames, and where a rule is not as in plain frames: CFA from SP
  /// or FP, RA at its fixed place, FP saved or not.
  std::function<std::span<const AddressRange>(const AddressRange& function)> loose;
  /// Executed instructions are charged to cfi_instructions; nothing is charged if it is nullptr.
  Budget* budget = nullptr;
};

/// The new tables, for their addresses.
struct Tables {
  std::vector<std::byte> eh_frame;     ///< ends with a terminator
  std::vector<std::byte> eh_frame_hdr; ///< with a sorted table: one entry for each FDE
};

/// The FDEs that will be written; their addresses are chosen by their sizes.
class Plan {
public:
  /// Reads all entries of `section`, which must outlive the result, and chooses the new ones. Fails where
  /// something would be lost: unreadable or overlapping entries, entries after the terminator, augmentations
  /// and pointer encodings that are not understood, a budget that is used up. Time: linear in the rows, times
  /// the functions that an FDE may have; memory: linear in the rows.
  static Result<Plan> make(const cfi::CfiSection& section, const Options& options);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Bytes of the new tables, wherever they are.
  std::uint64_t eh_frame_size() const;
  std::uint64_t eh_frame_hdr_size() const;

  std::uint64_t functions() const; ///< FDEs of the old section
  std::uint64_t fdes() const;      ///< of the new one
  std::uint64_t copied() const;    ///< FDEs whose instructions are copied since they are not understood
  /// Options::max_cfi_bytes or max_plain_cfi_bytes.
  std::uint32_t max_cfi_bytes() const;

  /// Fails if a pointer does not reach from there. Linear.
  Result<Tables> write(std::uint64_t eh_frame_address, std::uint64_t eh_frame_hdr_address) const;

private:
  struct [[gnu::visibility("hidden")]] Contents;
  explicit Plan(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

} // namespace sframe::shrink

#pragma GCC visibility pop
