// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/process/process_monitor.h"

#include "live/library_watch.h"
#include "live/monitor.h"

#include <poll.h>

namespace sframe::process {

const char* name(DebugEvent::Kind kind) {
  using enum DebugEvent::Kind;
  switch (kind) {
  case thread_started: return "thread started";
  case thread_ended: return "thread ended";
  case forked: return "forked";
  case exec: return "exec";
  case signal: return "signal";
  case library_loaded: return "library loaded";
  case library_unloaded: return "library unloaded";
  case exited: return "exited";
  case detached: return "detached";
  case lost: return "events lost";
  }
  return "";
}

using Kind = DebugEvent::Kind;

namespace {

/// Stops for walks of a process that stays traced. Its destructor detaches.
class MonitoredTracing final : public live::Tracing {
public:
  MonitoredTracing(std::shared_ptr<live::Monitor> monitor, live::Attachment which, const AbiTraits& abi)
      : monitor_(std::move(monitor)), which_(which), abi_(abi) {}
  ~MonitoredTracing() override { static_cast<void>(monitor_->detach(which_)); }

  Result<live::Stop> stop(std::optional<std::uint32_t> tid) override {
    return monitor_->hold(which_, tid, abi_);
  }
  void resume() override { monitor_->release(which_); }
  void mappings_changed() override { monitor_->events().ring(); }

private:
  std::shared_ptr<live::Monitor> monitor_;
  live::Attachment which_;
  const AbiTraits& abi_;
};

} // namespace

ProcessMonitor::ProcessMonitor(std::shared_ptr<live::Monitor> monitor, MonitorOptions options)
    : monitor_(std::move(monitor)) {
  if (options.libraries) libraries_ = std::make_unique<live::LibraryWatch>();
}

ProcessMonitor::~ProcessMonitor() {
  monitor_->close();
}

Result<std::unique_ptr<ProcessMonitor>> ProcessMonitor::create(MonitorOptions options) {
  auto monitor = std::make_shared<live::Monitor>(options.follow_forks);
  if (auto started = monitor->start(); !started) return unexpected(started.error());
  return std::unique_ptr<ProcessMonitor>(new ProcessMonitor(std::move(monitor), options));
}

Result<std::unique_ptr<LiveProcess>> ProcessMonitor::attach(std::uint32_t pid, modules::FileOptions files) {
  auto process = LiveProcess::open(pid, std::move(files), monitor_->follows(pid));
  if (!process) return process;
  const auto session = monitor_->attach(pid);
  if (!session) return unexpected(session.error());
  const AbiTraits& abi = (*process)->space().abi();
  (*process)->tracing_ = std::make_unique<MonitoredTracing>(monitor_, live::Attachment{pid, *session}, abi);
  if (libraries_) libraries_->add(pid);
  return process;
}

int ProcessMonitor::notification_fd() const {
  return monitor_->events().fd();
}

std::vector<DebugEvent> ProcessMonitor::handle_events(bool block) {
  for (;;) {
    const bool last =
        !block || !monitor_->has_processes(); // checked first: the last process may end meanwhile
    std::vector<DebugEvent> events = monitor_->events().take();
    if (libraries_) {
      for (const DebugEvent& event : events)
        if (event.kind == Kind::exited || event.kind == Kind::detached) libraries_->remove(event.pid);
      libraries_->compare(events);
    }
    if (!events.empty() || last) return events;
    pollfd happened{notification_fd(), POLLIN, 0};
    ::poll(&happened, 1, -1);
  }
}

Result<void> ProcessMonitor::pause(std::uint32_t pid, std::optional<std::uint32_t> tid) {
  return monitor_->pause(pid, tid);
}

Result<void> ProcessMonitor::resume(std::uint32_t pid, std::optional<std::uint32_t> tid) {
  return monitor_->resume(pid, tid);
}

Result<void> ProcessMonitor::detach(std::uint32_t pid) {
  return monitor_->detach({pid});
}

} // namespace sframe::process
