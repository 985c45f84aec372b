// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/proc_files.h"
#include "live/tracer.h"
#include "sframe/process/live_process.h"
#include "sframe/process/walk_registers.h"
#include "sframe/unwind/abi.h"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sframe::process {

namespace {

/// Whether the kernel permits reading its memory: the same check as for tracing.
Result<void> check_permission(std::uint32_t pid) {
  const int fd = live::open_of_living(pid, "mem");
  if (fd < 0) return unexpected(live::explain_refusal(pid, errno));
  ::close(fd);
  return {};
}

} // namespace

LiveProcess::LiveProcess(std::uint32_t pid, int exit_fd, std::unique_ptr<LiveSpace> space)
    : pid_(pid), exit_fd_(exit_fd), space_(std::move(space)), name_(live::thread_name(pid, pid)) {}

LiveProcess::~LiveProcess() {
  resume();
  ::close(exit_fd_);
}

Result<std::unique_ptr<LiveProcess>> LiveProcess::attach(std::uint32_t pid, modules::FileOptions files) {
  auto process = open(pid, std::move(files), false);
  if (process) (*process)->tracing_ = std::make_unique<live::Tracer>(pid, (*process)->space_->abi());
  return process;
}

Result<std::unique_ptr<LiveProcess>> LiveProcess::open(std::uint32_t pid, modules::FileOptions files,
                                                       bool traced_by_us) {
  if (!traced_by_us)
    if (auto obstacle = live::find_obstacle(pid)) return unexpected(std::move(*obstacle));
  if (auto allowed = check_permission(pid); !allowed) return unexpected(allowed.error());
  const auto abi = find_process_abi(pid);
  if (!abi) return unexpected(abi.error());
  const long exit_fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (exit_fd < 0) return unexpected(live::explain_refusal(pid, errno));
  auto space = std::make_unique<LiveSpace>(pid, **abi, std::move(files));
  return std::unique_ptr<LiveProcess>(new LiveProcess(pid, static_cast<int>(exit_fd), std::move(space)));
}

std::vector<ThreadActivity> LiveProcess::activity() const {
  std::vector<ThreadActivity> all;
  for (const std::uint32_t tid : live::list_threads(pid_)) {
    const auto [used, delayed] = live::thread_times(pid_, tid);
    all.push_back({tid, live::thread_state(pid_, tid) == 'R', used, delayed});
  }
  return all;
}

bool LiveProcess::is_terminated() const {
  pollfd ended{exit_fd_, POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
}

Result<void> LiveProcess::stop(std::optional<std::uint32_t> tid) {
  if (stopped_) return {};
  if (is_terminated()) return fail("process has exited");
  const auto stop = tracing_->stop(tid);
  if (!stop) return unexpected(explain(stop.error()));
  try {
    auto looked = look_again();
    if (looked) take_threads(*stop);
    stopped_ = looked.has_value();
    if (!looked) tracing_->resume();
    return looked;
  } catch (...) { // out of memory: the process must not stay stopped
    tracing_->resume();
    throw;
  }
}

/// Updates what has changed since the last stop: libraries or, after exec, everything.
Result<void> LiveProcess::look_again() {
  const auto changed = space_->refresh();
  if (!changed) return unexpected(changed.error());
  space_->refresh_generated_code();
  if (!*changed) return {};
  name_ = live::thread_name(pid_, pid_);
  tracing_->mappings_changed();
  return check_abi();
}

/// exec may have started a program of another ABI.
Result<void> LiveProcess::check_abi() const {
  const auto abi = find_process_abi(pid_);
  if (!abi) return unexpected(abi.error());
  if (*abi != &space_->abi()) return fail("exec started a program for another machine");
  return {};
}

/// Why it could not be stopped: registers cannot be read if the ABI has changed.
Problem LiveProcess::explain(const Problem& why) const {
  const auto abi = is_terminated() ? Result<void>() : check_abi();
  return abi ? why : abi.error();
}

std::string LiveProcess::explain_unstopped(std::uint32_t tid) const {
  return live::explain_unstopped(pid_, tid);
}

void LiveProcess::take_threads(const live::Stop& stop) {
  threads_.clear();
  threads_.reserve(stop.threads.size());
  names_.clear();
  unstopped_ = stop.unstopped;
  std::uint64_t pac_mask = 0;
  const unwind::UnwindAbi& unwind = *unwind::find_unwind_abi(space_->abi().id);
  for (const live::StoppedThread& thread : stop.threads) {
    const std::string& name = names_.emplace_back(live::thread_name(pid_, thread.tid));
    threads_.push_back(
        {thread.tid, thread.signal, name, registers_of(thread.registers, space_->abi(), unwind)});
    threads_.back().other_mode = is_other_mode(thread.registers, unwind);
    if (thread.code_pac_mask) pac_mask = thread.code_pac_mask;
  }
  space_->set_code_pac_mask(pac_mask);
}

void LiveProcess::resume() {
  if (!std::exchange(stopped_, false)) return;
  tracing_->resume();
  space_->forget();
}

} // namespace sframe::process
