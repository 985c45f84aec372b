// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of live processes, as in StackwalkerAPI's ProcDebug. A LiveProcess alone is traced only during
// walks and does not report events in between; one attached by a ProcessMonitor stays traced.
//
//   auto monitor = ProcessMonitor::create();
//   auto process = (*monitor)->attach(pid, {});
//   for (;;) {
//     walk(**process);                                    // stop(), Walker, resume(): as without a monitor
//     pollfd happened{(*monitor)->notification_fd(), POLLIN, 0};
//     ::poll(&happened, 1, 5000);
//     for (const DebugEvent& event : (*monitor)->handle_events()) report(event);
//   }
//
// The kernel holds a traced thread at each event until its tracer answers. Here a thread of the library
// answers at once, and the program is notified afterwards. A program that is slow, or never takes events,
// does not block its targets: it loses events, and their number is reported. Signals are passed on to the
// target unchanged; SIGSTOP and SIGCONT keep their meaning. When the program ends in any way, the kernel
// detaches from all targets.
//
// Nothing is written into a target, so there is no breakpoint that reports libraries: handle_events()
// compares the mappings with those at its last call. A library loaded and unloaded in between is not seen.
//
// Effects of tracing: no second debugger can attach. Each stop is a SIGCHLD if the program has a handler for
// it without SA_NOCLDSTOP. A program must not wait for any child (waitpid(-1)) on its other threads, except
// with __WNOTHREAD, nor for a target that is its own child: the child's status is in the `exited` event. One
// unused real-time signal (the highest) gets an empty handler; it wakes the tracing thread and is sent to no
// other.

#pragma once

#include "sframe/process/live_process.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::process::live { // private
class Monitor;
class LibraryWatch;
} // namespace sframe::process::live

#pragma GCC visibility push(default)

namespace sframe::process {

struct DebugEvent {
  enum class Kind : std::uint8_t {
    thread_started,
    thread_ended,     ///< not reported at the process's end, nor for its leader
    forked,           ///< fork(), vfork(), or clone() of a process: see `child`
    exec,             ///< another program runs; all threads but the leader have ended
    signal,           ///< `signal` is delivered to `tid`
    library_loaded,   ///< an ELF file was mapped: `path`, `address`
    library_unloaded, ///< it is no longer mapped
    exited,           ///< the process has ended: `exit_code`, or the `signal` that ended it
    detached,         ///< it runs on without being traced
    lost,             ///< `count` events were dropped: the queue was full
  };
  Kind kind;
  std::uint32_t pid = 0; ///< of the process; 0 for `lost`
  std::uint32_t tid = 0; ///< of the thread concerned; 0 for libraries and `lost`
  std::uint32_t child = 0;
  std::int32_t signal = 0;
  std::int32_t exit_code = 0;
  std::uint64_t address = 0; ///< start of the library's first mapping
  std::uint64_t count = 0;
  std::string path;
};

/// "thread started", "library unloaded". Static text.
const char* name(DebugEvent::Kind kind);

struct MonitorOptions {
  /// Children of monitored processes are monitored, too, from their first instruction on. attach() returns a
  /// LiveProcess for one; detach() stops tracing it. If false, children are detached at once.
  bool follow_forks = false;
  /// Report libraries. Each handle_events() then reads /proc/PID/maps of each process.
  bool libraries = true;
};

/// One notification descriptor and one tracing thread for any number of processes. All functions may be
/// called from any thread, even while others wait in them; a LiveProcess is for one thread at a time.
class ProcessMonitor {
public:
  /// Starts the tracing thread. Fails if the system has no thread, descriptor or real-time signal left.
  static Result<std::unique_ptr<ProcessMonitor>> create(MonitorOptions options = {});

  /// Detaches from all processes, including paused ones, which then run. A LiveProcess from attach() may
  /// outlive the monitor, but cannot be stopped any more.
  ~ProcessMonitor();

  /// Traces the process from now on, without stopping it. Fails as LiveProcess::attach() does, and for a
  /// process already attached. Destroying the returned object detaches from the process.
  Result<std::unique_ptr<LiveProcess>> attach(std::uint32_t pid, modules::FileOptions files);

  /// Readable (poll(2)) while there are events; owned by the monitor. Library events make it readable only
  /// if a walk finds them.
  int notification_fd() const;

  /// Takes all events, those of one process in order, except that library events come last. With `block`,
  /// waits until there is one; returns at once if no process is attached. At most 16,384 events are kept
  /// between two calls.
  std::vector<DebugEvent> handle_events(bool block = false);

  /// Stops all threads of the process, or the given one, until resume(). After a walk, paused threads are
  /// still paused. Fails if there is no such process or thread, or if one does not stop within a second;
  /// then nothing is paused.
  Result<void> pause(std::uint32_t pid, std::optional<std::uint32_t> tid = std::nullopt);
  /// Resumes all paused threads, or the given one. Fails if it was not paused, or none was.
  Result<void> resume(std::uint32_t pid, std::optional<std::uint32_t> tid = std::nullopt);
  /// Detaches from a process, which then runs, even if paused or stopped. Fails if it is not monitored.
  Result<void> detach(std::uint32_t pid);

private:
  ProcessMonitor(std::shared_ptr<live::Monitor> monitor, MonitorOptions options);

  std::shared_ptr<live::Monitor> monitor_;
  std::unique_ptr<live::LibraryWatch> libraries_; ///< if requested
};

} // namespace sframe::process

#pragma GCC visibility pop
