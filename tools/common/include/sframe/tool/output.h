// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results: a buffered writer that is faster than streams, knows the few formats that the programs need, and
// does not lose write errors. After the first error it swallows everything; the error is told at the end
// (App::finish).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::tool {

class Output {
public:
  /// Writes to a file descriptor, which stays open. Negative: keep everything in memory, for text().
  explicit Output(int fd = 1);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view text) { return append(text); }
  Output& operator<<(char c) { return append(c); }

  Output& append(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= flush_at && fd_ >= 0) flush();
    return *this;
  }
  Output& append(char c) {
    buffer_.push_back(c);
    return *this;
  }

  /// "0x" and at least `width` hexadecimal digits.
  Output& hex(std::uint64_t value, unsigned width = 1);
  /// Hexadecimal digits alone.
  Output& digits(std::uint64_t value, unsigned width = 1);
  /// Decimal, right-aligned to `width`.
  Output& decimal(std::uint64_t value, unsigned width = 0);
  Output& signed_decimal(std::int64_t value, unsigned width = 0);
  /// `text`, then blanks up to `width` columns.
  Output& padded(std::string_view text, unsigned width);
  /// `text`, with blanks before it up to `width` columns.
  Output& right(std::string_view text, unsigned width);
  /// `c`, `count` times.
  Output& fill(char c, std::size_t count);
  /// A JSON string with its quotes: append_json_string.
  Output& json_string(std::string_view text);
  /// Text of a file (names, paths) so that it cannot steer the terminal: append_harmless.
  Output& safe(std::string_view text);

  /// Writes what is buffered. False after an error.
  bool flush();
  /// errno of the first write that failed; 0 where none did.
  int error() const { return error_; }
  /// True where the reader went away (EPIPE): further work is pointless.
  bool reader_gone() const;
  /// True where nothing more can be written: long loops may stop.
  bool failed() const { return error_ != 0; }

  /// Bytes in all, written or still buffered.
  std::uint64_t size() const { return flushed_ + buffer_.size(); }

  /// What was written, for a writer in memory.
  const std::string& text() const { return buffer_; }

private:
  static constexpr std::size_t flush_at = 1 << 16;
  int fd_;
  int error_ = 0;
  std::uint64_t flushed_ = 0;
  std::string buffer_;
};

} // namespace sframe::tool
