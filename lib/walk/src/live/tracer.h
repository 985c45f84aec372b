// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one stop of a process. Only the thread that seized a tracee may speak to it, and when that thread
// ends the kernel lets go what it traced. So each stop has a thread of its own: it seizes, reads the
// registers, waits, detaches and ends.

#pragma once

#include "sframe/elf/problem.h"
#include "sframe/elf/registers.h"

#include <cstdint>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

namespace sframe::walk {

class Tracer {
public:
  struct Stopped {
    std::uint32_t tid = 0;
    int signal = 0; ///< that was about to be delivered, and will be
    elf::Registers registers;
    std::uint64_t code_pac_mask = 0; ///< as in elf::CoreThread
  };

  /// Stops the process's threads, or the one. Returns when they stand still.
  Tracer(std::uint32_t pid, std::optional<std::uint32_t> tid, const AbiTraits& abi);
  /// Lets them go.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Why nothing is stopped; nothing where all is well.
  const std::optional<elf::Problem>& problem() const { return problem_; }
  const std::vector<Stopped>& threads() const { return stopped_; }
  /// Threads that could not be stopped in time.
  const std::vector<std::uint32_t>& unstopped() const { return unstopped_; }

private:
  void run();
  void stop_all();
  std::vector<std::uint32_t> seize(const std::vector<std::uint32_t>& tids);
  void await(std::uint32_t tid);
  void read_registers();

  std::uint32_t pid_;
  std::optional<std::uint32_t> only_;
  const AbiTraits& abi_;
  std::vector<Stopped> stopped_;
  std::vector<std::uint32_t> unstopped_;
  std::optional<elf::Problem> problem_;
  std::binary_semaphore ready_{0}, release_{0};
  std::thread thread_;
};

} // namespace sframe::walk
