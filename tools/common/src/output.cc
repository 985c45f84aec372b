// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The buffered writer.

#include "sframe/tool/output.h"

#include "sframe/base/printable.h"
#include "sframe/tool/status_line.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <unistd.h>

namespace sframe::tool {

namespace {

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

} // namespace

Output::Output(int fd) : fd_(fd) {
  if (fd >= 0) buffer_.reserve(flush_at + 4096);
}

Output::Output(Spool& spool) : Output(-1) {
  spool_ = &spool;
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
  append_json_string(buffer_, text);
  return append(std::string_view());
}

Output& Output::safe(std::string_view text) {
  append_printable(buffer_, text);
  return append(std::string_view());
}

bool Output::reader_gone() const {
  return error_ == EPIPE;
}

bool Output::flush() {
  if (!is_written()) return true;
  if (buffer_.empty()) return error_ == 0;
  write(buffer_);
  buffer_.clear();
  return error_ == 0;
}

/// Writes text that is not empty to the file.
void Output::write(std::string_view text) {
  std::unique_lock<std::mutex> terminal;
  if (status_) {
    terminal = status_->suspend();
    status_->set_inside_line(text.back() != '\n');
  }
  std::string_view rest = text;
  if (spool_ && error_ == 0) {
    if (!spool_->append(std::as_bytes(std::span(text)))) error_ = ENOSPC;
    rest = {};
  }
  while (!rest.empty() && error_ == 0) {
    const ssize_t done = ::write(fd_, rest.data(), rest.size());
    if (done > 0)
      rest.remove_prefix(static_cast<std::size_t>(done));
    else if (done == 0)
      error_ = EIO;
    else if (errno != EINTR)
      error_ = errno;
  }
  flushed_ += text.size();
}

} // namespace sframe::tool
