// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the ELF files mapped by processes, to report loaded and unloaded ones.

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
  /// Current mappings are not reported.
  void add(std::uint32_t pid);
  void remove(std::uint32_t pid);
  /// Adds an event for each change since the last call. Cost: reading the mappings of all processes.
  void compare(std::vector<DebugEvent>& events);

private:
  using Libraries = std::set<std::pair<std::uint64_t, std::string>>; ///< address and path
  struct Mapped {
    std::string maps; ///< text of the last read
    Libraries libraries;
  };
  /// False if nothing has changed.
  static bool refresh(std::uint32_t pid, Mapped& mapped);

  std::mutex mutex_;
  std::map<std::uint32_t, Mapped> processes_;
};

} // namespace sframe::process::live
