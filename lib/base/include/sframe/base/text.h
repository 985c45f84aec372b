// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes as text, text as a word of a shell, and numbers with their nouns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

/// The bytes as characters: a view of them, whatever they are.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Appends a word of a command line, quoted if a POSIX shell (2.2, Quoting) would take it for something else,
/// after a blank if the line has words. The text is not made safe for terminals (printable.h does that).
void append_shell_word(std::string& line, std::string_view word);

/// "1,234,567": a number for people.
std::string with_commas(std::uint64_t number);

/// "1 function", "1,234 functions", "2 addresses": the same with a noun whose plural has an s.
std::string counted(std::uint64_t number, std::string_view noun);

} // namespace sframe

#pragma GCC visibility pop
