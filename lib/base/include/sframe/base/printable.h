// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from a file (names, paths) made harmless for terminals and for whatever reads what the programs write. The one
// place that decides what is harmless: not the controls C0, C1 (as U+0080..U+009F; as bytes they are not UTF-8 anyway)
// and DEL, not what turns the direction of text around (Unicode's Bidi_Control), not the separators of lines and
// paragraphs, and nothing that is not UTF-8. A backslash is harmless, so the text cannot always be turned back.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sframe {

/// The start of a text: one character, or one byte that is part of none.
struct TextPiece {
  std::size_t size = 0; ///< bytes; 0 at the end
  char32_t code = 0;    ///< U+FFFD where the byte is not UTF-8
  bool is_utf8 = false;
  bool is_harmless = false;
};

/// Allocates nothing, and may be called in a signal handler.
TextPiece first_piece(std::string_view text);

/// True where the text can be printed as it is.
bool is_harmless(std::string_view text);

/// Appends the text, each byte of what is not harmless as "\xNN".
void append_harmless(std::string& out, std::string_view text);
std::string harmless(std::string_view text);

/// Appends the text as a JSON string with its quotes: what is not harmless as an escape of JSON's ("\n", "\u202e"),
/// bytes that are not UTF-8 as U+FFFD.
void append_json_string(std::string& out, std::string_view text);

} // namespace sframe
