// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recording by BPF programs, which walk stacks in the kernel (docs/bpf.md).

#pragma once

#include "../event.h"
#include "../recorder.h"

#include "sframe/tool/interruption.h"

namespace sframe::profile_tool {

class StartedProgram;

/// What the kernel lacks for it; empty if nothing.
std::string missing_for_bpf();

/// As record(). `program` is prepared if the options have a command.
Result<profile::Recording> record_by_bpf(const RecordOptions& options, const Event& event,
                                         StartedProgram& program, const tool::Interruption& interruption,
                                         tool::MessageSink& messages);

} // namespace sframe::profile_tool
