// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffered writer.

#include "sframe/tool/output.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <unistd.h>

namespace sframe::tool {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

/// Digits of a number, right-aligned in a small array.
struct Digits {
  char text[24];
  unsigned size = 0;
  std::string_view view() const { return {text, size}; }
};

template <class T> Digits digits_of(T value, int base) {
  Digits result;
  result.size = static_cast<unsigned>(
      std::to_chars(result.text, result.text + sizeof result.text, value, base).ptr - result.text);
  return result;
}

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 where there is none (Unicode, table
/// 3-7).
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

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void append_json_char(std::string& out, char c) {
  if (c == '"' || c == '\\') {
    out += '\\';
    out += c;
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (static_cast<unsigned char>(c) < 0x20) {
    out += "\\u00";
    out += hex_digits[static_cast<unsigned char>(c) >> 4];
    out += hex_digits[c & 15];
  } else {
    out += c;
  }
}

} // namespace

void append_safe(std::string& out, std::string_view text) {
  for (char c : text) {
    if (!is_control(c)) {
      out += c;
      continue;
    }
    out += "\\x";
    out += hex_digits[static_cast<unsigned char>(c) >> 4];
    out += hex_digits[c & 15];
  }
}

Output::Output(int fd) : fd_(fd) {
  if (fd >= 0) buffer_.reserve(flush_at + 4096);
}

Output::~Output() {
  flush();
}

Output& Output::digits(std::uint64_t value, unsigned width) {
  const Digits text = digits_of(value, 16);
  if (text.size < width) buffer_.append(width - text.size, '0');
  return append(text.view());
}

Output& Output::hex(std::uint64_t value, unsigned width) {
  buffer_.append("0x");
  return digits(value, width);
}

Output& Output::decimal(std::uint64_t value, unsigned width) {
  return right(digits_of(value, 10).view(), width);
}

Output& Output::signed_decimal(std::int64_t value, unsigned width) {
  return right(digits_of(value, 10).view(), width);
}

Output& Output::padded(std::string_view text, unsigned width) {
  append(text);
  if (text.size() < width) fill(' ', width - text.size());
  return *this;
}

Output& Output::right(std::string_view text, unsigned width) {
  if (text.size() < width) fill(' ', width - text.size());
  return append(text);
}

Output& Output::fill(char c, std::size_t count) {
  buffer_.append(count, c);
  return append(std::string_view());
}

Output& Output::json_string(std::string_view text) {
  buffer_ += '"';
  while (!text.empty()) {
    const unsigned length = utf8_length(text);
    if (length == 1)
      append_json_char(buffer_, text[0]);
    else
      buffer_.append(length ? text.substr(0, length) : "\xef\xbf\xbd");
    text.remove_prefix(std::max(length, 1u));
  }
  return append('"').append(std::string_view());
}

Output& Output::safe(std::string_view text) {
  if (std::ranges::none_of(text, is_control)) return append(text);
  append_safe(buffer_, text);
  return append(std::string_view());
}

bool Output::reader_gone() const {
  return error_ == EPIPE;
}

bool Output::flush() {
  if (fd_ < 0) return true;
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done > 0)
      rest.remove_prefix(static_cast<std::size_t>(done));
    else if (done == 0)
      error_ = EIO;
    else if (errno != EINTR)
      error_ = errno;
  }
  flushed_ += buffer_.size();
  buffer_.clear();
  return error_ == 0;
}

} // namespace sframe::tool
