// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What SFrame and CFI have for one unit of code, and SFrame for the targets of its jumps.

#pragma once

#include "cfi_rows.h"
#include "sframe/code/analysis.h"
#include "work_limit.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sframe::verify {

/// A unit of analysis: the code of one function. SFrame may describe a function in pieces (it omits what it
/// cannot represent), so the function's bounds come from the CFI if there is some, else from SFrame.
struct CodeUnit {
  std::uint64_t begin = 0, end = 0;
  std::span<const OwnedRange> sframe; ///< pieces of SFrame functions in the unit, by address; not empty
  std::optional<OwnedRange> cfi;      ///< the FDE that provided the bounds
};

/// A row of SFrame and its addresses.
struct PlacedRow {
  std::uint64_t begin = 0, end = 0;
  FrameRow row; ///< no Rule::fixed; `offset` counts from the unit's start
  std::uint32_t part = 0, function = 0;
};

/// The row at a canonical entry, without Rule::fixed.
FrameRow resolved_entry(const AbiTraits& abi);

class UnitRows {
public:
  /// `functions` are all SFrame functions, disjoint and by address.
  UnitRows(const Input& input, Budget& budget, std::span<const OwnedRange> functions);

  /// Reads a unit's CFI, and removes all placed rows. The unit must stay valid until the next one.
  void open(const CodeUnit& unit);
  const CodeUnit& unit() const { return *unit_; }

  /// SFrame's rows in the unit, by address; added by the code that reads them.
  std::vector<PlacedRow> placed;
  /// The placed row for an address, or nullptr.
  const PlacedRow* find(std::uint64_t address) const;

  std::optional<CfiRule> cfi_rule(std::uint64_t pc) const;
  /// True if the CFI has the same rules as the row, at the address or where the row starts after it.
  bool cfi_agrees(std::uint64_t address, const PlacedRow& row) const;

  FrameRow entry() const;
  /// False: what starts there may be a part of a function, for which rows were made from code.
  bool has_cfi() const { return !cfi_rules_.empty(); }
  /// code::Function::unknown_at_start.
  std::uint64_t unknown_at_start() const;
  std::vector<code::CallSite> call_sites() const;
  std::vector<FrameRow> hints() const;

  /// True if an SFrame function starts there.
  bool is_start_of_function(std::uint64_t address) const;
  std::optional<FrameRow> find_elsewhere(std::uint64_t address);

private:
  const Input& input_;
  Budget& budget_;
  const AbiTraits& abi_;
  std::span<const OwnedRange> functions_;
  const CodeUnit* unit_ = nullptr;
  std::vector<std::pair<std::uint64_t, CfiRule>> cfi_rules_; ///< from this address on; by address
  mutable std::size_t found_ = 0;                            ///< the row that was found last
  WorkLimit rows_elsewhere_{0}; ///< limit on rows of other functions that may be read
};

} // namespace sframe::verify
