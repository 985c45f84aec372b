// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: an emulator with a program in it, which is stopped except while a function here lets it run.

#pragma once

#include "emulated/connection.h"
#include "emulated/registers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::process::emulated {

/// Why the program has stopped.
struct Stop {
  enum class Kind : std::uint8_t {
    stepped, ///< a step is done, a breakpoint reached, or SIGTRAP raised
    signal,  ///< one is about to be delivered
    ended,   ///< the program, and so the emulator
  };
  Kind kind = Kind::stepped;
  std::string signal; ///< as the emulator names it
  std::string thread; ///< as the emulator names it; empty: it does not
};

class Emulator {
public:
  /// Starts the emulator, which must serve within 30 seconds. The program is before its first instruction.
  static Result<std::unique_ptr<Emulator>> start(const std::string& emulator,
                                                 const std::vector<std::string>& command, const Guest& guest,
                                                 const AbiTraits& abi);
  /// Kills it if it still runs.
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }

  /// Of the thread that has stopped.
  Result<unwind::Registers> registers();
  /// Adds those that registers() does not have.
  void add_registers(unwind::Registers& registers);
  /// Returns the number of bytes that were read.
  std::size_t read(std::uint64_t address, std::span<std::byte> out);

  /// Lets the thread run for one instruction; breakpoints do not matter (QEMU).
  Result<Stop> step() { return resume('s', {}, thread_); }
  /// The same until a breakpoint is reached or a signal arrives, after delivering `signal`, if it is not
  /// empty.
  Result<Stop> go_on(const std::string& signal) { return resume('c', signal, thread_); }
  /// The same for another thread that has stopped.
  Result<Stop> go_on(const std::string& signal, const std::string& thread) {
    return resume('c', signal, thread);
  }
  /// The thread that is stepped.
  const std::string& thread() const { return thread_; }

  /// Fails if the emulator has none.
  Result<void> set_breakpoint(std::uint64_t address, bool set);

  bool is_closed() const { return connection_->is_closed(); }
  /// Waits for its end, and returns its status as waitpid(2) reports it; `patient`: without a limit, else as
  /// long as for an answer. Empty if it still runs.
  std::optional<int> wait(bool patient);

private:
  Emulator(int pid, const Guest& guest, const AbiTraits& abi);

  Result<void> connect(const std::string& path);
  Result<void> handshake();
  Result<void> read_description();
  Result<std::string> read_file(const std::string& name);
  Result<Stop> resume(char action, const std::string& signal, const std::string& thread);
  Result<Stop> parse_stop(const std::string& answer) const;
  std::size_t read_through_connection(std::uint64_t address, std::span<std::byte> out);
  void check_direct();

  int pid_;
  bool ended_ = false;
  std::optional<int> status_;
  const AbiTraits& abi_;
  std::unique_ptr<Connection> connection_;
  RegisterLayout layout_;
  std::vector<RegisterLayout::Separate> separate_;
  std::string thread_;
  std::size_t largest_read_ = 512; ///< bytes at once
  bool direct_ = false;            ///< the program's memory is the emulator's, at equal addresses
};

} // namespace sframe::process::emulated
