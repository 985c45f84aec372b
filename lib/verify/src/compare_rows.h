// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing two rows by what they mean. Rules may be written differently and say the same: a slot relative to
// the register that the CFA is based on is a slot relative to the CFA, and a register that "is in itself" is
// unchanged.

#pragma once

#include "cfi_rows.h"
#include "sframe/abi.h"
#include "sframe/row.h"
#include "sframe/verify/findings.h"

#include <array>
#include <cstdint>
#include <string>

namespace sframe::verify {

/// Which findings two rows give: C101 to C106, and C108 where the CFI could not be compared.
struct Differences {
  std::array<Id, 6> ids{};
  std::uint32_t count = 0;

  void add(Id id) { ids[count++] = id; }
  const Id* begin() const { return ids.data(); }
  const Id* end() const { return ids.data() + count; }
};

/// What differs between a row of SFrame and the CFI's rule. Rows must not hold Rule::fixed. Constant cost.
Differences compare(const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi);

/// One line that says how they differ: "CFA is sp+16 in SFrame, sp+24 in the CFI".
std::string difference_text(Id id, const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi);

/// "cfa=sp+16 ra=[cfa-8] fp=same".
std::string row_text(const FrameRow& row, const AbiTraits& abi);

/// The same for the CFI; where no row can say it, why.
std::string rule_text(const CfiRule& rule, const AbiTraits& abi);

} // namespace sframe::verify
