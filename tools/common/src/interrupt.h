// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: cleanup when a signal ends the program. Temporary files are removed, and an overwrite in progress
// is completed first.

#pragma once

#include <initializer_list>
#include <string>

namespace sframe::tool {

/// Removes the file of every TemporaryName, also of the process that writes files (writing_process.h).
/// Async-signal-safe.
void remove_temporaries() noexcept;

/// From now on, SIGINT, SIGTERM and SIGHUP remove temporary files before they end the program. Signals that
/// are ignored or have a handler are left alone.
void catch_signals();

/// Prints the parts as one line on standard error, control characters as "\xNN". Async-signal-safe.
void print_plain_line(std::initializer_list<const char*> parts) noexcept;

/// The name of a temporary file, which is removed if such a signal ends the program. Create it before the
/// file.
class TemporaryName {
public:
  explicit TemporaryName(const std::string& path);
  /// Stops tracking the file, which was removed or handed over.
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

private:
  struct Slot;
  friend void remove_temporaries() noexcept;
  Slot* slot_;
};

/// While one exists, these signals do not end the program; a pending one takes effect at the destructor.
class Uninterrupted {
public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

/// True while one exists. Async-signal-safe.
bool is_overwriting() noexcept;

/// From now on, accessing a mapped input that was truncated prints an error message prefixed with `tool`, and
/// reads zeros (elf::File::is_intact()).
void catch_bus_errors(const std::string& tool);

/// `code`, or exit_failure if that has happened.
int exit_code_with_inputs(int code);

} // namespace sframe::tool
