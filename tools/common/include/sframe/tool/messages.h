// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages on standard error: `sframe-TOOL: error: FILE: what is wrong (offset 0x..., section .sframe)`, one
// line per message, coloured on a terminal. Messages keeps the highest severity printed, which determines the
// exit code.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/tool/status_line.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Exit codes of all programs; part of the command line contract.
enum ExitCode : int {
  exit_ok = 0,       ///< success
  exit_findings = 1, ///< done, but problems were found or something was left out
  exit_failure = 2,  ///< failed
};

/// Error for an input for which elf::File::is_intact() is false. Programs that call catch_bus_errors() have
/// printed it already.
inline constexpr const char* cut_input = "the file was truncated while being read, or its disk failed";

enum class ColorMode : std::uint8_t { automatic, always, never };

/// True if text for this file descriptor should be coloured: requested, or a terminal (and NO_COLOR is not
/// set).
bool use_color(ColorMode mode, int fd);

class Output;

/// Takes messages about files: prints them, or keeps them until it is their turn (ordered.h). `file` may be
/// empty.
class MessageSink {
public:
  virtual void error(std::string_view file, std::string_view what) = 0;
  virtual void warning(std::string_view file, std::string_view what) = 0;
  /// Printed only with --verbose.
  virtual void detail(std::string_view file, std::string_view what) = 0;
  void error(std::string_view file, const Problem& problem) { error(file, problem.text()); }
  void warning(std::string_view file, const Problem& problem) { warning(file, problem.text()); }

protected:
  ~MessageSink() = default;
};

class Messages final : public MessageSink {
public:
  /// `tool` is the program's name: "sframe-dump".
  explicit Messages(std::string tool) : tool_(std::move(tool)) {}

  void set_color(ColorMode mode);
  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  const std::string& tool() const { return tool_; }

  /// Also writes errors to `copy`, as lines without colour, so that a report names unreadable inputs.
  /// nullptr: stop.
  void set_copy(Output* copy) { copy_ = copy; }

  /// Called before each message is printed, to flush earlier output. May be empty.
  void set_before(std::function<void()> before) { before_ = std::move(before); }

  /// Prints a message; `file` may be empty. Errors are always printed, warnings and notes unless --quiet, and
  /// detail() only with --verbose. Control characters (in names of files or symbols) are printed as "\xNN":
  /// append_printable. Thread-safe.
  using MessageSink::error;
  using MessageSink::warning;
  void error(std::string_view file, std::string_view what) override;
  void warning(std::string_view file, std::string_view what) override;
  void note(std::string_view file, std::string_view what);
  void detail(std::string_view file, std::string_view what) override;

  /// Shares the terminal with the messages.
  StatusLine& status() { return status_; }

  /// Number of errors printed so far.
  std::uint32_t errors() const { return errors_; }

private:
  void print(std::string_view kind, std::string_view color, std::string_view file, std::string_view what);

  std::string tool_;
  std::function<void()> before_;
  Output* copy_ = nullptr;
  std::mutex mutex_;
  StatusLine status_;
  std::atomic<std::uint32_t> errors_ = 0;
  bool color_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
};

} // namespace sframe::tool
