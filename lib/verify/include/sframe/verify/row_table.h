// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of all functions of an input as a table of its own, for lookups while a program runs: the input
// and its files may be closed meanwhile.

#pragma once

#include "sframe/row.h"
#include "sframe/verify/input.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::verify {

class RowTable {
public:
  /// Keeps what the checks use: of functions that overlap, the one that starts last. Functions whose rows
  /// cannot be read have none. N log N in the functions, linear in the rows; takes from the input's budget.
  explicit RowTable(const Input& input);

  /// The ABI of the sections; nullptr without any.
  const AbiTraits* abi() const { return abi_; }

  struct Match {
    FrameRow row; ///< no Rule::fixed; its offset has no meaning
    bool signal_frame = false;
    bool ends_stack = false; ///< the language's own unwinder ends there, although the code is called
  };
  /// The row for an address of the file. Logarithmic.
  std::optional<Match> find(std::uint64_t address) const;

private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t first = 0, count = 0; ///< in rows_: those of a block if rep_size is not 0, else one
    std::uint64_t function_begin = 0;   ///< of blocks
    std::uint8_t rep_size = 0;          ///< bytes of a block; 0: no block
    bool signal_frame = false;
    bool ends_stack = false;
  };

  const AbiTraits* abi_ = nullptr;
  std::vector<Range> ranges_; ///< by address, disjoint
  std::vector<FrameRow> rows_;
};

} // namespace sframe::verify
