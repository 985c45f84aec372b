// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of command lines: a shell takes them for what they were.

#include "sframe/base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace base_text_test {

using namespace sframe;

TEST(BaseText, WordsOfAShell) {
  std::string line;
  for (const char* word : {"cc", "-o", "", "a b", "it's", "x=1,2", "$HOME", "--"})
    append_shell_word(line, word);
  EXPECT_EQ(line, R"(cc -o '' 'a b' 'it'\''s' x=1,2 '$HOME' --)");
}

// Every byte but zero and the end of a line, as sh reads it.
TEST(BaseText, AsTheShellReadsIt) {
  for (int byte = 1; byte < 128; ++byte) {
    if (byte == '\n') continue;
    const std::string word = std::string("a") + static_cast<char>(byte) + "b";
    std::string line = "printf %s";
    append_shell_word(line, word);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
    ASSERT_TRUE(pipe);
    std::array<char, 16> text{};
    const std::size_t size = std::fread(text.data(), 1, text.size(), pipe.get());
    EXPECT_EQ(std::string(text.data(), size), word) << byte;
  }
}

TEST(BaseText, BytesAsText) {
  const std::array bytes = {std::byte{'a'}, std::byte{0}, std::byte{0xff}};
  EXPECT_EQ(as_text(bytes), std::string_view("a\0\xff", 3));
  EXPECT_EQ(as_text({}), "");
}

TEST(BaseText, CountedNouns) {
  EXPECT_EQ(counted(0, "file"), "0 files");
  EXPECT_EQ(counted(1, "file"), "1 file");
  EXPECT_EQ(counted(2, "address"), "2 addresses");
  EXPECT_EQ(counted(1'000, "more finding"), "1,000 more findings");
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1'234'567), "1,234,567");
}

} // namespace base_text_test
