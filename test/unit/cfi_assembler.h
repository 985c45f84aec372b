// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles call frame information for tests byte by byte, without hidden defaults.

#pragma once

#include "sframe/cfi/section.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace sframe::test {

/// Encodes numbers in one byte order.
class Bytes {
public:
  explicit Bytes(ByteOrder order = ByteOrder::little) : order_(order) {}

  Bytes& number(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
      bytes_.push_back(std::byte(value >> 8 * (order_ == ByteOrder::little ? i : size - 1 - i)));
    return *this;
  }
  Bytes& u8(std::uint64_t value) { return number(value, 1); }
  Bytes& u16(std::uint64_t value) { return number(value, 2); }
  Bytes& u32(std::uint64_t value) { return number(value, 4); }
  Bytes& u64(std::uint64_t value) { return number(value, 8); }
  Bytes& raw(std::initializer_list<int> values) {
    for (const int value : values) u8(static_cast<std::uint64_t>(value));
    return *this;
  }
  Bytes& uleb(std::uint64_t value) {
    do {
      u8((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
      value >>= 7;
    } while (value);
    return *this;
  }
  Bytes& sleb(std::int64_t value) {
    for (;;) {
      const bool last = value >= -64 && value < 64;
      u8((static_cast<std::uint64_t>(value) & 0x7f) | (last ? 0 : 0x80));
      if (last) return *this;
      value >>= 7;
    }
  }
  Bytes& text(std::string_view letters) {
    for (const char c : letters) u8(static_cast<unsigned char>(c));
    return u8(0);
  }
  Bytes& append(const Bytes& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  void patch(std::size_t at, std::uint64_t value, unsigned size) {
    Bytes field(order_);
    field.number(value, size);
    for (unsigned i = 0; i < size; ++i) bytes_[at + i] = field.bytes_[i];
  }
  std::size_t size() const { return bytes_.size(); }
  ByteOrder order() const { return order_; }
  const std::vector<std::byte>& get() const { return bytes_; }

private:
  ByteOrder order_;
  std::vector<std::byte> bytes_;
};

/// A section of entries. The caller writes everything after the CIE pointer.
class CfiAssembler {
public:
  explicit CfiAssembler(cfi::SectionKind kind = cfi::SectionKind::eh_frame,
                        ByteOrder order = ByteOrder::little, bool dwarf64 = false)
      : kind_(kind), dwarf64_(dwarf64), bytes_(order) {}

  Bytes body() const { return Bytes(bytes_.order()); }

  /// The offset of the new CIE.
  std::size_t cie(const Bytes& body) {
    const std::size_t offset = open();
    if (kind_ == cfi::SectionKind::eh_frame)
      bytes_.u32(0);
    else
      bytes_.number(~std::uint64_t{0}, dwarf64_ ? 8 : 4);
    return close(offset, body);
  }
  std::size_t fde(std::size_t cie, const Bytes& body) {
    const std::size_t offset = open();
    if (kind_ == cfi::SectionKind::eh_frame)
      bytes_.u32(bytes_.size() - cie);
    else
      bytes_.number(cie, dwarf64_ ? 8 : 4);
    return close(offset, body);
  }
  void terminator() { bytes_.u32(0); }

  /// Offset from the section's start to the body of the next FDE.
  std::size_t next_body() const {
    const std::size_t id = kind_ == cfi::SectionKind::debug_frame && dwarf64_ ? 8 : 4;
    return bytes_.size() + (dwarf64_ ? 12 : 4) + id;
  }

  Bytes& bytes() { return bytes_; }
  cfi::CfiSection section(Abi abi = Abi::amd64, std::uint64_t address = 0, cfi::Bases bases = {}) const {
    return {kind_, bytes_.get(), address, traits(abi), bases};
  }

private:
  std::size_t open() {
    const std::size_t offset = bytes_.size();
    if (dwarf64_)
      bytes_.u32(0xffffffff).u64(0);
    else
      bytes_.u32(0);
    return offset;
  }
  std::size_t close(std::size_t offset, const Bytes& body) {
    bytes_.append(body);
    const std::size_t field = offset + (dwarf64_ ? 4 : 0), width = dwarf64_ ? 8 : 4;
    bytes_.patch(field, bytes_.size() - field - width, static_cast<unsigned>(width));
    return offset;
  }

  cfi::SectionKind kind_;
  bool dwarf64_;
  Bytes bytes_;
};

} // namespace sframe::test
