// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves that two tables of call frame information say the same at every address, or at all but those that
// may differ: the rule of every register under both meanings that readers give DW_CFA_restore, the size of
// arguments on the stack, the personality routine and data of exceptions, signal frames, keys, the return
// address's register. It has an interpreter of its own: nothing of what makes a table is used.

#pragma once

#include "sframe/address.h"
#include "sframe/base/address_ranges.h"
#include "sframe/base/problem.h"
#include "sframe/cfi/section.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::shrink {

/// How much of the call frame information a file keeps. The numbers are those of its mark (image.h).
enum class Level : std::uint32_t {
  lossless = 1, ///< all, at every address
  sync = 2,     ///< what is needed wherever something looks at a frame without having chosen the moment
  faults = 3,   ///< at calls, system calls and faults, but for a full stack that a push finds out
};

/// "lossless", "sync", "faults".
std::string_view name(Level level);

struct CompareOptions {
  /// Whether [end of a function, start of the next) is empty or padding, and may get rules that it had not.
  /// Without it only what is empty.
  std::function<bool(const AddressRange&)> is_padding;
  /// The ranges of a function, by address, where rules may differ. Without it, none. Not asked for signal
  /// frames.
  std::function<std::span<const AddressRange>(const AddressRange& function)> loose;
  Level level = Level::lossless; ///< of `loose`; the result has it
  /// Executed instructions are charged to cfi_instructions; nothing is charged if it is nullptr.
  Budget* budget = nullptr;
};

/// A table and what it is searched by.
struct SearchedTable {
  cfi::CfiSection section;           ///< .eh_frame
  std::span<const std::byte> header; ///< .eh_frame_hdr
  std::uint64_t header_address = 0;
};

/// What was compared and found equal.
struct Comparison {
  Level level = Level::lossless; ///< CompareOptions::level
  std::uint64_t functions = 0;   ///< FDEs before
  std::uint64_t fdes = 0;        ///< FDEs after
  std::uint64_t rows = 0;        ///< before, of one meaning
  std::uint64_t addresses = 0;
  AddressSet different; ///< of them: those with other rules, which CompareOptions::loose allowed
};

/// Fails at the first difference that is not allowed, with its address. FDEs of `before` may share an FDE of
/// `after` where they have neither an LSDA nor the mark of a signal frame, and where nothing but padding is
/// between them. Also fails if the header's table is not sorted, or is not exactly that of the FDEs. Linear
/// in the rows, and N log N in the FDEs.
Result<Comparison> compare(const cfi::CfiSection& before, const SearchedTable& after,
                           const CompareOptions& options);

} // namespace sframe::shrink

#pragma GCC visibility pop
