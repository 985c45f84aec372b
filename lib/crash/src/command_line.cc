// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux puts on the stack of a program's start, from low addresses to high ones (fs/binfmt_elf.c,
// create_elf_tables):
//
//   argc, argv[0] ... argv[argc - 1], 0, the environment, 0, the auxiliary vector, the random bytes, the
//   strings

#include "sframe/crash/command_line.h"

#include "core_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sframe::crash {

namespace {

constexpr std::size_t most_arguments = 1024, most_bytes = 64 << 10;

/// Where the auxiliary vector is on the stack of the program's start: shortly below the bytes that AT_RANDOM
/// points to. Found by its first two entries.
std::optional<std::uint64_t> find_auxiliary_vector(const core::Core& core) {
  const auto random = core.auxv(elf::at_random);
  const auto first = core.auxiliary_vector();
  if (!random || first.size() < 2) return std::nullopt;
  constexpr std::uint64_t farthest = 4096;
  for (std::uint64_t at = *random & ~std::uint64_t{7}, back = 0; back < farthest; back += 8, at -= 8) {
    bool found = true;
    for (std::uint64_t i = 0; i < 2 && found; ++i)
      found =
          core.read_word(at + 16 * i) == first[i].tag && core.read_word(at + 16 * i + 8) == first[i].value;
    if (found) return at;
  }
  return std::nullopt;
}

/// Below the auxiliary vector: argc, the arguments, zero, the environment, zero.
std::optional<CommandLine> arguments_on_stack(const core::Core& core) {
  const auto auxiliary = find_auxiliary_vector(core);
  if (!auxiliary) return std::nullopt;
  std::uint64_t at = *auxiliary - 8;
  if (core.read_word(at) != 0u) return std::nullopt;
  constexpr std::uint64_t most_variables = 1 << 16;
  for (std::uint64_t i = 0; i < most_variables; ++i) { // the environment, up to the zero before it
    const auto word = core.read_word(at -= 8);
    if (!word) return std::nullopt;
    if (*word == 0) break;
  }
  std::uint64_t count = 0; // the word before the first argument is their number
  for (;; ++count) {
    const auto word = core.read_word(at -= 8);
    if (!word || count > most_variables) return std::nullopt;
    if (*word == count) break;
  }
  CommandLine command;
  std::size_t size = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto pointer = core.read_word(at + 8 + 8 * i);
    auto text = pointer && i < most_arguments ? string_at(core, *pointer, most_bytes - size) : std::nullopt;
    if (!text) {
      command.complete = false;
      break;
    }
    size += text->size() + 1;
    command.arguments.push_back(std::move(*text));
  }
  return command.arguments.empty() ? std::nullopt : std::optional(std::move(command));
}

} // namespace

CommandLine command_line(const core::Core& core) {
  if (auto found = arguments_on_stack(core)) return std::move(*found);
  CommandLine command;
  if (const auto arguments = core.command_line(); !arguments.empty()) {
    command.arguments.assign(arguments.begin(), arguments.end());
    command.complete = arguments.size() < core::Core::max_arguments;
    return command;
  }
  constexpr std::size_t most_in_note = 79;
  std::string_view rest = core.arguments();
  command.complete = rest.size() < most_in_note;
  while (!rest.empty()) { // the kernel has put blanks between the arguments
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (end) command.arguments.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return command;
}

std::string shell_line(const CommandLine& command) {
  std::string line;
  for (const std::string& argument : command.arguments) append_shell_word(line, argument);
  if (!command.complete) line += " ...";
  return line;
}

} // namespace sframe::crash
