// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the Linux kernel and its modules, from their ORC table (Options::orc).

#pragma once

#include "sframe/generate/from_cfi.h"

namespace sframe::generate {

/// Adds what the table describes of the input's code outside `described`, and adds its addresses to that. A
/// function begins at each symbol; where there is none, at an entry that is like a function's first, if code
/// is aligned there. Linear in the entries and symbols.
void add_from_orc(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);

} // namespace sframe::generate
