// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "sframe/base/printable.h"
#include "sframe/profile/folded.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::profile {

/// Writes JSON, with the commas. Strings may be any bytes.
class Json {
public:
  explicit Json(const Sink& to) : to_(to) {}

  Json& open(char bracket) {
    separate();
    text_ += bracket;
    is_first_ = true;
    return *this;
  }
  Json& close(char bracket) {
    text_ += bracket;
    is_first_ = false;
    flush(std::size_t{1} << 16);
    return *this;
  }
  Json& key(std::string_view name) {
    separate();
    append_json_string(text_, name);
    text_ += ':';
    is_first_ = true;
    return *this;
  }
  Json& value(std::string_view text) {
    separate();
    append_json_string(text_, text);
    return *this;
  }
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(std::unsigned_integral auto number) { return raw(std::to_string(number)); }
  Json& flag(bool is_true) { return raw(is_true ? "true" : "false"); }
  Json& null() { return raw("null"); }
  /// A number, as text.
  Json& raw(std::string_view number) {
    separate();
    text_ += number;
    return *this;
  }
  Json& member(std::string_view name, const auto& of) {
    key(name);
    return value(of);
  }
  /// The key of a list or an object, with its bracket.
  Json& open(std::string_view name, char bracket) {
    key(name);
    return open(bracket);
  }
  void finish() {
    text_ += '\n';
    flush(0);
  }

private:
  void separate() {
    if (!is_first_) text_ += ',';
    is_first_ = false;
  }
  void flush(std::size_t enough) {
    if (text_.size() < enough) return;
    to_(text_);
    text_.clear();
  }

  const Sink& to_;
  std::string text_;
  bool is_first_ = true;
};

} // namespace sframe::profile
