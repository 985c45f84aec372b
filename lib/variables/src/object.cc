// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "object.h"

#include <algorithm>
#include <array>

namespace sframe::variables {

namespace {

/// Of gathered bits.
Absence first_gap(const Object& object, std::uint64_t first, std::uint64_t bits) {
  const auto range = std::span(object.missing).subspan(first, bits);
  const auto gap = std::ranges::find_if(range, [](Missing why) { return why != Missing::none; });
  return gap == range.end() ? Absence() : Absence{*gap, object.unreadable_address};
}

} // namespace

Absence read(const Place& place, unwind::Memory& memory, std::span<std::byte> out) {
  const Object& object = *place.object;
  if (const auto address = place.address()) {
    if (memory.bytes(*address, out)) return {};
    // The message has the address of the first byte that is missing.
    const std::size_t readable = memory.space().read(*address, out);
    return {Missing::unreadable, *address + (readable < out.size() ? readable : 0)};
  }
  if (object.whole != Missing::none) return {object.whole, object.unreadable_address};
  if (place.offset > object.bytes.size() || object.bytes.size() - place.offset < out.size())
    return {Missing::optimized_out};
  if (const Absence gap = first_gap(object, place.offset * 8, out.size() * 8); gap.why != Missing::none)
    return gap;
  std::ranges::copy(std::span(object.bytes).subspan(place.offset, out.size()), out.begin());
  return {};
}

Absence read_bits(const Place& place, std::uint64_t first, std::uint64_t bits, unwind::Memory& memory,
                  std::uint64_t& value) {
  const Place start = place + first / 8;
  first %= 8;
  std::array<std::byte, 9> storage;
  std::span<const std::byte> bytes = std::span(storage).first((first + bits + 7) / 8);
  const Object& object = *place.object;
  if (object.address || object.whole != Missing::none || start.offset > object.bytes.size() ||
      object.bytes.size() - start.offset < bytes.size()) {
    if (const Absence absence = read(start, memory, std::span(storage).first(bytes.size()));
        absence.why != Missing::none)
      return absence;
  } else {
    if (const Absence gap = first_gap(object, start.offset * 8 + first, bits); gap.why != Missing::none)
      return gap;
    bytes = std::span(object.bytes).subspan(start.offset, bytes.size());
  }
  value = extract(bytes, first, bits, memory.space().abi().byte_order);
  return {};
}

namespace {

/// The byte's bit that counts as bit `at`.
unsigned shift_of(std::uint64_t at, ByteOrder order) {
  return static_cast<unsigned>(order == ByteOrder::big ? 7 - at % 8 : at % 8);
}

} // namespace

std::uint64_t extract(std::span<const std::byte> bytes, std::uint64_t first, std::uint64_t bits,
                      ByteOrder order) {
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < bits; ++i) {
    const std::uint64_t at = first + (order == ByteOrder::big ? i : bits - 1 - i);
    value = value << 1 | (std::to_integer<std::uint64_t>(bytes[at / 8]) >> shift_of(at, order) & 1);
  }
  return value;
}

void insert(std::span<std::byte> bytes, std::uint64_t first, std::uint64_t bits, ByteOrder order,
            std::uint64_t value) {
  for (std::uint64_t i = 0; i < bits; ++i, value >>= 1) {
    const std::uint64_t at = first + (order == ByteOrder::big ? bits - 1 - i : i);
    const auto bit = std::byte(1) << shift_of(at, order);
    bytes[at / 8] = value & 1 ? bytes[at / 8] | bit : bytes[at / 8] & ~bit;
  }
}

} // namespace sframe::variables
