// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: which ELF files processes have mapped, to tell of those that come and go.

#pragma once

#include "sframe/process/process_monitor.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sframe::process::live {

class LibraryWatch {
public:
  /// What the process has mapped now is not news.
  void add(std::uint32_t pid);
  void remove(std::uint32_t pid);
  /// Adds an event for each difference from the last time. Cost: that of reading the mappings of all
  /// processes.
  void compare(std::vector<DebugEvent>& events);

private:
  using Libraries = std::set<std::pair<std::uint64_t, std::string>>; ///< address and path
  struct Mapped {
    std::string maps; ///< as it was read
    Libraries libraries;
  };
  /// False where nothing has changed.
  static bool refresh(std::uint32_t pid, Mapped& mapped);

  std::mutex mutex_;
  std::map<std::uint32_t, Mapped> processes_;
};

} // namespace sframe::process::live
