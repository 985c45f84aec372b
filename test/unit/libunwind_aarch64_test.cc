// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The libunwind interface for AArch64: numbers, names, byte orders. Walks are tested on other targets.

#include "libunwind-aarch64.h"

#include <gtest/gtest.h>

#include <endian.h>

namespace libunwind_aarch64_test {

int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int, void*) {
  *value = static_cast<unw_word_t>(reg);
  return 0;
}

TEST(LibunwindAArch64, NumbersAndNames) {
  EXPECT_STREQ(unw_regname(UNW_REG_IP), "pc");
  EXPECT_STREQ(unw_regname(UNW_REG_SP), "sp");
  EXPECT_STREQ(unw_regname(UNW_AARCH64_X30), "x30");
  EXPECT_TRUE(unw_is_fpreg(UNW_AARCH64_V31));
  EXPECT_FALSE(unw_is_fpreg(UNW_AARCH64_SP));
  EXPECT_EQ(UNW_AARCH64_FPCR, 97);
}

TEST(LibunwindAArch64, BothByteOrders) {
  for (const int order : {0, __LITTLE_ENDIAN, __BIG_ENDIAN}) {
    unw_accessors_t accessors{};
    accessors.access_reg = access_reg;
    unw_addr_space_t space = unw_create_addr_space(&accessors, order);
    ASSERT_TRUE(space);
    unw_cursor_t cursor;
    ASSERT_EQ(unw_init_remote(&cursor, space, nullptr), 0);
    for (const int reg :
         {int(UNW_AARCH64_X0), int(UNW_AARCH64_X30), int(UNW_AARCH64_SP), int(UNW_AARCH64_PC)}) {
      unw_word_t value = 0;
      EXPECT_EQ(unw_get_reg(&cursor, reg, &value), 0);
      EXPECT_EQ(value, static_cast<unw_word_t>(reg)) << "each is asked for by its number";
    }
    unw_word_t value = 0;
    EXPECT_EQ(unw_get_reg(&cursor, UNW_AARCH64_PSTATE, &value), -UNW_EBADREG);
    unw_destroy_addr_space(space);
  }
}

} // namespace libunwind_aarch64_test
