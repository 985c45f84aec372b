// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code to which signal handlers return (sframe/code/signal_return.h), where there is no CFI. Nothing shows
// how control enters it, and nothing needs to: the system call does not work with another SP. It starts where
// a function was found, or at an address that code puts into a register: a function before it that ends with
// a call seems to run on into it.

#pragma once

#include "code_functions.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

struct SignalReturn {
  std::uint64_t start = 0;
  /// Its addresses. They begin a byte before it, where nothing else needs that byte: readers look up the
  /// address that a handler returns to minus 1, as if a call was there.
  AddressRange range;
};

/// By address. Code after which control seems to go on, and code that a function calls, or enters after its
/// start, is no such code: it makes the system call for others. `addresses`: those that CodeFunctions::find()
/// adds. Linear in these, the functions and their calls.
std::vector<SignalReturn> find_signal_returns(const CfiInput& input, const AddressSet& holes,
                                              const CodeFunctionList& functions,
                                              std::span<const std::uint64_t> addresses);

} // namespace sframe::generate
