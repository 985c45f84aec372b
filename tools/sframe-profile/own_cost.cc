// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "own_cost.h"

#include "sframe/base/proc_text.h"
#include "sframe/base/processor_time.h"

#include <cstdlib>
#include <string>
#include <sys/resource.h>

namespace sframe::profile_tool {

std::uint64_t now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t used_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(processor_time(usage).count());
}

std::uint64_t used_memory() {
  const std::string value = status_value(read_proc_file("/proc/self/status"), "RssAnon");
  return std::strtoull(value.c_str(), nullptr, 10) * 1024;
}

} // namespace sframe::profile_tool
