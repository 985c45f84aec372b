// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <sframe/base/lazy.h>

#include <gtest/gtest.h>

#include <memory>

namespace base_lazy_test {

TEST(Lazy, MadeOnceAtTheFirstQuestion) {
  sframe::Lazy<std::unique_ptr<int>> lazy;
  int made = 0;
  const auto make = [&] { return std::make_unique<int>(++made); };
  EXPECT_EQ(lazy.made(), nullptr);
  EXPECT_EQ(*lazy.get(make), 1);
  EXPECT_EQ(*lazy.get(make), 1);
  EXPECT_EQ(made, 1);
  ASSERT_NE(lazy.made(), nullptr);
  EXPECT_EQ(**lazy.made(), 1);
}

// A failed attempt leaves nothing: the next question tries again.
TEST(Lazy, NothingAfterAnException) {
  sframe::Lazy<int> lazy;
  EXPECT_THROW(lazy.get([]() -> int { throw 1; }), int);
  EXPECT_EQ(lazy.made(), nullptr);
  EXPECT_EQ(lazy.get([] { return 2; }), 2);
}

} // namespace base_lazy_test
