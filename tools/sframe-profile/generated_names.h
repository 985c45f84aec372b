// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of generated code, which runtimes write for perf (/tmp/perf-PID.map).

#pragma once

#include "sframe/profile/recording.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sframe::profile_tool {

/// Opens what processes have written for perf. They may be hostile, and may end.
class GeneratedNames {
public:
  GeneratedNames() = default;
  ~GeneratedNames();
  GeneratedNames(const GeneratedNames&) = delete;
  GeneratedNames& operator=(const GeneratedNames&) = delete;

  /// Opens that of the process if it is there.
  void open(std::uint32_t pid);
  /// Names the generated code of the processes.
  void name(profile::Recording& recording);

private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_size() const; ///< sizes and processes

  std::map<std::uint32_t, int> files_; ///< by process
};

} // namespace sframe::profile_tool
