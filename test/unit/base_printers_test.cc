// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// printers.h: problems.

#include "printers.h"

#include "sframe/base/problem.h"

#include <gtest/gtest.h>

#include <ostream>

namespace sframe {

void PrintTo(const Problem& problem, std::ostream* out) {
  *out << problem.text();
}

} // namespace sframe

namespace base_printers_test {
namespace {

TEST(Printers, Problems) {
  const sframe::Problem problem{"wrong", ".sframe", 0x10};
  EXPECT_EQ(testing::PrintToString(problem), "wrong (offset 0x10, section .sframe)");
}

} // namespace
} // namespace base_printers_test
