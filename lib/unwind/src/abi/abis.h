// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the constants that the files of this folder define; registry.cc lists them.

#pragma once

#include "sframe/unwind/abi.h"

#include <initializer_list>

namespace sframe::unwind::abi {

extern const UnwindAbi aarch64_big, aarch64_little, amd64, s390x;

/// Numbers of registers or signals as UnwindAbi wants them.
constexpr std::uint64_t set_of(std::initializer_list<int> numbers) {
  std::uint64_t mask = 0;
  for (const int number : numbers) mask |= std::uint64_t{1} << number;
  return mask;
}

/// `count` registers from number `first` on, saved one behind the other from `offset` on, in `saved`.
template <class Saved>
constexpr void save_row(Saved& saved, std::size_t at, int first, std::size_t count, std::size_t offset) {
  for (std::size_t i = 0; i < count; ++i)
    saved[at + i] = {static_cast<std::uint16_t>(first + static_cast<int>(i)),
                     static_cast<std::uint16_t>(offset + 8 * i)};
}

} // namespace sframe::unwind::abi
