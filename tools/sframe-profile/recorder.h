// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What takes the samples of running programs, for the rest of the program: BPF programs (bpf/), or ptrace
// (ptrace_recorder.cc); record.cc chooses.

#pragma once

#include "table_folder.h"

#include "sframe/files/options.h"
#include "sframe/profile/recording.h"
#include "sframe/tool/messages.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sframe::profile_tool {

/// What to record. Either `pids` is set, or `all`, `command` or both.
struct RecordOptions {
  bool all = false;                 ///< the whole machine
  std::vector<std::uint32_t> pids;  ///< these processes, and those that they start
  std::vector<std::string> command; ///< a program to start, and its arguments
  std::string event = "cpu";        ///< as -e names it
  std::uint32_t frequency = 99;     ///< samples per second of each processor, if the event has them
  bool has_frequency = false;       ///< it was given
  double seconds = 0;               ///< 0: until the programs end, or SIGINT
  files::FileOptions files;         ///< of which stacks are walked and named
  TableFolder tables;               ///< for BPF
};

/// Records until the time is over, the programs have ended, or SIGINT; what was recorded until then is the
/// result. Fails if nothing could be recorded.
Result<profile::Recording> record(const RecordOptions& options, tool::MessageSink& messages);

} // namespace sframe::profile_tool
