// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: tracing on demand. Each stop has its own thread: it seizes, reads the registers, waits, detaches
// and ends.

#pragma once

#include "live/tracee.h"
#include "live/tracing.h"
#include "sframe/abi.h"

#include <semaphore>
#include <thread>

namespace sframe::process::live {

class Tracer final : public Tracing {
public:
  Tracer(std::uint32_t pid, const AbiTraits& abi) : pid_(pid), abi_(abi) {}
  ~Tracer() override { resume(); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  Result<Stop> stop(std::optional<std::uint32_t> tid) override;
  void resume() override;

private:
  struct Tracee {
    std::uint32_t tid;
    int signal; ///< to deliver when it is resumed
  };

  void stop_once(std::optional<std::uint32_t> only);
  void run(std::optional<std::uint32_t> only);
  Result<void> stop_all(std::optional<std::uint32_t> only);
  Result<void> stop_these(const std::vector<std::uint32_t>& tids);
  void await(std::uint32_t tid, StopTimeout& timeout);
  void read_registers();

  std::uint32_t pid_;
  const AbiTraits& abi_;
  std::vector<Tracee> stopped_;
  Result<Stop> result_;
  bool vanished_ = false; ///< all threads ended before their registers were read
  std::binary_semaphore ready_{0}, release_{0};
  std::thread thread_; ///< joinable while something is stopped
};

} // namespace sframe::process::live
