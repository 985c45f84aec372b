// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All reads of this library go through Reader. A Reader has a position in a section and a limit; every read
// is checked against the limit. The first failure is sticky: all later reads return 0 and the position stays,
// so that a caller can read several fields and check once.

#pragma once

#include "sframe/bytes.h"
#include "sframe/cfi/error.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::cfi {

class DwarfReader {
public:
  /// Reads bytes[at, limit). `limit` is clamped to the end of `bytes`.
  DwarfReader(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t limit, ByteOrder order)
      : base_(bytes.data()), at_(at), limit_(limit < bytes.size() ? limit : bytes.size()), order_(order) {
    if (at_ > limit_) fail(ErrorKind::truncated);
  }

  std::uint64_t at() const { return at_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const { return failed_ ? 0 : limit_ - at_; }
  bool failed() const { return failed_; }
  ErrorKind kind() const { return kind_; }
  Error error() const { return {kind_, at_}; }

  /// The first failure counts. Returns 0, the value of what cannot be read.
  std::uint8_t fail(ErrorKind kind) {
    if (!failed_) kind_ = kind;
    failed_ = true;
    return 0;
  }

  std::uint8_t u8() {
    if (left() < 1) return fail(ErrorKind::truncated);
    return static_cast<std::uint8_t>(base_[at_++]);
  }

  /// An unsigned number of 1, 2, 4 or 8 bytes.
  std::uint64_t number(std::uint32_t size) {
    switch (size) {
    case 1: return u8();
    case 2: return fixed<std::uint16_t>();
    case 4: return fixed<std::uint32_t>();
    default: return fixed<std::uint64_t>();
    }
  }

  template <class T> T fixed() {
    if (left() < sizeof(T)) return fail(ErrorKind::truncated);
    const T value = load<T>(base_ + at_, order_);
    at_ += sizeof value;
    return value;
  }

  void skip(std::uint64_t size) {
    if (left() >= size)
      at_ += size;
    else
      fail(ErrorKind::truncated);
  }

  /// Fast path: nearly all numbers of call frame information have one byte.
  std::uint64_t uleb() {
    if (left() && static_cast<std::uint8_t>(base_[at_]) < 0x80)
      return static_cast<std::uint8_t>(base_[at_++]);
    return long_leb(false);
  }

  std::int64_t sleb() {
    if (left() && static_cast<std::uint8_t>(base_[at_]) < 0x80)
      return static_cast<std::int8_t>(static_cast<std::uint8_t>(base_[at_++]) << 1) >> 1;
    return static_cast<std::int64_t>(long_leb(true));
  }

private:
  /// Assemblers may pad, but numbers of unlimited length would make parsing a CIE, which is done for each
  /// FDE, arbitrarily slow.
  static constexpr std::uint32_t max_leb_bytes = 16;

  std::uint64_t long_leb(bool is_signed) {
    std::uint64_t value = 0;
    std::uint32_t shift = 0;
    for (std::uint32_t i = 0; i < max_leb_bytes; ++i, shift += 7) {
      if (at_ + i >= limit_ || failed_) return fail(ErrorKind::truncated);
      const auto byte = static_cast<std::uint8_t>(base_[at_ + i]);
      const std::uint64_t bits = byte & 0x7f;
      if (shift < 63) {
        value |= bits << shift;
      } else {
        // Bits past bit 63 must repeat the sign (0 for unsigned numbers); of the byte at bit 63 one bit is
        // used.
        if (shift == 63) value |= bits << 63;
        const std::uint64_t filler = is_signed && value >> 63 ? 0x7f : 0;
        const std::uint64_t wanted = shift == 63 ? (filler & ~std::uint64_t{1}) | (bits & 1) : filler;
        if (bits != wanted) break;
      }
      if (byte & 0x80) continue;
      if (is_signed && shift + 7 < 64 && byte & 0x40) value |= ~std::uint64_t{0} << (shift + 7);
      at_ += i + 1;
      return value;
    }
    return fail(ErrorKind::bad_leb128);
  }

  const std::byte* base_;
  std::uint64_t at_;
  std::uint64_t limit_;
  ByteOrder order_;
  bool failed_ = false;
  ErrorKind kind_{};
};

} // namespace sframe::cfi
