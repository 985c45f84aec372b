// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: packets of gdb's remote serial protocol ("Debugging with GDB", appendix E, sections 1 and 2) over
// a socket. What the other side sends is hostile until checked: an answer has a largest size, and at most a
// time.

#pragma once

#include "sframe/base/problem.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace sframe::process::emulated {

class Connection {
public:
  static constexpr std::size_t largest_answer = std::size_t{1} << 18; ///< bytes, expanded
  static constexpr std::chrono::seconds longest_wait{30};             ///< for an answer

  /// Takes over the descriptor.
  explicit Connection(int fd);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Sends a packet and returns its answer. Fails if there is none in time, or it is malformed.
  Result<std::string> ask(std::string_view packet) { return exchange(packet, false); }
  /// The same, for what lets the program run: it may take any time until the answer begins.
  Result<std::string> run(std::string_view packet) { return exchange(packet, true); }
  /// From now on, packets are not acknowledged.
  void stop_acknowledging() { acknowledges_ = false; }

  /// The other side has closed the connection; all calls fail.
  bool is_closed() const { return closed_; }

private:
  using Clock = std::chrono::steady_clock;

  Result<void> send(std::string_view bytes);
  Result<std::string> receive(std::string_view sent, bool patient);
  Result<std::string> exchange(std::string_view packet, bool patient);
  Result<char> next(bool patient);
  Result<std::string> read_packet(bool& intact);
  Result<void> expand(std::string& packet, char count) const;

  int fd_;
  bool acknowledges_ = true, owes_ = false; ///< owes_: an acknowledgement, which goes with the next packet
  bool closed_ = false;
  Clock::time_point deadline_;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0, end_ = 0;
};

/// The bytes that the digits stand for. Fails if they are no pairs of hexadecimal digits.
Result<std::string> from_hex(std::string_view digits);

} // namespace sframe::process::emulated
