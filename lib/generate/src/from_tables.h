// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from tables other than CFI: ORC of kernels, the function table of Go (Options::orc, Options::go).

#pragma once

#include "sframe/generate/from_cfi.h"

namespace sframe::generate {

/// Adds what the kernel's table describes of the input's code outside `described`, and adds its addresses to
/// that. Linear in the entries; N log N in the symbols of a kernel.
void add_from_orc(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);
/// Adds what Go's table describes of the input's code outside stubs, and returns its addresses. Linear in the
/// functions.
AddressSet add_from_go(const CfiInput& input, const Options& options, Conversion& out);

} // namespace sframe::generate
