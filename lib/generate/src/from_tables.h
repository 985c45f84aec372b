// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from tables other than CFI: ORC of kernels, the function table of Go (Options::orc, Options::go).

#pragma once

#include "sframe/generate/from_cfi.h"

namespace sframe::generate {

/// Add what the tables in the options describe of the input's code outside `described`, and add its addresses
/// to that. Linear in the entries; N log N in the symbols of a kernel.
void add_from_orc(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);
void add_from_go(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);

} // namespace sframe::generate
