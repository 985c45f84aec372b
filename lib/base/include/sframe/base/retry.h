// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cerrno>

namespace sframe {

/// Makes a system call again while signals interrupt it. Not for close(), which on Linux is done even then.
template <class Call> auto retry(Call&& call) {
  for (;;)
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

} // namespace sframe
