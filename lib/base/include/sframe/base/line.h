// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of text in a buffer of fixed size. A section has hundreds of thousands of rows, so a row's text is
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

/// Text of at most `Capacity` bytes; excess text is dropped.
template <std::size_t Capacity> class BasicLine {
public:
  static constexpr std::size_t capacity = Capacity;

  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_.data(), size_}; }

  BasicLine& text(std::string_view text) {
    if (text.size() <= capacity - size_) [[likely]] { // of a constant size in many calls
      std::memcpy(data_.data() + size_, text.data(), text.size());
      size_ += text.size();
    } else {
      std::memcpy(data_.data() + size_, text.data(), capacity - size_);
      size_ = capacity;
    }
    return *this;
  }

  BasicLine& put(char c) {
    if (size_ < capacity) data_[size_++] = c;
    return *this;
  }

  /// A number in decimal.
  template <class Integer> BasicLine& number(Integer value) { return digits(value, 10); }

  /// A number in decimal, always with a sign.
  BasicLine& offset(std::int32_t value) {
    if (value >= 0) put('+');
    return number(value);
  }

  /// A number in hexadecimal: minimal lower-case digits, no prefix.
  BasicLine& hex(std::uint64_t value) { return digits(value, 16); }

  /// A number in hexadecimal with exactly 16 digits.
  BasicLine& hex16(std::uint64_t value) {
    char out[16];
    for (int i = 14; i >= 0; i -= 2, value >>= 8)
      std::memcpy(out + i, hex_pairs.data() + 2 * (value & 0xff), 2);
    return text({out, sizeof out});
  }

  /// Spaces up to `column`, at least `minimum` of them.
  BasicLine& pad_to(std::size_t column, std::size_t minimum = 0) {
    std::size_t count = std::max(column > size_ ? column - size_ : 0, minimum);
    count = std::min(count, capacity - size_);
    std::memset(data_.data() + size_, ' ', count);
    size_ += count;
    return *this;
  }

private:
  /// The two digits of each byte.
  static constexpr std::array<char, 512> hex_pairs = [] {
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<char, 512> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = digits[i % 2 ? i / 2 % 16 : i / 32];
    return pairs;
  }();

  template <class Integer> BasicLine& digits(Integer value, int base) {
    const auto result = std::to_chars(data_.data() + size_, data_.data() + capacity, value, base);
    if (result.ec == std::errc()) size_ = static_cast<std::size_t>(result.ptr - data_.data());
    return *this;
  }

  std::array<char, capacity> data_;
  std::size_t size_ = 0;
};

/// One line, on the stack.
using Line = BasicLine<512>;

} // namespace sframe

#pragma GCC visibility pop
