// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line of text in a buffer on the stack. A section has hundreds of thousands of rows, so a row's text is
// assembled here and passed to the output at once, without format strings or allocation.

#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

/// A line of at most `capacity` bytes; excess text is dropped.
class Line {
public:
  static constexpr std::size_t capacity = 512;

  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_.data(), size_}; }

  Line& text(std::string_view text) {
    const std::size_t size = std::min(text.size(), capacity - size_);
    std::memcpy(data_.data() + size_, text.data(), size);
    size_ += size;
    return *this;
  }

  Line& put(char c) {
    if (size_ < capacity) data_[size_++] = c;
    return *this;
  }

  /// A number in decimal.
  template <class Integer> Line& number(Integer value) { return digits(value, 10); }

  /// A number in decimal, always with a sign.
  Line& offset(std::int32_t value) {
    if (value >= 0) put('+');
    return number(value);
  }

  /// A number in hexadecimal: minimal lower-case digits, no prefix.
  Line& hex(std::uint64_t value) { return digits(value, 16); }

  /// A number in hexadecimal with exactly 16 digits.
  Line& hex16(std::uint64_t value) {
    constexpr std::string_view hex_digits = "0123456789abcdef";
    char out[16];
    for (int i = 15; i >= 0; --i, value >>= 4) out[i] = hex_digits[value & 15];
    return text({out, sizeof out});
  }

  /// Spaces up to `column`, at least `minimum` of them.
  Line& pad_to(std::size_t column, std::size_t minimum = 0) {
    std::size_t count = std::max(column > size_ ? column - size_ : 0, minimum);
    count = std::min(count, capacity - size_);
    std::memset(data_.data() + size_, ' ', count);
    size_ += count;
    return *this;
  }

private:
  template <class Integer> Line& digits(Integer value, int base) {
    const auto result = std::to_chars(data_.data() + size_, data_.data() + capacity, value, base);
    if (result.ec == std::errc()) size_ = static_cast<std::size_t>(result.ptr - data_.data());
    return *this;
  }

  std::array<char, capacity> data_;
  std::size_t size_ = 0;
};

} // namespace sframe

#pragma GCC visibility pop
