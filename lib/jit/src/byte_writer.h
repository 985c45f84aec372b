// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: appends numbers in one byte order.

#pragma once

#include "sframe/address.h"
#include "sframe/base/leb128.h"
#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sframe::jit {

class ByteWriter {
public:
  explicit ByteWriter(ByteOrder order) : order_(order) {}

  std::vector<std::byte> bytes;

  std::size_t size() const { return bytes.size(); }
  void u8(std::uint64_t value) { number(value, 1); }
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void uleb(std::uint64_t value) { append_uleb(bytes, value); }
  void sleb(std::int64_t value) { append_sleb(bytes, value); }
  void append(std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); }
  void text(std::string_view text) { // ends with 0
    append(std::as_bytes(std::span(text)));
    u8(0);
  }
  void align(std::size_t to) { bytes.resize(align_up(bytes.size(), to)); }
  void put_u32(std::size_t at, std::uint64_t value) { store_sized(bytes.data() + at, value, 4, order_); }

private:
  void number(std::uint64_t value, unsigned size) {
    bytes.resize(bytes.size() + size);
    store_sized(bytes.data() + bytes.size() - size, value, size, order_);
  }

  ByteOrder order_;
};

} // namespace sframe::jit
