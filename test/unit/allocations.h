// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often the test program has asked for memory by `new`: allocations.cc replaces it.

#pragma once

#include <cstddef>

namespace sframe::test {

/// Calls of operator new so far, on all threads.
std::size_t allocations();

} // namespace sframe::test
