// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwind tables as steppers see them: what there is for one address, wherever it comes from.

#pragma once

#include "sframe/cfi/rows.h"
#include "sframe/row.h"

#include <cstdint>
#include <optional>

namespace sframe::unwind {

/// What an SFrame section says of an address. No rule is `fixed`: header offsets are resolved.
struct SframeAnswer {
  FrameRow row;
  bool signal_frame = false;
  bool ends_here = false; ///< the address is the last one of its function
};

/// What CFI says of an address.
struct CfiAnswer {
  cfi::FullRow row;
  bool signal_frame = false;
  bool ends_here = false;
  std::uint8_t address_size = 8;
};

/// The addresses of one function.
struct FunctionExtent {
  std::uint64_t start = 0, size = 0;
};

/// The tables and symbols for a range of addresses: those of a module, mostly. All addresses are the
/// process's.
class RuleSource {
public:
  /// The SFrame rule for an address; nothing where there is none, or its rows are damaged.
  virtual std::optional<SframeAnswer> find_sframe(std::uint64_t address) = 0;
  /// The CFI row for an address, into `answer` (6 KiB, so the caller keeps one); false where there is none.
  virtual bool find_cfi(std::uint64_t address, CfiAnswer& answer) = 0;
  /// The function around an address by the tables.
  virtual std::optional<FunctionExtent> find_function(std::uint64_t address) = 0;
  /// The same by the symbols. Size 0: the symbol does not have one.
  virtual std::optional<FunctionExtent> find_symbol_extent(std::uint64_t address) = 0;

protected:
  ~RuleSource() = default;
};

} // namespace sframe::unwind
