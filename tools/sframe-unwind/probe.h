// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether file systems that wait for another machine or a program still answer (sframe/elf/file_systems.h).
// Each look-up is made by a process of its own, which is left alone if it does not come back. The sandbox
// makes no processes: so one is started before, which starts the others.

#pragma once

#include "sframe/elf/file_systems.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace sframe::unwind_tool {

class ProbingProcess final : public elf::FileSystemProbe {
public:
  /// Starts the process. Call before the sandbox and before any thread. nullptr if it cannot be started.
  static std::shared_ptr<ProbingProcess> start();

  /// Ends the process.
  ~ProbingProcess() override;
  ProbingProcess(const ProbingProcess&) = delete;
  ProbingProcess& operator=(const ProbingProcess&) = delete;

  /// Waits for at most five seconds.
  bool answers(const std::string& path) override;

private:
  explicit ProbingProcess(int requests) : requests_(requests) {}
  int requests_; ///< a socket for packets
};

} // namespace sframe::unwind_tool
