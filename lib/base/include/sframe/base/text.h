// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes as text, and text as a word of a shell.

#pragma once

#include <cstddef>
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

} // namespace sframe

#pragma GCC visibility pop
