// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffered writer for results: faster than streams, with the few formats that the programs need, and
// without losing write errors. After the first error it discards everything; App::finish reports the error.

#pragma once

#include "sframe/base/spool.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::tool {

class StatusLine;

class Output {
public:
  /// Writes to a file descriptor, which stays open. Negative: keeps everything in memory, for text().
  explicit Output(int fd = 1);
  /// Appends to `spool`, which must outlive it.
  explicit Output(Spool& spool);
  ~Output();
  /// Writes to the terminal that shows this line.
  void set_status(StatusLine& status) { status_ = &status; }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view text) { return append(text); }
  Output& operator<<(char c) { return append(c); }

  Output& append(std::string_view text) {
    if (text.size() >= flush_at && is_written()) {
      flush();
      write(text);
      return *this;
    }
    buffer_.append(text);
    if (buffer_.size() >= flush_at && is_written()) flush();
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
  /// Text from a file (names, paths), with control characters escaped: append_printable.
  Output& safe(std::string_view text);

  /// Writes what is buffered. False after an error.
  bool flush();
  /// errno of the first failed write; 0 if none failed.
  int error() const { return error_; }
  /// True if the reader closed the pipe (EPIPE): further work is pointless.
  bool reader_gone() const;
  /// True if nothing more can be written: long loops may stop.
  bool failed() const { return error_ != 0; }

  /// Total bytes, written or still buffered.
  std::uint64_t size() const { return flushed_ + buffer_.size(); }

  /// The text written so far, for a writer in memory.
  const std::string& text() const { return buffer_; }
  /// The same, and removes it.
  std::string take_text() {
    flushed_ += buffer_.size();
    return std::exchange(buffer_, {});
  }

private:
  bool is_written() const { return fd_ >= 0 || spool_; }
  void write(std::string_view text);

  static constexpr std::size_t flush_at = 1 << 16;
  int fd_;
  Spool* spool_ = nullptr; ///< instead of fd_
  int error_ = 0;
  std::uint64_t flushed_ = 0;
  std::string buffer_;
  StatusLine* status_ = nullptr;
};

} // namespace sframe::tool
