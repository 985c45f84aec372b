// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Publishers for readers of other projects. docs/generated-code.md has what each of them sees.

#pragma once

#include "sframe/jit/publisher.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// Registers DWARF frames by __register_frame(), for exceptions and _Unwind_Backtrace(). For the unwinder of
/// GCC: LLVM's takes another argument by the same name. add() fails in programs that have neither.
class FrameRegistration final : public Publisher {
public:
  bool add(const PublishedCode& code) override;
  void drop(const PublishedCode& code) override;

private:
  std::unordered_map<std::uint64_t, std::vector<std::byte>> frames_; ///< by the code's start
};

/// Lists ELF files in memory for debuggers (GDB manual, "JIT Compilation Interface"): each has the code's
/// symbol, .eh_frame, .sframe and source lines. About 1 KiB for a region; debuggers stop the process for
/// each. The list has no lock that is shared with other users of the interface, such as LLVM: do not use both
/// at the same time in several threads.
class GdbInterface final : public Publisher {
public:
  bool add(const PublishedCode& code) override;
  void drop(const PublishedCode& code) override;

private:
  struct [[gnu::visibility("hidden")]] File;
  struct Deleter {
    void operator()(File* file) const;
  };
  std::unordered_map<std::uint64_t, std::unique_ptr<File, Deleter>> files_; ///< by the code's start
};

/// Registers SFrame sections with the kernel, for perf and others that let it walk stacks, by system calls
/// that are proposed for Linux ("unwind: Add sframe_(un)register() system calls", version 2, May 2026). They
/// have no numbers yet, and their arguments may change. Where they do not exist nothing is done, and no
/// failure is counted. A copy of the section for each region.
class KernelRegistration final : public Publisher {
public:
  /// `register_number`, `unregister_number`: of the system calls. 0: those of the system's headers with which
  /// this library was built, if these have them (SYS_sframe_register, SYS_sframe_unregister). Asks the kernel
  /// whether it knows them.
  explicit KernelRegistration(long register_number = 0, long unregister_number = 0);

  /// False if there are no numbers, or the kernel does not know them.
  bool is_available() const { return register_ != 0; }

  bool add(const PublishedCode& code) override;
  void drop(const PublishedCode& code) override;

private:
  long register_, unregister_;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> sections_; ///< by the code's start
};

/// A file that is written as it grows. Errors of writing are kept: add() returns false from then on.
class OutputFile {
public:
  /// Creates the file, or empties a regular file of this user that has no other name.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// Appends all of the bytes, or closes the file and returns false.
  bool write(const void* bytes, std::size_t size);

private:
  int descriptor_;
};

/// Names for perf(1), sframe-unwind --perf-map and others: a line `START SIZE NAME` for each region with a
/// name.
class PerfMap final : public Publisher {
public:
  /// perf looks for /tmp/perf-PID.map.
  explicit PerfMap(const std::string& path) : file_(path) {}

  bool is_open() const { return file_.is_open(); }

  bool add(const PublishedCode& code) override;
  void drop(const PublishedCode& code) override;

private:
  OutputFile file_;
};

/// The code itself, with DWARF frames and source lines, for `perf inject --jit`
/// (linux/tools/perf/Documentation/ jitdump-specification.txt). `perf record -k mono` finds the file by its
/// mapping, which this makes.
class JitDump final : public Publisher {
public:
  /// perf expects a name jit-PID.dump. `room`: bytes after the code of each region, from the next multiple
  /// of 8 on, that never have other code. A perf that uses libunwind (Debian's) finds frames only if it can
  /// take these addresses for the unwinding data, of about 100 bytes and 4 for each row.
  explicit JitDump(const std::string& path, std::size_t room = 0);
  ~JitDump() override;
  JitDump(const JitDump&) = delete;
  JitDump& operator=(const JitDump&) = delete;

  bool is_open() const { return file_.is_open(); }

  /// Reads the code's bytes. False also for code of nearly 4 GiB, which has no place in a record.
  bool add(const PublishedCode& code) override;
  void drop(const PublishedCode& code) override;

private:
  OutputFile file_;
  std::size_t room_;
  void* marker_ = nullptr; ///< the mapping
  std::uint64_t count_ = 0;
};

} // namespace sframe::jit

#pragma GCC visibility pop
