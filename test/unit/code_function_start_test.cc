// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a function may start, by what is known of the place and how control seems to get there.

#include "sframe/code/function_start.h"

#include <gtest/gtest.h>
#include <string>

namespace code_function_start_test {

using sframe::code::Arrival;
using sframe::code::may_start_function;
using sframe::code::StartSigns;

constexpr Arrival all[] = {Arrival::after_call, Arrival::after_returning_call, Arrival::after_rare_call,
                           Arrival::by_jump};

TEST(CodeFunctionStart, OneSignIsEnough) {
  for (const Arrival arrival : all) {
    EXPECT_TRUE(may_start_function({.is_marked = true}, arrival));
    EXPECT_TRUE(may_start_function({.is_named = true}, arrival));
    EXPECT_TRUE(may_start_function({.is_referred_to = true}, arrival));
  }
}

/// Padding in front of an address where no loop is aligned is not executed.
TEST(CodeFunctionStart, Padding) {
  for (const Arrival arrival : all) EXPECT_TRUE(may_start_function({.is_after_padding = true}, arrival));
}

TEST(CodeFunctionStart, PlaceAlone) {
  const auto may_start = [](const StartSigns& signs) {
    std::string result;
    for (const Arrival arrival : all) result += may_start_function(signs, arrival) ? 'x' : '.';
    return result;
  };
  EXPECT_EQ(may_start({}), "..x.");
  EXPECT_EQ(may_start({.is_aligned = true}), "x.xx");
  EXPECT_EQ(may_start({.is_after_padding = true, .is_aligned = true}), "xxxx");
}

} // namespace code_function_start_test
