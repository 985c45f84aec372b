// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "own_cost.h"

#include "sframe/base/proc_text.h"

#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <sys/time.h>

namespace sframe::profile_tool {

std::uint64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t used_time() {
  std::uint64_t sum = 0;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    sum += static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000;
  return sum;
}

std::uint64_t used_memory() {
  const std::string value = status_value(read_proc_file("/proc/self/status"), "RssAnon");
  return std::strtoull(value.c_str(), nullptr, 10) * 1024;
}

} // namespace sframe::profile_tool
