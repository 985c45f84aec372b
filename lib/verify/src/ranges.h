// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who owns an address where several claim it. The rule is the one that unwinders follow when they search by
// start address: the range that starts last; of equal starts the smallest; of equal ranges the first in its
// section.

#pragma once

#include "sframe/address.h"
#include "sframe/verify/input.h"

#include <span>
#include <vector>

namespace sframe::verify {

/// Sorts as disjoint() wants it.
void sort_ranges(std::vector<Range>& ranges);

/// Cuts sorted ranges into disjoint ones by that rule; an outer range goes on behind an inner one. At most
/// twice as many.
std::vector<Range> disjoint(std::span<const Range> sorted);

/// Disjoint ranges `first`, and those parts of disjoint ranges `second` that do not lie in them.
std::vector<Range> overlay(std::span<const Range> first, std::span<const Range> second);

/// Ranges of any order as what they cover together: disjoint, by address. Those that touch are one.
std::vector<Range> joined(std::vector<Range> ranges);

} // namespace sframe::verify
