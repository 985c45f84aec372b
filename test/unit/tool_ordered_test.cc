// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output of several files in their order, whichever is ready first; when messages are coloured; options that
// several programs have.

#include "sframe/tool/coverage_options.h"
#include "sframe/tool/messages.h"
#include "sframe/tool/ordered.h"
#include "sframe/tool/output.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

namespace sframe::tool {
namespace tool_ordered_test {

class ToolOrdered : public testing::Test {
protected:
  ToolOrdered() {
    messages.set_verbose(true);
    // What was written when a message is printed.
    messages.set_before([this] { out << '!'; });
  }
  Output out{-1};
  Messages messages{"sframe-test"};
};

TEST_F(ToolOrdered, FilesInTheirOrder) {
  OrderedOutput ordered(4, out, messages);
  ordered.slot(1).text("b");
  ordered.slot(0).text("a");
  EXPECT_EQ(out.text(), "a");
  ordered.slot(2).text("c");
  ordered.close(2);
  EXPECT_EQ(out.text(), "a");
  ordered.slot(0).text("A");
  ordered.close(0);
  EXPECT_EQ(out.text(), "aAb");
  ordered.slot(1).text("B");
  EXPECT_EQ(out.text(), "aAbB");
  ordered.slot(3).text("d");
  ordered.close(1);
  EXPECT_EQ(out.text(), "aAbBcd");
  ordered.slot(3).text("D");
  ordered.close(3);
  EXPECT_EQ(out.text(), "aAbBcdD");
  EXPECT_FALSE(ordered.failed());
}

TEST_F(ToolOrdered, ElementsHaveCommas) {
  OrderedOutput ordered(2, out, messages);
  ordered.slot(1).begin_element();
  ordered.slot(1).text("3");
  for (const char* const text : {"1", "2"}) {
    ordered.slot(0).begin_element();
    ordered.slot(0).text(text);
  }
  ordered.close(0);
  ordered.close(1);
  EXPECT_EQ(out.text(), "1,2,3");
}

TEST_F(ToolOrdered, MessagesAmongTexts) {
  testing::internal::CaptureStderr();
  {
    OrderedOutput ordered(2, out, messages);
    ordered.slot(1).text("b");
    ordered.slot(1).error("file", "wrong");
    ordered.slot(1).text("B");
    ordered.slot(0).warning("", "odd");
    ordered.slot(0).detail("file", "small");
    ordered.slot(0).text("a");
    ordered.close(0);
    ordered.close(1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "sframe-test: warning: odd\n"
                                                    "sframe-test: note: file: small\n"
                                                    "sframe-test: error: file: wrong\n");
  EXPECT_EQ(out.text(), "!!ab!B");
}

TEST(ToolMessagesColor, EnvironmentAndTerminal) {
  EXPECT_TRUE(use_color(ColorMode::always, -1));
  EXPECT_FALSE(use_color(ColorMode::never, -1));
  EXPECT_FALSE(use_color(ColorMode::automatic, -1)); // no terminal
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "no terminals here";
  const auto with = [&](const char* no_color, const char* term) {
    no_color ? ::setenv("NO_COLOR", no_color, 1) : ::unsetenv("NO_COLOR");
    term ? ::setenv("TERM", term, 1) : ::unsetenv("TERM");
    return use_color(ColorMode::automatic, terminal);
  };
  const char* const old = std::getenv("TERM");
  const std::optional<std::string> term = old ? std::optional<std::string>(old) : std::nullopt;
  EXPECT_TRUE(with(nullptr, "xterm"));
  EXPECT_TRUE(with(nullptr, nullptr));
  EXPECT_TRUE(with("", "xterm"));
  EXPECT_FALSE(with("1", "xterm"));
  EXPECT_FALSE(with(nullptr, "dumb"));
  with(nullptr, term ? term->c_str() : nullptr);
  ::close(terminal);
}

TEST(ToolOptions, RequiredCoverage) {
  const auto required = [](double executable, double described) {
    const auto found = required_coverage({.executable = executable, .described = described});
    if (!found) return std::pair(std::optional(-1.0), std::optional(-1.0));
    return std::pair(found->executable, found->described);
  };
  using Pair = std::pair<std::optional<double>, std::optional<double>>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(required(-1, -1), Pair(std::nullopt, std::nullopt));
  EXPECT_EQ(required(0, -1), Pair(0.0, std::nullopt));
  EXPECT_EQ(required(-1, 0.5), Pair(std::nullopt, 0.5));
  EXPECT_EQ(required(100, 0), Pair(100.0, 0.0));
  EXPECT_EQ(required(nan, -1), Pair(-1.0, -1.0));
  EXPECT_EQ(required(5, nan), Pair(-1.0, -1.0));
}

} // namespace tool_ordered_test
} // namespace sframe::tool
