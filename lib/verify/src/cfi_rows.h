// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CFI of a file as one stream of intervals: disjoint, by address, each with the rules that apply to it.
// Rows are executed as the stream advances; only one cursor per section is kept.

#pragma once

#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/index.h"
#include "sframe/row.h"
#include "sframe/verify/input.h"
#include "work_limit.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::verify {

/// The CFI's rules as far as they can be compared. Rules of `row` are never Rule::fixed.
struct CfiRule {
  enum class Kind : std::uint8_t {
    row,             ///< `row` applies
    plt,             ///< `row` applies, and its CFA is plt.step higher in a part of each block
    unrepresentable, ///< not representable as a row, see `why`; the parts named by `compare_...` are still in
                     ///< `row`
    broken,          ///< the CFI cannot be read here
  };
  Kind kind = Kind::broken;
  cfi::Unrepresentable why{};
  bool compare_cfa = false, compare_ra = false, compare_fp = false;
  FrameRow row;
  cfi::PltCfa plt;

  /// Kind::plt: the row that applies at `pc`, an address as the CFI counts them. Other kinds: unchanged.
  CfiRule at(std::uint64_t pc) const {
    CfiRule out = *this;
    if (kind != Kind::plt) return out;
    out.kind = Kind::row;
    if ((static_cast<std::uint32_t>(pc) & plt.mask) >= plt.threshold)
      out.row.cfa.offset = static_cast<std::int32_t>(std::int64_t{row.cfa.offset} + plt.step);
    return out;
  }
};

/// A FDE being read.
struct OpenFde {
  cfi::Fde fde;
  std::uint32_t source = 0;   ///< number in Input::cfi()
  std::uint64_t begin = 0;    ///< in the common address space
  std::uint64_t distance = 0; ///< common address = the FDE's own address + this
};

struct CfiInterval {
  std::uint64_t begin = 0, end = 0;
  CfiRule rule;
  const OpenFde* fde = nullptr; ///< valid until the next interval
};

class CfiRows {
public:
  /// `pieces` are disjoint and by address, and must outlive the rows. Takes from `budget`, and reports faults
  /// to `faults`, unless they are nullptr.
  CfiRows(const Input& input, Budget* budget, std::span<const OwnedRange> pieces, Sink* faults);

  bool next(CfiInterval& interval);

private:
  struct Source {
    std::optional<std::uint32_t> item;
    OpenFde open;
    std::optional<cfi::MinimalRowCursor> cursor;
    cfi::MinimalRow row;
    bool has_row = false;
    cfi::FrameRowMaker frame_rows;

    explicit Source(const AbiTraits& abi) : frame_rows(abi) {}
  };

  Source& open(const OwnedRange& piece);
  void advance(Source& source);
  static void set_rule(CfiRule& rule, Source& source, const AbiTraits& abi);

  const Input& input_;
  Budget* const budget_;
  std::span<const OwnedRange> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;
  std::vector<Source> sources_;
  WorkLimit resumptions_;
  Sink* faults_;
};

/// The finding that an entry of a table cannot be read.
Finding cfi_finding(const CfiTable& table, const cfi::Error& error);

} // namespace sframe::verify
