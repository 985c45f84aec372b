// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recording without BPF: each process is stopped for a sample (ptrace), and its threads are walked. For one's
// own processes that needs no rights.

#pragma once

#include "event.h"
#include "recorder.h"

#include "sframe/tool/interruption.h"

namespace sframe::profile_tool {

class StartedProgram;

/// Whether samples of the event can be taken so: those that are taken at a time.
bool can_stop_for(const Event& event);

/// As record(). `program` is prepared if the options have a command. Processes that they start are not
/// recorded.
Result<profile::Recording> record_by_ptrace(const RecordOptions& options, const Event& event,
                                            StartedProgram& program, const tool::Interruption& interruption,
                                            tool::MessageSink& messages);

} // namespace sframe::profile_tool
