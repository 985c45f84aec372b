// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <chrono>
#include <sys/resource.h>

namespace sframe {

/// In user mode and in the kernel.
inline std::chrono::nanoseconds processor_time(const rusage& usage) {
  std::chrono::nanoseconds sum{};
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    sum += std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  return sum;
}

} // namespace sframe
