// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recording of stacks, whatever took them: BPF programs, ptrace, or perf (a perf.data file). Writers of
// profile formats read it. Plain data; equal files, locations and stacks are stored once, and others refer to
// them by index.
//
//   sample -> stack -> locations (innermost first) -> file
//   sample -> thread -> process
//
// Names are looked up after the recording (names.h), except those that only the recorder can know (kernel
// symbols, generated code).

#pragma once

#include "sframe/abi.h"
#include "sframe/profile/file_identity.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sframe::profile {

constexpr std::uint32_t none = ~std::uint32_t{0}; ///< no index

enum class FileKind : std::uint8_t {
  elf, ///< a mapped ELF file
  vdso,
  kernel,    ///< the kernel and its modules
  generated, ///< code in no file: addresses are those of the process
};

struct File {
  FileKind kind = FileKind::elf;
  std::string path;                ///< as the process has it; "[kernel]"
  std::vector<std::byte> build_id; ///< empty: not known
  std::uint32_t process = none; ///< with which the path is opened (/proc/PID/root); of generated code, whose
  std::uint64_t start = 0,
                end = 0; ///< one of its mappings in that process (/proc/PID/map_files); 0: not known
  std::optional<FileIdentity> identity = {}; ///< without a build ID: of what was mapped, if that is known

  friend bool operator==(const File&, const File&) = default;
};

/// A place in code, inside the instruction that is executed: a return address minus 1.
struct Location {
  std::uint32_t file = none; ///< none: no mapping
  std::uint32_t name = none; ///< in Recording::names, if the recorder knows it
  std::uint64_t address = 0; ///< as in the file's symbols; of the kernel and of generated code: in memory
  bool guessed = false;      ///< found without a row that proves it, as by frame pointers

  friend bool operator==(const Location&, const Location&) = default;
};

/// Why a stack has no more frames.
struct End {
  bool complete = false; ///< the last location is the outermost frame
  std::string reason;    ///< "no table for the file"

  friend bool operator==(const End&, const End&) = default;
};

struct Stack {
  std::vector<std::uint32_t> locations; ///< innermost first; the kernel's in front
  std::uint32_t end = none;             ///< in Recording::ends

  friend bool operator==(const Stack&, const Stack&) = default;
};

struct Process {
  std::uint32_t pid = 0;
  std::string name;

  friend bool operator==(const Process&, const Process&) = default;
};

struct Thread {
  std::uint32_t tid = 0;
  std::uint32_t process = none;
  std::string name;

  friend bool operator==(const Thread&, const Thread&) = default;
};

struct Sample {
  std::uint64_t time = 0;   ///< nanoseconds since the start of the recording
  std::uint64_t weight = 1; ///< in Recording::unit
  std::uint32_t thread = none;
  std::uint32_t stack = none;
  std::uint32_t cpu = none;
};

enum class Unit : std::uint8_t { samples, nanoseconds, events };

struct Recording {
  const AbiTraits* abi = nullptr; ///< of the processes; nullptr: this machine's
  std::string event = "cpu";      ///< as -e names it
  Unit unit = Unit::samples;
  std::uint64_t period = 0;         ///< nanoseconds between samples; 0: each event is a sample
  std::uint64_t start = 0;          ///< nanoseconds since 1970; 0: not known
  std::uint64_t duration = 0;       ///< nanoseconds
  std::vector<std::string> command; ///< of the program that was started; may be empty
  /// A symbol of the kernel and where it was, if that is known: the kernel is elsewhere after each start.
  std::pair<std::string, std::uint64_t> kernel_symbol;
  std::vector<File> files;
  std::vector<Location> locations;
  std::vector<End> ends;
  std::vector<Stack> stacks;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<std::string> names;
  std::vector<Sample> samples; ///< by time
  /// Samples that are missing, by cause.
  std::vector<std::pair<std::string, std::uint64_t>> lost;
  std::uint64_t own_time = 0;    ///< nanoseconds of processor time that the recording took; 0: not known
  std::uint64_t making_time = 0; ///< and, in other processes, the making of tables for it
  std::uint64_t own_memory = 0;  ///< bytes at most, in the kernel and in this program; 0: not known
};

} // namespace sframe::profile
