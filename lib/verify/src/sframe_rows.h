// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of all sections as one stream of intervals: disjoint, by address, each with the row that
// applies to it. The counterpart of cfi_rows.h. A PCMASK function is one interval with all rows of its block.

#pragma once

#include "sframe/row.h"
#include "sframe/verify/input.h"
#include "work_limit.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::verify {

struct SframeInterval {
  enum class Kind : std::uint8_t {
    row,    ///< `row` applies
    block,  ///< the rows of `block` apply at their offsets in each block of fde->rep_size bytes from
            ///< `function_begin` on
    none,   ///< the function has no row here
    broken, ///< the function's rows cannot be read here
  };
  std::uint64_t begin = 0, end = 0;
  Kind kind = Kind::none;
  FrameRow row;                    ///< no Rule::fixed
  std::span<const FrameRow> block; ///< likewise; valid until the next interval
  std::uint64_t function_begin = 0;
  const EncodedFde* fde = nullptr; ///< valid until the next interval
  std::uint32_t part = 0;
};

class SframeRows {
public:
  /// `pieces` are disjoint and by address, and must outlive the rows. Takes from `budget` unless it is
  /// nullptr.
  SframeRows(const Input& input, Budget* budget, std::span<const OwnedRange> pieces);

  bool next(SframeInterval& interval);

private:
  void open(const OwnedRange& piece);
  void read_block();
  void advance();
  void resolve(FrameRow& row) const;
  /// The start address of a row of the open function.
  std::uint64_t start_of(const FrameRow& row) const { return begin_ + row.offset; }

  const Input& input_;
  Budget* const budget_;
  std::span<const OwnedRange> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;
  std::vector<WorkLimit> limits_; ///< per part
  // The open function.
  bool is_open_ = false;
  bool readable_ = false;
  OwnedRange opened_;
  EncodedFde fde_;
  std::uint64_t begin_ = 0;
  std::optional<RowCursor> cursor_;
  FrameRow row_, following_;
  bool has_row_ = false, has_following_ = false;
  std::vector<FrameRow> block_;
};

} // namespace sframe::verify
