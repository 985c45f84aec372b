// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the wire format of protocol buffers: a field is its number and kind in a varint, then a varint
// (kind 0), or a length and as many bytes (kind 2). Numbers of zero are left out, as proto3 does.
//
//   Message { uint64 id = 1; string name = 2; }  {300, "ab"}    08 ac 02 12 02 61 62

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sframe::profile {

class Message {
public:
  void number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void text(std::uint32_t field, std::string_view bytes) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(bytes.size());
    bytes_ += bytes;
  }
  void message(std::uint32_t field, const Message& message) { text(field, message.bytes_); }
  /// Repeated numbers, zeros among them.
  void numbers(std::uint32_t field, std::span<const std::uint64_t> values) {
    Message packed;
    for (const std::uint64_t value : values) packed.varint(value);
    text(field, packed.bytes_);
  }

  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

} // namespace sframe::profile
