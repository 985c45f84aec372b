// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A perf.data file as a recording: call chains as they are, copied stacks walked by their registers.

#pragma once

#include "sframe/files/options.h"
#include "sframe/perf/data.h"
#include "sframe/profile/recording.h"

#include <string>
#include <utility>
#include <vector>

namespace sframe::perf {

struct ReadOptions {
  files::FileOptions files; ///< of the processes; its budget pays for walks
  std::string event;        ///< whose samples; empty: those of the first one that has samples
};

struct ReadResult {
  profile::Recording recording;
  /// The samples of other events, by the event's name.
  std::vector<std::pair<std::string, std::uint64_t>> other_events;
  std::vector<Problem> problems; ///< what is damaged, or was left out
};

/// Fails if there is no such event, or the machine has registers that are not known here. Linear in records
/// and frames.
Result<ReadResult> read_recording(const Data& data, const ReadOptions& options);

} // namespace sframe::perf
