// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of an AMD64 instruction that Zydis does not decode, in order. (Intel SDM, volume 2, section 2.1.)

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe::code::amd64 {

/// Reads bytes in order; reading past the end gives 0 and makes the result invalid.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  unsigned peek() const { return at_ < bytes_.size() ? std::to_integer<unsigned>(bytes_[at_]) : 0; }
  unsigned next() {
    const unsigned byte = peek();
    ++at_;
    return byte;
  }
  /// The next `size` bytes as a signed number.
  std::int64_t next_signed(unsigned size) {
    if (size == 0) return 0;
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{next()} << (8 * i);
    const unsigned unused = 64 - 8 * size;
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  void skip(std::size_t count) { at_ += count; }
  /// The number of bytes read; 0 after reading past the end or past an instruction's maximum length.
  std::uint8_t length() const {
    constexpr std::size_t max_length = 15;
    return at_ <= bytes_.size() && at_ <= max_length ? static_cast<std::uint8_t>(at_) : 0;
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// ModRM, SIB and displacement, without the bits that prefixes add to register numbers.
struct ModRm {
  unsigned reg = 0, rm = 0; ///< rm: the register, or the base if there is one
  bool in_register = false;
  bool has_base = false, has_index = false; ///< of memory; RIP is no base
  std::int64_t displacement = 0;
};

inline ModRm read_modrm(ByteReader& reader) {
  constexpr unsigned register_mode = 3, sib_follows = 4, no_index = 4, no_base = 5;
  const unsigned modrm = reader.next(), mode = modrm >> 6;
  ModRm result{.reg = modrm >> 3 & 7, .rm = modrm & 7};
  result.in_register = mode == register_mode;
  if (result.in_register) return result;
  if (result.rm == sib_follows) {
    const unsigned sib = reader.next();
    result.rm = sib & 7;
    result.has_index = (sib >> 3 & 7) != no_index; // without the bit of a prefix, which makes it a register
  }
  result.has_base = mode != 0 || result.rm != no_base;
  if (mode == 1)
    result.displacement = reader.next_signed(1);
  else if (mode == 2 || !result.has_base)
    result.displacement = reader.next_signed(4);
  return result;
}

} // namespace sframe::code::amd64
