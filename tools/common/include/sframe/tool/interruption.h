// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals that end a recording or a sampling, not the program: SIGINT, SIGTERM, SIGHUP and SIGQUIT. What
// there is then is the result. A second one ends the program. Ignored signals stay ignored.

#pragma once

#include <array>
#include <csignal>

namespace sframe::tool {

class Interruption {
public:
  /// Handles the signals if `wanted`, until end(). There is one at a time.
  explicit Interruption(bool wanted);
  ~Interruption() { end(); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// poll(2) reports it as readable after a signal; -1 if no signal is handled.
  int fd() const;
  /// The number of the signal; 0 before there was one.
  int number() const;
  /// Whether a process sent it, and not the terminal, which sends its signals to all programs in front.
  bool is_from_process() const;

  void end();

private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static void on_signal(int number, siginfo_t* information, void* context);

  std::array<struct sigaction, numbers.size()> before_{};
};

} // namespace sframe::tool
