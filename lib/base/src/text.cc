// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/text.h"

namespace sframe {

void append_shell_word(std::string& line, std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!line.empty()) line += ' ';
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) {
    line += word;
    return;
  }
  line += '\'';
  for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
  line += '\'';
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  std::string text = with_commas(number);
  text.append(" ").append(noun);
  if (number != 1) text += noun.ends_with('s') ? "es" : "s";
  return text;
}

} // namespace sframe
