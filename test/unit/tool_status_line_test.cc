// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line of progress on a terminal, and the messages and results that share the terminal with it.

#include "sframe/tool/messages.h"
#include "sframe/tool/output.h"
#include "sframe/tool/status_line.h"

#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sframe::tool {
namespace tool_status_line_test {

/// What `work` writes to standard error, which is no terminal.
template <class Work> std::string caught(const Work& work) {
  testing::internal::CaptureStderr();
  work();
  return testing::internal::GetCapturedStderr();
}

TEST(ToolStatusLine, IsReplacedAndErased) {
  StatusLine line;
  EXPECT_EQ(caught([&] { (void)line.suspend(); }), "");
  EXPECT_EQ(caught([&] {
              line.show("one");
              line.show("two");
              (void)line.suspend();
              (void)line.suspend();
            }),
            "one\033[K\rtwo\033[K\r\033[K");
}

TEST(ToolStatusLine, IsCutToTheTerminal) {
  StatusLine line;
  const std::string text = "0123456789" + std::string(80, 'x');
  EXPECT_EQ(caught([&] { line.show(text); }), text.substr(0, 79) + "\033[K\r") << "no terminal: 80 columns";

  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0)
    GTEST_SKIP() << "no terminals here";
  const int other_end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(other_end, 0);
  const int old = ::dup(STDERR_FILENO);
  for (const auto columns : std::to_array<unsigned short>({10, 0})) { // no columns: the size is not known
    struct winsize size {};
    size.ws_col = columns;
    ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
    ASSERT_EQ(::dup2(other_end, STDERR_FILENO), STDERR_FILENO);
    line.show(text);
    ASSERT_EQ(::dup2(old, STDERR_FILENO), STDERR_FILENO);
    char shown[200];
    const ssize_t count = ::read(terminal, shown, sizeof shown);
    ASSERT_GT(count, 0);
    EXPECT_EQ(std::string(shown, static_cast<std::size_t>(count)),
              text.substr(0, columns == 0 ? 79 : 9) + "\033[K\r");
  }
  for (const int fd : {old, other_end, terminal}) ::close(fd);
}

TEST(ToolStatusLine, WaitsForTheEndOfAResult) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  StatusLine line;
  {
    Output out(pipe[1]);
    out.set_status(line);
    EXPECT_EQ(caught([&] {
                line.show("one");
                out << "half a line";
                out.flush();
                line.show("two");
                out << ", the rest\n";
                out.flush();
                line.show("three");
              }),
              "one\033[K\r\033[Kthree\033[K\r");
  }
  for (const int fd : pipe) ::close(fd);
}

TEST(ToolStatusLine, IsErasedBeforeAMessage) {
  Messages messages("sframe-test");
  EXPECT_EQ(caught([&] {
              messages.status().show("one");
              messages.note("", "text");
            }),
            "one\033[K\r\033[Ksframe-test: note: text\n");
}

TEST(ToolMessages, CopiesErrors) {
  Messages messages("sframe-test");
  Output copy(-1);
  messages.set_color(ColorMode::always);
  messages.set_copy(&copy);
  EXPECT_EQ(caught([&] {
              messages.error("a\tb", "wrong");
              messages.warning("c", "odd");
            }),
            "sframe-test: \033[1;31merror:\033[0m a\\x09b: wrong\n"
            "sframe-test: \033[1;35mwarning:\033[0m c: odd\n");
  EXPECT_EQ(copy.text(), "sframe-test: error: a\\x09b: wrong\n");
  messages.set_copy(nullptr);
  caught([&] { messages.error("", "not copied"); });
  EXPECT_EQ(copy.text(), "sframe-test: error: a\\x09b: wrong\n");
  EXPECT_EQ(messages.errors(), 2u);
}

TEST(ToolMessages, QuietAndVerbose) {
  const auto shown = [](bool quiet, bool verbose) {
    Messages messages("t");
    messages.set_quiet(quiet);
    messages.set_verbose(verbose);
    return caught([&] {
      messages.error("", "e");
      messages.warning("", "w");
      messages.note("", "n");
      messages.detail("", "d");
    });
  };
  EXPECT_EQ(shown(false, false), "t: error: e\nt: warning: w\nt: note: n\n");
  EXPECT_EQ(shown(true, false), "t: error: e\n");
  EXPECT_EQ(shown(false, true), "t: error: e\nt: warning: w\nt: note: n\nt: note: d\n");
}

} // namespace tool_status_line_test
} // namespace sframe::tool
