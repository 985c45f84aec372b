// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: spreads threads over a few places in memory, so that they do not share cache lines.

#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace sframe::here {

inline constexpr std::size_t thread_numbers = 64;

/// A number below thread_numbers: always the same for a thread, and for most threads one of their own. It
/// comes from the thread's address, which is available in signal handlers; threads' stacks are multiples of
/// pages apart.
inline std::size_t thread_number() {
  const auto self = static_cast<std::uint64_t>(pthread_self());
  return (self >> 6) * 0x9e3779b97f4a7c15 >> 58;
}

} // namespace sframe::here
