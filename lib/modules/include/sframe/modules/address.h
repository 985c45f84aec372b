// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kinds of addresses: those in a process, and those in the headers, tables and symbols of a file. They
// differ by the bias at which the file is mapped; no function takes one for the other.

#pragma once

#include <compare>
#include <cstdint>

namespace sframe::modules {

/// An address in a process: what registers, memory and all other interfaces have as a plain number.
struct Address {
  std::uint64_t value = 0;
  constexpr Address(std::uint64_t number) : value(number) {} // NOLINT(google-explicit-constructor)
  constexpr operator std::uint64_t() const { return value; } // NOLINT(google-explicit-constructor)
};

/// An address as the linker has assigned it. Made from a number only where it comes from the file.
struct LinkAddress {
  std::uint64_t value = 0;
  explicit constexpr LinkAddress(std::uint64_t number) : value(number) {}
  friend constexpr auto operator<=>(LinkAddress, LinkAddress) = default;
};

/// Sums and differences wrap.
constexpr LinkAddress to_link(Address address, std::uint64_t bias) {
  return LinkAddress(address.value - bias);
}
constexpr Address to_process(LinkAddress address, std::uint64_t bias) {
  return Address(address.value + bias);
}

} // namespace sframe::modules
