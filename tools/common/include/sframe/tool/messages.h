// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the programs talk on standard error: `sframe-TOOL: error: FILE: what is wrong (offset 0x..., section
// .sframe)`, one line per message, coloured on a terminal. Messages remembers the worst that was said, which
// decides the exit code.

#pragma once

#include "sframe/base/problem.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Exit codes of all programs: part of the command line contract.
enum ExitCode : int {
  exit_ok = 0,       ///< done, and nothing wrong
  exit_findings = 1, ///< done, and something wrong was found or left out
  exit_failure = 2,  ///< could not do it
};

/// What is wrong with an input that elf::File::is_intact() is false of. Programs that catch_bus_errors() have printed it.
inline constexpr const char* cut_input = "the file was truncated while it was read, or its disk fails";

enum class ColorMode : std::uint8_t { automatic, always, never };

/// True where text for this file descriptor is to be coloured: asked for, or a terminal (and NO_COLOR is not
/// set).
bool use_color(ColorMode mode, int fd);

class Output;

class Messages {
public:
  /// `tool` is the program's name: "sframe-dump".
  explicit Messages(std::string tool) : tool_(std::move(tool)) {}

  void set_color(ColorMode mode);
  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  const std::string& tool() const { return tool_; }

  /// Errors are written there too, as lines without colour: a report names what could not be read. nullptr: no more.
  void set_copy(Output* copy) { copy_ = copy; }

  /// Called before each message is printed: to write out what comes before it. May be empty.
  void set_before(std::function<void()> before) { before_ = std::move(before); }

  /// Prints a message; `file` may be empty. Errors are always printed, warnings and notes not with --quiet,
  /// and detail() only with
  /// --verbose. What could steer a terminal (in names of files or symbols) is printed as "\xNN":
  /// append_harmless. May be called from any thread.
  void error(std::string_view file, std::string_view what);
  void error(std::string_view file, const Problem& problem) { error(file, problem.text()); }
  void warning(std::string_view file, std::string_view what);
  void warning(std::string_view file, const Problem& problem) { warning(file, problem.text()); }
  void note(std::string_view file, std::string_view what);
  void detail(std::string_view file, std::string_view what);

  /// Number of errors printed so far.
  std::uint32_t errors() const { return errors_; }

private:
  void print(std::string_view kind, std::string_view color, std::string_view file, std::string_view what);

  std::string tool_;
  std::function<void()> before_;
  Output* copy_ = nullptr;
  std::mutex mutex_;
  std::atomic<std::uint32_t> errors_ = 0;
  bool color_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
};

} // namespace sframe::tool
