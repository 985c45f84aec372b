// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from files made safe to print: what is safe is in printable.h, well-formed UTF-8 in table 3-7 of the
// Unicode standard, JSON's escapes in RFC 8259.

#include "sframe/base/coverage.h"
#include "sframe/base/printable.h"
#include "sframe/base/problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sframe {
namespace base_printable_test {

/// UTF-8 of any code up to U+1FFFFF, surrogates too, in `size` bytes: what is well-formed is for the test.
std::string encoded(std::uint32_t code, unsigned size) {
  if (size == 1) return {static_cast<char>(code)};
  std::string out(size, '\0');
  for (unsigned i = size - 1; i != 0; --i, code >>= 6) out[i] = static_cast<char>(0x80 | (code & 0x3f));
  out[0] = static_cast<char>((0xff00 >> size & 0xff) | code);
  return out;
}

unsigned shortest(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

std::string json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(Printable, EveryCharacterIsOnePiece) {
  for (const std::uint32_t code :
       {0x00u,   0x1fu,   0x20u,    0x7eu,    0x7fu,    0x80u,    0xbfu,     0xc0u,
        0x7ffu,  0x800u,  0xfffu,   0x1000u,  0x20acu,  0xcfffu,  0xd000u,   0xd7ffu,
        0xe000u, 0xffffu, 0x10000u, 0x3ffffu, 0x40000u, 0xfffffu, 0x100000u, 0x10ffffu}) {
    SCOPED_TRACE(code);
    const std::string text = encoded(code, shortest(code));
    const TextPiece piece = first_piece(text + "x");
    EXPECT_EQ(piece.size, text.size());
    EXPECT_EQ(piece.code, code);
    EXPECT_TRUE(piece.is_utf8);
    // Cut anywhere, it is no character.
    for (std::size_t size = 1; size < text.size(); ++size) {
      EXPECT_EQ(first_piece(text.substr(0, size)).size, 1u);
      EXPECT_FALSE(first_piece(text.substr(0, size)).is_utf8);
      EXPECT_FALSE(first_piece(text.substr(0, size) + "x").is_utf8);
      EXPECT_FALSE(first_piece(text.substr(0, size) + "\xc3").is_utf8);
    }
  }
  EXPECT_EQ(first_piece("").size, 0u);
}

TEST(Printable, WhatIsNotUtf8) {
  const auto is_bad = [](const std::string& text) {
    const TextPiece piece = first_piece(text);
    return piece.size == 1 && piece.code == 0xfffd && !piece.is_utf8 && !piece.is_printable;
  };
  for (const std::uint32_t surrogate : {0xd800u, 0xdbffu, 0xdc00u, 0xdfffu})
    EXPECT_TRUE(is_bad(encoded(surrogate, 3)));
  for (const std::uint32_t beyond : {0x110000u, 0x13ffffu, 0x140000u, 0x1fffffu})
    EXPECT_TRUE(is_bad(encoded(beyond, 4)));
  // More bytes than the character needs.
  for (const std::uint32_t code : {0x00u, 0x2fu, 0x7fu}) EXPECT_TRUE(is_bad(encoded(code, 2)));
  for (const std::uint32_t code : {0x2fu, 0x7ffu}) EXPECT_TRUE(is_bad(encoded(code, 3)));
  for (const std::uint32_t code : {0x2fu, 0xffffu}) EXPECT_TRUE(is_bad(encoded(code, 4)));
  // Bytes that begin nothing.
  for (const char* text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xf5\x80\x80\x80", "\xff\x80\x80\x80"})
    EXPECT_TRUE(is_bad(text));
}

TEST(Printable, WhatIsUnsafe) {
  const auto is_safe = [](std::uint32_t code) {
    const std::string text = encoded(code, shortest(code));
    EXPECT_EQ(first_piece(text).is_printable, is_printable(text));
    EXPECT_EQ(printable(text) == text, is_printable(text));
    return is_printable(text);
  };
  struct Range {
    std::uint32_t first, last;
  };
  // C0; DEL and C1; Bidi_Control, between which are the separators.
  for (const Range unsafe :
       {Range{0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}}) {
    SCOPED_TRACE(unsafe.first);
    if (unsafe.first) {
      EXPECT_TRUE(is_safe(unsafe.first - 1));
    }
    for (std::uint32_t code = unsafe.first; code <= unsafe.last; ++code) EXPECT_FALSE(is_safe(code)) << code;
    EXPECT_TRUE(is_safe(unsafe.last + 1));
  }
  EXPECT_TRUE(is_safe('\\'));
  EXPECT_TRUE(is_safe('"'));
  EXPECT_TRUE(is_printable(""));
  EXPECT_FALSE(is_printable("name\n"));
  EXPECT_FALSE(is_printable("\xff"));
}

TEST(Printable, UnsafeBytesAsHexadecimal) {
  EXPECT_EQ(printable("a\n\x1b[1m\xc3\xa9"), "a\\x0a\\x1b[1m\xc3\xa9");
  EXPECT_EQ(printable("\xe2\x80\xae.so"), "\\xe2\\x80\\xae.so"); // U+202E: three bytes
  EXPECT_EQ(printable("\xfe\x80z"), "\\xfe\\x80z");
  std::string out = "kept ";
  append_printable(out, "\t");
  EXPECT_EQ(out, "kept \\x09");
}

TEST(Printable, JsonStrings) {
  EXPECT_EQ(json(""), "\"\"");
  EXPECT_EQ(json("plain"), "\"plain\"");
  EXPECT_EQ(json("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(json("\n\t\r"), "\"\\n\\t\\u000d\"");
  EXPECT_EQ(json(std::string_view("\0x", 2)), "\"\\u0000x\"");
  EXPECT_EQ(json("\x7f\xe2\x80\xae\xd8\x9c"), "\"\\u007f\\u202e\\u061c\"");
  EXPECT_EQ(json("\xc3\xa9\xf0\x9f\x98\x80."), "\"\xc3\xa9\xf0\x9f\x98\x80.\"");
  EXPECT_EQ(json("a\xff"
                 "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
}

TEST(Printable, LongNamesAreCut) {
  const std::string longest(max_shown_name, 'n');
  EXPECT_EQ(shown_name(""), "");
  EXPECT_EQ(shown_name(longest), longest);
  EXPECT_EQ(shown_name(longest + "n"), longest.substr(3) + "...");
}

TEST(Coverage, Percentages) {
  EXPECT_EQ((CoveredBytes{.total = 0, .covered = 0}).percent(), 100);
  EXPECT_EQ((CoveredBytes{.total = 8, .covered = 0}).percent(), 0);
  EXPECT_EQ((CoveredBytes{.total = 8, .covered = 6}).percent(), 75);
  EXPECT_EQ(percent_text(75), "75.00");
  EXPECT_EQ(percent_text(100), "100.00");
  EXPECT_EQ(percent_text((CoveredBytes{.total = 3, .covered = 2}).percent()),
            "66.66"); // never more than there is
  EXPECT_EQ(percent_text(99.999), "99.99");
  EXPECT_EQ(percent_text(0.125), "0.12");
}

TEST(Problem, Text) {
  EXPECT_EQ(hex(0), "0x0");
  EXPECT_EQ(hex(0xabc), "0xabc");
  EXPECT_EQ(hex(std::numeric_limits<std::uint64_t>::max()), "0xffffffffffffffff");
  const Result<void> failed = fail("bad", ".text", 0);
  EXPECT_EQ(failed.error().text(), "bad (offset 0x0, section .text)");
  EXPECT_EQ((Problem{"bad", {}, 255}).text(), "bad (offset 0xff)");
  EXPECT_EQ((Problem{"bad", ".text", {}}).text(), "bad (section .text)");
  EXPECT_EQ((Problem{"bad", {}, {}}).text(), "bad");
}

} // namespace base_printable_test
} // namespace sframe
