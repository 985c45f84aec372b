// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the constants defined by the files of this folder; abis.def lists them.

#pragma once

#include "sframe/unwind/abi.h"

#include <initializer_list>

namespace sframe::unwind::abi {

#define SFRAME_DEFINE_ABI(name, identifier) extern const UnwindAbi name;
#include "sframe/abis.def"

/// A bit set of register or signal numbers, for UnwindAbi.
constexpr std::uint64_t set_of(std::initializer_list<int> numbers) {
  std::uint64_t mask = 0;
  for (const int number : numbers) mask |= std::uint64_t{1} << number;
  return mask;
}

/// Adds `count` registers, starting with number `first`, saved one after another starting at `offset`.
template <class Saved>
constexpr void save_row(Saved& saved, std::size_t at, int first, std::size_t count, std::size_t offset) {
  for (std::size_t i = 0; i < count; ++i)
    saved[at + i] = {static_cast<std::uint16_t>(first + static_cast<int>(i)),
                     static_cast<std::uint16_t>(offset + 8 * i)};
}

} // namespace sframe::unwind::abi
