// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two rows by their meaning. Different rules may be equivalent: a slot relative to the register that
// the CFA is based on is also a slot relative to the CFA, and a register "saved in itself" is unchanged.

#pragma once

#include "cfi_rows.h"
#include "sframe/abi.h"
#include "sframe/row.h"
#include "sframe/verify/findings.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::verify {

/// The findings for two rows: C101 to C106, and C108 if the CFI could not be compared.
struct Differences {
  std::array<Id, 6> ids{};
  std::uint32_t count = 0;

  void add(Id id) { ids[count++] = id; }
  const Id* begin() const { return ids.data(); }
  const Id* end() const { return ids.data() + count; }
};

/// The differences between a row of SFrame and the CFI's rule. Rows must not contain Rule::fixed. Constant
/// cost.
Differences compare(const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi);

/// One line that describes the difference: "CFA is sp+16 in SFrame, sp+24 in the CFI". `reference`: what the
/// rule is from.
std::string difference_text(Id id, const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi,
                            std::string_view reference = "the CFI");

/// The end of a finding's message if the CFI has the same rules (Finding::compiler).
inline constexpr const char* cfi_agrees_suffix = "; the CFI agrees with SFrame";

/// The rule as row_text() shows a row; if no row can represent it, the reason.
std::string rule_text(const CfiRule& rule, const AbiTraits& abi);

} // namespace sframe::verify
