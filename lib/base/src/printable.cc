// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/printable.h"

#include <algorithm>

namespace sframe {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

bool is_unprintable(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) // C0, DEL, C1
         || code == 0x061c                            // Arabic letter mark
         || code == 0x200e || code == 0x200f          // left-to-right and right-to-left mark
         || (code >= 0x2028 && code <= 0x202e)        // separators; embeddings and overrides
         || (code >= 0x2066 && code <= 0x2069);       // isolates
}

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f;
}

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (Unicode, table 3-7).
unsigned utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xbf; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return follows(1) ? 2 : 0;
  if (lead < 0xf0) {
    const bool valid = second >= (lead == 0xe0 ? 0xa0u : 0x80u) && second <= (lead == 0xed ? 0x9fu : 0xbfu);
    return valid && follows(2) ? 3 : 0;
  }
  const bool valid = second >= (lead == 0xf0 ? 0x90u : 0x80u) && second <= (lead == 0xf4 ? 0x8fu : 0xbfu);
  return valid && follows(2) && follows(3) ? 4 : 0;
}

void append_json_character(std::string& out, std::string_view text, const TextPiece& piece) {
  if (!piece.is_utf8) {
    out += "\xef\xbf\xbd";
  } else if (piece.code == '"' || piece.code == '\\') {
    out += '\\';
    out += text[0];
  } else if (piece.is_printable) {
    out += text.substr(0, piece.size);
  } else if (piece.code == '\n') {
    out += "\\n";
  } else if (piece.code == '\t') {
    out += "\\t";
  } else { // all are below U+10000
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += hex_digits[piece.code >> shift & 15];
  }
}

} // namespace

TextPiece first_piece(std::string_view text) {
  if (text.empty()) return {};
  const unsigned size = utf8_length(text);
  if (size == 0) return {1, 0xfffd, false, false};
  const auto lead = static_cast<unsigned char>(text[0]);
  char32_t code = size == 1 ? lead : lead & (0xffu >> (size + 1));
  for (unsigned i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  return {size, code, true, !is_unprintable(code)};
}

bool is_printable(std::string_view text) {
  const auto special = std::ranges::find_if_not(text, is_plain);
  text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
  while (!text.empty()) {
    const TextPiece piece = first_piece(text);
    if (!piece.is_printable) return false;
    text.remove_prefix(piece.size);
  }
  return true;
}

void append_printable(std::string& out, std::string_view text) {
  if (is_printable(text)) {
    out += text;
    return;
  }
  while (!text.empty()) {
    const TextPiece piece = first_piece(text);
    const std::string_view bytes = text.substr(0, piece.size);
    if (piece.is_printable)
      out += bytes;
    else
      for (const char c : bytes)
        out += {'\\', 'x', hex_digits[static_cast<unsigned char>(c) >> 4], hex_digits[c & 15]};
    text.remove_prefix(piece.size);
  }
}

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    // Fast path: nearly all text is plain.
    const auto special =
        std::ranges::find_if_not(text, [](char c) { return is_plain(c) && c != '"' && c != '\\'; });
    const auto plain = static_cast<std::size_t>(special - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const TextPiece piece = first_piece(text);
    append_json_character(out, text, piece);
    text.remove_prefix(piece.size);
  }
  out += '"';
}

std::string shown_name(std::string_view name) {
  constexpr std::string_view cut = "...";
  std::string shown(name.substr(0, max_shown_name));
  if (shown.size() < name.size()) shown.replace(shown.size() - cut.size(), cut.size(), cut);
  return shown;
}

} // namespace sframe
