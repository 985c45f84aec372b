// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the bytes of a variable are: in memory, or gathered from registers, constants and memory, with the
// reason for each byte that is missing.

#pragma once

#include "sframe/unwind/address_space.h"
#include "sframe/variables/variables.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::variables {

struct Object {
  static constexpr std::uint64_t most_bytes = 1 << 14; ///< that are gathered for one object

  Missing whole = Missing::none;        ///< of an object with neither address nor bytes
  std::optional<std::uint64_t> address; ///< it is in memory
  std::vector<std::byte> bytes;         ///< else
  std::vector<Missing> missing;         ///< of each bit of `bytes`, counted as read_bits() does
  std::uint64_t unreadable_address = 0; ///< of the first unreadable byte

  static Object without(Missing why, std::uint64_t address = 0) {
    Object object;
    object.whole = why;
    object.unreadable_address = address;
    return object;
  }
  static Object at(std::uint64_t address) {
    Object object;
    object.address = address;
    return object;
  }
};

/// A part of an object.
struct Place {
  const Object* object = nullptr;
  std::uint64_t offset = 0; ///< bytes

  Place operator+(std::uint64_t more) const { return {object, offset + more}; }
  /// The address in memory, if it has one.
  std::optional<std::uint64_t> address() const {
    return object->address ? std::optional(*object->address + offset) : std::nullopt;
  }
};

/// Why bytes cannot be had.
struct Absence {
  Missing why = Missing::none;
  std::uint64_t address = 0; ///< that cannot be read
};

/// Copies the bytes at `place`, or has the reason of the first one that is missing.
Absence read(const Place& place, unwind::Memory& memory, std::span<std::byte> out);

/// The same of `bits` bits (at most 64) from bit `first` on, as a number. Bits are counted from the lowest
/// one of each byte in the little-endian order, from the highest one in the big-endian order.
Absence read_bits(const Place& place, std::uint64_t first, std::uint64_t bits, unwind::Memory& memory,
                  std::uint64_t& value);

/// These bits of `bytes`, which has them.
std::uint64_t extract(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t bits,
                      ByteOrder order);
/// The reverse.
void insert(std::span<std::byte> bytes, std::uint64_t first, std::uint64_t bits, ByteOrder order,
            std::uint64_t value);

} // namespace sframe::variables
