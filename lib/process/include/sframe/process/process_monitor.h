// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of live processes: what StackwalkerAPI's ProcDebug is. A LiveProcess alone is traced only while it
// is walked and says nothing of what happens in between; one that a ProcessMonitor attached stays traced.
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
// The kernel holds a traced thread at each event until its tracer answers. Here a thread of the library does
// so at once, whatever the program is doing; the program only hears of it. So a program that sleeps, or never
// asks, does not hold up its targets: it loses events, and is told how many. Signals go on to the target
// unchanged, SIGSTOP and SIGCONT keep their meaning. When the program ends, however it does, the kernel lets
// go of everything.
//
// Nothing is written into a target, so there is no breakpoint to tell of libraries: handle_events() compares
// what is mapped with what was when it was last called. A library that came and went in between is not seen.
//
// What tracing brings with it: no second debugger can attach; each stop is a SIGCHLD where the program has a
// handler for it without SA_NOCLDSTOP; a program must not wait for any child
// (waitpid(-1)) on its other threads, except with __WNOTHREAD, nor for a target that is its own child: the
// child's status is in the `exited` event. A real-time signal that the program has left alone (the highest)
// gets an empty handler; it wakes the tracing thread and reaches no other.

#pragma once

#include "sframe/process/live_process.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::process {

struct DebugEvent {
  enum class Kind : std::uint8_t {
    thread_started,
    thread_ended,     ///< those that end with their process, and its leader, are not told of
    forked,           ///< fork(), vfork(), or clone() of a process: see `child`
    exec,             ///< another program runs now; all threads but the leader have ended
    signal,           ///< `tid` gets `signal`
    library_loaded,   ///< an ELF file was mapped: `path`, `address`
    library_unloaded, ///< it is mapped no longer
    exited,           ///< the process has ended: `exit_code`, or `signal` that ended it
    detached,         ///< it runs on without us
    lost,             ///< `count` events were not kept, since nobody took those before them
  };
  Kind kind;
  std::uint32_t pid = 0; ///< of the process; 0 for `lost`
  std::uint32_t tid = 0; ///< of the thread that it happened to; 0 for libraries and `lost`
  std::uint32_t child = 0;
  std::int32_t signal = 0;
  std::int32_t exit_code = 0;
  std::uint64_t address = 0; ///< where the library's first mapping begins
  std::uint64_t count = 0;
  std::string path;
};

/// "thread started", "library unloaded". Static text.
const char* name(DebugEvent::Kind kind);

struct MonitorOptions {
  /// Children of the monitored processes are monitored, too, from their first instruction on. attach() gives
  /// a LiveProcess for one; detach() lets it go. Otherwise they are let go at once.
  bool follow_forks = false;
  /// Events of libraries; they cost a read of /proc/PID/maps for each process in each handle_events().
  bool libraries = true;
};

namespace live {
class Monitor;
class LibraryWatch;
} // namespace live

/// One notification descriptor and one tracing thread for any number of processes. All functions may be
/// called from any thread, also while others wait in them; a LiveProcess is for one thread at a time.
class ProcessMonitor {
public:
  /// Starts the tracing thread. Fails where the system has no thread, descriptor or real-time signal left.
  static Result<std::unique_ptr<ProcessMonitor>> create(MonitorOptions options = {});

  /// Detaches from all processes, paused ones included, which run on. A LiveProcess from attach() may outlive
  /// the monitor, but cannot be stopped any more.
  ~ProcessMonitor();

  /// Traces the process from now on, without stopping it. Fails as LiveProcess::attach() does, and for a
  /// process that it has already attached. The end of the returned object detaches from the process.
  Result<std::unique_ptr<LiveProcess>> attach(std::uint32_t pid, modules::FileOptions files);

  /// Readable (poll(2)) while there are events to take; owned by the monitor. Libraries alone do not make it
  /// readable, except when a walk meets them.
  int notification_fd() const;

  /// Takes the events there are, those of one process in the order in which they happened, except that
  /// libraries come last. With `block`, waits until there is one; returns at once where no process is
  /// attached. At most 16,384 events are kept between two calls.
  std::vector<DebugEvent> handle_events(bool block = false);

  /// Stops all threads of the process, or that one, until resume(). A walk of paused threads leaves them
  /// paused. Fails where there is no such process or thread here, or where one does not stop within a second;
  /// then nothing is paused.
  Result<void> pause(std::uint32_t pid, std::optional<std::uint32_t> tid = std::nullopt);
  /// Lets all paused threads go on, or that one. Fails where it, or none of them, was paused.
  Result<void> resume(std::uint32_t pid, std::optional<std::uint32_t> tid = std::nullopt);
  /// Ends the tracing of a process, which runs on, whatever was paused or stopped. Fails where it is not
  /// monitored.
  Result<void> detach(std::uint32_t pid);

private:
  ProcessMonitor(std::shared_ptr<live::Monitor> monitor, MonitorOptions options);

  std::shared_ptr<live::Monitor> monitor_;
  std::unique_ptr<live::LibraryWatch> libraries_; ///< where they are wanted
};

} // namespace sframe::process
