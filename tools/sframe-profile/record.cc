// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how samples are taken: by BPF programs where that is possible, else by stopping the processes.

#include "event.h"
#include "program.h"
#include "ptrace_recorder.h"
#include "recorder.h"

#ifdef SFRAME_PROFILE_BPF
#  include "bpf/bpf_recorder.h"
#endif

#include "sframe/tool/interruption.h"
#include "sframe/tool/process_limits.h"

#include <csignal>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

/// Why BPF programs cannot take samples; empty if they can.
std::string find_obstacle() {
#ifdef SFRAME_PROFILE_BPF
  const std::string missing = missing_for_bpf();
  const char* const advice = ::geteuid() == 0 ? "" : " (root may have it)";
  return missing.empty() ? missing : "not possible here; missing: " + missing + advice;
#else
  return "not a part of this program (it was built without SFRAME_BPF)";
#endif
}

} // namespace

Result<profile::Recording> record(const RecordOptions& options, tool::MessageSink& messages) {
  const auto event = parse_event(options.event);
  if (!event) return unexpected(event.error());
  tool::lift_process_limits();         // what it takes does not depend on files
  (void)std::signal(SIGCHLD, SIG_DFL); // else it is not known how the program ends
  StartedProgram program;
  if (!options.command.empty())
    if (auto prepared = program.prepare(options.command); !prepared) return unexpected(prepared.error());
  const tool::Interruption interruption(true);
  const std::string obstacle = find_obstacle();
#ifdef SFRAME_PROFILE_BPF
  if (obstacle.empty() && options.has_frequency && !event->has_clock())
    messages.warning({},
                     "--frequency has no effect: by BPF, " + options.event + " is each wait, not samples");
  if (obstacle.empty()) return record_by_bpf(options, *event, program, interruption, messages);
#endif
  if (options.all) return fail("-a needs BPF, which is " + obstacle);
  if (!can_stop_for(*event)) return fail("-e " + options.event + " needs BPF, which is " + obstacle);
  messages.warning({}, "BPF is " + obstacle +
                           ". Processes are stopped for each sample, and those that they start "
                           "are not recorded");
  if (options.tables.keeps) messages.warning({}, "--keep-generated: without BPF, no tables are made");
  return record_by_ptrace(options, *event, program, interruption, messages);
}

} // namespace sframe::profile_tool
