// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cerrno>

#pragma GCC visibility push(default)

namespace sframe {

/// Repeats a system call interrupted by signals (EINTR). Not for close(): on Linux it has closed the
/// descriptor even then.
template <class Call> auto retry(Call&& call) {
  for (;;)
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

} // namespace sframe

#pragma GCC visibility pop
