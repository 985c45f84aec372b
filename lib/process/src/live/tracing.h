// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: how a LiveProcess stops and resumes its threads. Tracer traces only during a stop, Monitor as
// long as its user requests events.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/core/registers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::process::live {

struct StoppedThread {
  std::uint32_t tid = 0;
  int signal = 0; ///< about to be delivered at the stop; delivered at resume
  core::RegisterValues registers;
  std::uint64_t code_pac_mask = 0; ///< as in core::CoreThread
};

struct Stop {
  std::vector<StoppedThread> threads;   ///< by tid
  std::vector<std::uint32_t> unstopped; ///< could not be stopped in time
};

class Tracing {
public:
  virtual ~Tracing() = default;
  /// Stops the process's threads, or the given one. Returns when they are stopped; if it fails, all run.
  virtual Result<Stop> stop(std::optional<std::uint32_t> tid) = 0;
  /// Resumes them; no effect if nothing was stopped.
  virtual void resume() = 0;
  /// Called after a stop that found changed mappings.
  virtual void mappings_changed() {}
};

} // namespace sframe::process::live
