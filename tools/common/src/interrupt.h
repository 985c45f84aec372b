// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what is left where a signal ends the program. Temporary files are removed, and a file that is being
// written over is finished first.

#pragma once

#include <initializer_list>
#include <string>

namespace sframe::tool {

/// Removes the file of every TemporaryName. For handlers of signals too.
void remove_temporaries() noexcept;

/// The parts as one line on standard error, control characters in them as "\xNN". For handlers of signals too.
void print_plain_line(std::initializer_list<const char*> parts) noexcept;

/// The name of a temporary file, which is removed where SIGINT, SIGTERM or SIGHUP ends the program. To
/// be made before the file is. Signals that are ignored or have a handler stay so.
class TemporaryName {
public:
  explicit TemporaryName(const std::string& path);
  /// The file is somebody else's from now on, or gone.
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

private:
  struct Slot;
  friend void remove_temporaries() noexcept;
  Slot* slot_;
};

/// While one exists, the program does not end by these signals; it does at the destructor.
class Uninterrupted {
public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

/// From now on, reading a mapped input that was cut is an error message of `tool`, and reads zeros
/// (elf::File::is_intact()).
void catch_bus_errors(const std::string& tool);

/// `code`, or exit_failure where that has happened.
int exit_code_with_inputs(int code);

} // namespace sframe::tool
