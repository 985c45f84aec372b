// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Baselines: written and read back, merged, and with findings taken out.

#include <gtest/gtest.h>

#include <sframe/verify/baseline.h>

namespace verify_baseline_test {

using sframe::verify::Baseline;

TEST(VerifyBaseline, KeysAreFileNameKindAndFunction) {
  const auto key = Baseline::key("/usr/lib/libfoo.so", "C102", "foo::bar(int)");
  EXPECT_EQ(key.file, "libfoo.so");
  EXPECT_EQ(key.id, "C102");
  EXPECT_EQ(key.function, "foo::bar(int)");
  EXPECT_EQ(Baseline::key("dir/lib.a(sub/x.o)", "C102", "").file, "lib.a(sub/x.o)");
  // A name must not look like the end of a field or a line.
  EXPECT_EQ(Baseline::key("a\tb", "C102", "f\ng").function, "f g");
  EXPECT_EQ(Baseline::key("a b", "C102", "\x1f !").function, "  !");
}

TEST(VerifyBaseline, TextIsSortedAndReadsBack) {
  Baseline known;
  known.add({"b.so", "C102", "g"});
  known.add({"a.so", "C104", "operator new(unsigned long)"});
  known.add({"b.so", "C102", "g"});
  const std::string text = known.text();
  const auto first = text.find("a.so\tC104\t1\toperator new(unsigned long)\n");
  const auto second = text.find("b.so\tC102\t2\tg\n");
  ASSERT_NE(first, std::string::npos);
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  const auto read = Baseline::parse(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), text);
}

TEST(VerifyBaseline, TakesUpToCount) {
  auto known = Baseline::parse("a.so\tC102\t1\tf\n\n# merged\r\na.so\tC102\t1\tf\r\n");
  ASSERT_TRUE(known);
  EXPECT_FALSE(known->take({"a.so", "C102", "g"}));
  EXPECT_FALSE(known->take({"a.so", "C101", "f"}));
  EXPECT_TRUE(known->take({"a.so", "C102", "f"}));
  EXPECT_TRUE(known->take({"a.so", "C102", "f"}));
  EXPECT_FALSE(known->take({"a.so", "C102", "f"}));
}

TEST(VerifyBaseline, CountsStayAtTheLargest) {
  const auto known = Baseline::parse("x\tC102\t18446744073709551615\tf\nx\tC102\t2\tf\n");
  ASSERT_TRUE(known);
  EXPECT_NE(known->text().find("x\tC102\t18446744073709551615\tf\n"), std::string::npos);
}

TEST(VerifyBaseline, MergeKeepsTheLargerNumber) {
  auto a = Baseline::parse("x\tC102\t3\tf\n"), b = Baseline::parse("x\tC102\t2\tf\nx\tS001\t1\t\n");
  ASSERT_TRUE(a && b);
  a->merge(*b);
  EXPECT_NE(a->text().find("x\tC102\t3\tf\n"), std::string::npos);
  EXPECT_NE(a->text().find("x\tS001\t1\t\n"), std::string::npos);
  auto c = Baseline::parse("x\tC102\t2\tf\n");
  c->merge(*a);
  EXPECT_NE(c->text().find("x\tC102\t3\tf\n"), std::string::npos);
}

TEST(VerifyBaseline, BadLinesAreReported) {
  for (const char* line : {"a.so", "a.so\tC102", "a.so\tC102\tmany\tf", "a.so\tC102\t-1\tf",
                           "a.so\tC102\t99999999999999999999\tf", "a.so\t\t1\tf"}) {
    const auto read = Baseline::parse(std::string("# head\n") + line + "\n");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().what, "line 2 is not a baseline entry");
  }
}

// What is written reads back, whatever files and functions are called.
TEST(VerifyBaseline, NamesLikeSyntaxReadBack) {
  Baseline found;
  for (const char* file : {"dir/#odd.so", "a\tb.so", "a\nb.so", "#"})
    for (const char* function : {"f\r\r", "f\t3", "#f", ""}) found.add(Baseline::key(file, "C102", function));
  auto read = Baseline::parse(found.text());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->text(), found.text());
  EXPECT_TRUE(read->take(Baseline::key("other/#odd.so", "C102", "#f")));
  const auto by_hand = Baseline::parse("x.so\tC102\t1\tf\r\r\r\n");
  ASSERT_TRUE(by_hand.has_value());
  EXPECT_EQ(Baseline::parse(by_hand->text())->text(), by_hand->text());
}

} // namespace verify_baseline_test
