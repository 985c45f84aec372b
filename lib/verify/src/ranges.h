// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns addresses that are in several ranges. The rule is that of unwinders that search by start address:
// the range that starts last wins; of equal starts the smallest; of equal ranges the first in its section.

#pragma once

#include "sframe/address.h"
#include "sframe/verify/input.h"

#include <span>
#include <vector>

namespace sframe::verify {

/// Sorts as disjoint() requires.
void sort_ranges(std::vector<Range>& ranges);

/// Splits sorted ranges into disjoint ones by that rule; an outer range continues after an inner one. At most
/// twice as many.
std::vector<Range> disjoint(std::span<const Range> sorted);

/// The disjoint ranges `first`, and the parts of the disjoint ranges `second` outside them.
std::vector<Range> overlay(std::span<const Range> first, std::span<const Range> second);

/// The union of ranges in any order: disjoint, by address. Adjacent ranges are joined.
std::vector<Range> joined(std::vector<Range> ranges);

} // namespace sframe::verify
