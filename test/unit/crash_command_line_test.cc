// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line on the stack of a program's start, as Linux puts it there (fs/binfmt_elf.c,
// create_elf_tables).

#include "crash_core.h"

#include "sframe/crash/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crash_command_line_test {

using namespace sframe;
using namespace sframe::test;
using Texts = std::vector<std::string>;

constexpr std::uint64_t at = CrashCore::stack_at + 0x400, strings = CrashCore::stack_at + 0x800;

/// A stack with these arguments, each of up to seven bytes, and two variables of the environment.
CrashCore with_arguments(const Texts& arguments) {
  CrashCore made{.info = {.signal = 11}, .auxv = {{6, 4096}, {25, strings + 0x200}}};
  std::uint64_t word = at, text = strings;
  const auto put = [&](std::uint64_t value) { made.words.emplace_back(word, value), word += 8; };
  put(arguments.size());
  for (const std::string& argument : arguments) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < argument.size(); ++i)
      bytes |= std::uint64_t{static_cast<unsigned char>(argument[i])} << 8 * i;
    made.words.emplace_back(text, bytes);
    put(text), text += 8;
  }
  put(0), put(strings), put(strings), put(0);
  for (const auto& [tag, value] : made.auxv) put(tag), put(value);
  return made;
}

crash::CommandLine command_of(const CrashCore& made) {
  const auto bytes = made.build();
  const auto core = core::Core::parse(bytes);
  EXPECT_TRUE(core);
  return core ? crash::command_line(*core) : crash::CommandLine();
}

TEST(CrashCommandLine, OnTheStack) {
  const Texts arguments = {"./serve", "-p", "", "a b", "it's"};
  const crash::CommandLine command = command_of(with_arguments(arguments));
  EXPECT_EQ(command.arguments, arguments);
  EXPECT_TRUE(command.complete);
  EXPECT_EQ(crash::shell_line(command), R"(./serve -p '' 'a b' 'it'\''s')");
}

// The second argument is at an address that the core does not have: what is known is shown.
TEST(CrashCommandLine, CutWhereMemoryIsMissing) {
  CrashCore made = with_arguments({"one", "two", "three"});
  for (auto& [address, value] : made.words)
    if (address == at + 8 * 2) value = 8;
  const crash::CommandLine command = command_of(made);
  EXPECT_EQ(command.arguments, Texts{"one"});
  EXPECT_FALSE(command.complete);
}

TEST(CrashCommandLine, NothingKnown) {
  const crash::CommandLine command = command_of({.info = {.signal = 11}});
  EXPECT_TRUE(command.arguments.empty());
  // The vector is not on the stack.
  EXPECT_TRUE(command_of({.info = {.signal = 11}, .auxv = {{6, 4096}, {25, strings}}}).arguments.empty());
  // What precedes it is neither argument nor number.
  CrashCore made = with_arguments({"one"});
  for (auto& [address, value] : made.words)
    if (address == at) value = 77;
  EXPECT_TRUE(command_of(made).arguments.empty());
}

TEST(CrashCommandLine, MayBeMore) {
  EXPECT_EQ(crash::shell_line({.arguments = {"a"}, .complete = false}), "a ...");
}

} // namespace crash_command_line_test
