// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CFI of a file as one stream of intervals: disjoint, by address, each with the rules that hold in it.
// Rows are executed as the stream goes; nothing is kept but one cursor per section.

#pragma once

#include "work_limit.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/index.h"
#include "sframe/row.h"
#include "sframe/verify/input.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::verify {

/// What the CFI says, as far as it can be compared. Rules of `row` are never Rule::fixed.
struct CfiRule {
  enum class Kind : std::uint8_t {
    row,       ///< `row` holds
    plt,       ///< `row` holds, and its CFA is plt.step higher in a part of each block
    unsayable, ///< no row can say it, see `why`; what `compare_...` name is in `row` all the same
    broken,    ///< the CFI cannot be read here
  };
  Kind kind = Kind::broken;
  cfi::Unsayable why{};
  bool compare_cfa = false, compare_ra = false, compare_fp = false;
  FrameRow row;
  cfi::PltCfa plt;

  /// Kind::plt: the row that holds at `pc`, an address as the CFI counts them. Others: as they are.
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
  /// `pieces` are disjoint and by address. Faults go to `faults` where it is given.
  CfiRows(const Input& input, std::vector<Range> pieces, Sink* faults);

  bool next(CfiInterval& interval);

private:
  struct Source {
    std::optional<std::uint32_t> item;
    OpenFde open;
    std::optional<cfi::CoreRowCursor> cursor;
    cfi::CoreRow row;
    bool has_row = false;
  };

  Source& open(const Range& piece);
  void advance(Source& source);
  static CfiRule rule_of(const cfi::CoreRow& row, const AbiTraits& abi);

  const Input& input_;
  std::vector<Range> pieces_;
  std::size_t piece_ = 0;
  std::uint64_t at_ = 0;
  std::vector<Source> sources_;
  WorkLimit budget_;
  Sink* faults_;
};

/// The FDEs of all tables of a kind as disjoint ranges. Entries that cannot be read are reported to `faults`
/// where it is given; those that are not about code of the file are left out.
std::vector<Range> cfi_ranges(const Input& input, cfi::SectionKind kind, Sink* faults);

} // namespace sframe::verify
