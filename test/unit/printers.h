// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How GoogleTest shows the values that tests compare, instead of their bytes. It finds these functions by
// their names. They are here and not in the libraries, which show rows to users by row_text(): that needs an
// ABI for the names of registers, and a test's failure has none. Every test file must see them
// (test/unit/CMakeLists.txt precompiles this header): the same type must not be printed in two ways.
//
// Each is defined beside its test, in LIBRARY_printers_test.cc.

#pragma once

#include <iosfwd>

namespace sframe {

struct Rule;
struct FrameRow;
struct Fde;
struct Problem;

void PrintTo(const Rule& rule, std::ostream* out);    ///< "r7+16", "[cfa-8]", "fixed"
void PrintTo(const FrameRow& row, std::ostream* out); ///< "0x4: cfa=r7+16 ra=fixed fp=same"
void PrintTo(const Fde& fde, std::ostream* out);      ///< "0x1000-0x1010, signal frame"
void PrintTo(const Problem& problem, std::ostream* out);

namespace unwind {

struct FrameState;

void PrintTo(const FrameState& frame, std::ostream* out); ///< "pc 0x1004 (return address) r7=0x10"

} // namespace unwind

namespace verify {

struct Finding;

void PrintTo(const Finding& finding, std::ostream* out); ///< "C102 at 0x10-0x14: MESSAGE"

} // namespace verify

} // namespace sframe
