// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes text from a file (names, paths) safe for terminals and for consumers of the programs' output. The
// only definition of unsafe text: the controls C0, C1 (U+0080..U+009F; as bytes they are not UTF-8 anyway)
// and DEL, characters that change the text direction (Unicode's Bidi_Control), line and paragraph separators,
// and bytes that are not UTF-8. A backslash is safe, so escaping is not always reversible.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

/// The first piece of a text: one character, or one byte that is not UTF-8.
struct TextPiece {
  std::size_t size = 0; ///< bytes; 0 at the end
  char32_t code = 0;    ///< U+FFFD if the byte is not UTF-8
  bool is_utf8 = false;
  bool is_printable = false;
};

/// Allocates nothing; may be called in a signal handler.
TextPiece first_piece(std::string_view text);

/// True if the text can be printed unchanged.
bool is_printable(std::string_view text);

/// Appends the text, with each unsafe byte as "\xNN".
void append_printable(std::string& out, std::string_view text);
std::string printable(std::string_view text);

/// Appends the text as a JSON string with quotes: unsafe characters as JSON escapes ("\n", "\u202e"), bytes
/// that are not UTF-8 as U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Names in a file may be as long as the file, and shared: they are shown up to this many bytes.
inline constexpr std::size_t max_shown_name = 4096;

/// The name, or its start and "..." if it is longer than max_shown_name.
std::string shown_name(std::string_view name);

} // namespace sframe

#pragma GCC visibility pop
