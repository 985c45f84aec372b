// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: how a LiveProcess gets its threads stopped and let go. Tracer traces for the time of one stop,
// Monitor for as long as its user wants to hear of events.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/elf/registers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::process::live {

struct StoppedThread {
  std::uint32_t tid = 0;
  int signal = 0; ///< that was about to be delivered, and will be
  elf::Registers registers;
  std::uint64_t code_pac_mask = 0; ///< as in elf::CoreThread
};

struct Stop {
  std::vector<StoppedThread> threads;   ///< by tid
  std::vector<std::uint32_t> unstopped; ///< could not be stopped in time
};

class Tracing {
public:
  virtual ~Tracing() = default;
  /// Stops the process's threads, or that one. Returns when they stand still; where it fails, all run.
  virtual Result<Stop> stop(std::optional<std::uint32_t> tid) = 0;
  /// Lets them go; no effect where nothing was stopped.
  virtual void resume() = 0;
  /// Told after a stop that found other mappings than the one before.
  virtual void mappings_changed() {}
};

} // namespace sframe::process::live
