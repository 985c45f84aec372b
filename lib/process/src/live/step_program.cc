// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By ptrace(2). Run has one entry for each process and thread, and reacts to the kernel's reports: report()
// is called for each result of waitpid(). Stepping may begin later than the program: then it runs freely,
// with breakpoints at the places where stepping may begin (Breakpoints) and stops at system calls, which may
// map the file that has the place. A child may stop before its parent's report of it: early_ keeps its
// status. All threads have the same share of the steps (next()), and get signals when they have got on
// (SignalPace): else programs whose threads wait for each other by trying again, or that are interrupted at
// intervals, would not end.

#include "sframe/process/step_program.h"

#include "live/breakpoints.h"
#include "live/child.h"
#include "live/proc_files.h"
#include "live/signal_pace.h"
#include "live/tracee.h"
#include "sframe/process/live_process.h"
#include "sframe/process/walk_registers.h"
#include "sframe/unwind/abi.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <elf.h>
#include <optional>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>

namespace sframe::process {

namespace {

constexpr unsigned long step_options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                                       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
/// How PTRACE_O_TRACESYSGOOD marks the stops of PTRACE_SYSCALL.
constexpr int system_call_stop = SIGTRAP | 0x80;

std::unique_ptr<SteppedSpace> open(std::uint32_t pid, const AbiTraits& abi) {
  return std::make_unique<SteppedSpace>(std::make_unique<LiveSpace>(pid, abi, modules::FileOptions{}));
}

class Run {
public:
  Run(pid_t first, StepObserver& observer) : first_(static_cast<std::uint32_t>(first)), observer_(observer) {}

  /// Until everything that is traced has ended. `error`: as in Started.
  Result<int> follow(int error);

private:
  struct Process {
    const AbiTraits* abi = nullptr;
    const unwind::UnwindAbi* unwind = nullptr;
  };
  struct Thread {
    std::uint32_t pid = 0;
    bool maps = false;     ///< is in a system call that maps memory
    bool entering = false; ///< will stop when it has entered a system call
    live::SignalPace pace;
  };
  /// Of waitpid().
  struct Report {
    std::uint32_t tid;
    int status;
  };

  enum class Stop : std::uint8_t { after_step, other };

  std::optional<Report> next();
  void report(std::uint32_t tid, int status);
  void stopped(std::uint32_t tid, Thread& thread, int status);
  void signalled(std::uint32_t tid, Thread& thread, int signal);
  void executed(std::uint32_t tid);
  void announce(std::uint32_t parent, std::uint32_t child);
  void remove(std::uint32_t tid);
  void resume(std::uint32_t tid, int signal);
  void step(std::uint32_t tid, Thread& thread, Stop stop);
  void go_on(std::uint32_t tid, Thread& thread, std::uint64_t pc);
  void find_start(std::uint32_t pid);
  bool wait_for_start(std::uint32_t tid, const live::StopReport& stop);
  void enter_or_leave_system_call(std::uint32_t tid);
  void begin(std::uint32_t tid, std::uint64_t address);
  bool is_real_trap(std::uint32_t tid) const;
  std::optional<unwind::Registers> registers(std::uint32_t tid, const Thread& thread) const;

  std::uint32_t first_;
  StepObserver& observer_;
  bool following_ = true;
  bool waiting_ = false; ///< for a breakpoint, at which stepping begins
  live::Breakpoints breakpoints_;
  bool started_ = false; ///< the first process has executed the program
  bool begun_ = false;   ///< stepping has begun
  std::optional<Problem> failure_;
  std::optional<int> status_; ///< of the first process
  std::unordered_map<std::uint32_t, Process> processes_;
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::unordered_map<std::uint32_t, int> early_; ///< children that stopped before their parent's report
  std::deque<Report> reports_;                   ///< not looked at yet
};

std::optional<unwind::Registers> Run::registers(std::uint32_t tid, const Thread& thread) const {
  const auto process = processes_.find(thread.pid);
  if (process == processes_.end() || !process->second.abi) return std::nullopt;
  const auto stopped = live::read_thread(tid, 0, *process->second.abi);
  if (!stopped) return std::nullopt;
  return registers_of(stopped->registers, *process->second.abi, *process->second.unwind);
}

/// `pushf` pushes the flag by which the processor stops after each instruction, and `popf` makes it the
/// program's own for the kernel, which then does not clear it when the program is let go.
void stop_stepping(std::uint32_t tid) {
#ifdef __x86_64__
  constexpr unsigned long trap_flag = 0x100; // EFLAGS.TF
  user_regs_struct registers{};
  iovec part{&registers, sizeof registers};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &part) != 0 || part.iov_len != sizeof registers) return;
  if ((registers.eflags & trap_flag) == 0) return;
  registers.eflags &= ~trap_flag;
  (void)::ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part);
#else
  (void)tid;
#endif
}

void Run::resume(std::uint32_t tid, int signal) {
  if (!following_) {
    if (const auto thread = threads_.find(tid); thread != threads_.end())
      thread->second.pace.send_all(thread->second.pid, tid);
    stop_stepping(tid);
    return live::detach(tid, signal);
  }
  // Before the program is there, this program's copy runs; it need not be followed.
  (void)::ptrace(!started_ ? PTRACE_CONT : waiting_ ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, tid, 0, signal);
}

void Run::remove(std::uint32_t tid) {
  std::erase_if(reports_, [&](const Report& report) { return report.tid == tid; });
  if (threads_.erase(tid)) observer_.ended(tid);
}

/// A new thread or process.
void Run::announce(std::uint32_t parent, std::uint32_t child) {
  const std::uint32_t parent_pid = threads_[parent].pid;
  std::uint32_t pid = child;
  for (const std::uint32_t other : live::list_threads(parent_pid))
    if (other == child) pid = parent_pid;
  threads_[child].pid = pid;
  if (pid != parent_pid) {
    processes_[pid] = processes_[parent_pid];
    breakpoints_.copy(parent_pid, pid);
  }
  observer_.thread(parent, child, pid == parent_pid ? nullptr : open(pid, *processes_[pid].abi));
  if (const auto early = early_.find(child); early != early_.end()) {
    const int status = early->second;
    early_.erase(early);
    report(child, status);
  }
}

void Run::executed(std::uint32_t tid) {
  const auto main = threads_.find(tid);
  const std::uint32_t pid = main == threads_.end() ? tid : main->second.pid;
  std::vector<std::uint32_t> gone;
  for (const auto& [other, thread] : threads_)
    if (thread.pid == pid && other != tid) gone.push_back(other);
  for (const std::uint32_t other : gone) remove(other);
  threads_[tid] = {};
  threads_[tid].pid = tid;
  breakpoints_.forget(tid);
  const bool is_first = !started_ && tid == first_;
  started_ |= is_first;
  const auto abi = find_process_abi(tid);
  if (abi) {
    processes_[tid] = {*abi, unwind::find_unwind_abi((*abi)->id)};
    // The registers of programs for another machine (qemu by binfmt_misc is no such) have another layout.
    if (registers(tid, threads_[tid])) {
      observer_.program(tid, open(tid, **abi));
      return find_start(tid);
    }
  }
  const std::string why = abi ? "another machine's program" : abi.error().what;
  if (is_first)
    failure_ = Problem{"the program cannot be followed: " + why, {}, {}};
  else
    observer_.lost(tid, why);
  threads_.erase(tid);
  live::detach(tid, 0);
}

/// True if a SIGTRAP is not the end of a step: sent by a process, or raised by a breakpoint instruction.
bool Run::is_real_trap(std::uint32_t tid) const {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, tid, 0, &info) != 0) return false;
  return info.si_signo == SIGTRAP && (info.si_code <= 0 || info.si_code == SI_KERNEL);
}

/// Asks where stepping begins in a process, unless it has begun.
void Run::find_start(std::uint32_t pid) {
  if (begun_) return;
  const auto addresses = observer_.start_at(pid);
  begun_ = !addresses;
  waiting_ = addresses.has_value();
  if (!addresses) return;
  for (const std::uint64_t address : *addresses) breakpoints_.insert(pid, address);
  if (live::Breakpoints::are_supported()) return;
  failure_ = Problem{"stepping cannot begin later than at the start on this machine", {}, {}};
  following_ = false;
}

/// Memory is mapped by system calls. Without knowing which one this is, any may have mapped something.
void Run::enter_or_leave_system_call(std::uint32_t tid) {
  __ptrace_syscall_info info{};
  Thread& thread = threads_[tid];
  const long size = ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info);
  if (size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    const auto number = static_cast<long>(info.entry.nr);
    thread.maps = number == SYS_mmap || number == SYS_mprotect || number == SYS_mremap;
  } else if (size <= 0 || thread.maps) {
    thread.maps = false;
    find_start(thread.pid);
  }
}

/// A thread has reached the start.
void Run::begin(std::uint32_t tid, std::uint64_t address) {
  waiting_ = false;
  begun_ = true;
  breakpoints_.remove_all();
  live::Breakpoints::move(tid, address);
  for (const auto& [other, thread] : threads_)
    if (other != tid) (void)live::interrupt(other);
  step(tid, threads_[tid], Stop::other);
}

/// A stop that is not the end of a step. False if it is not about the start of stepping.
bool Run::wait_for_start(std::uint32_t tid, const live::StopReport& stop) {
  if (stop.signal == system_call_stop) {
    if (!waiting_) {
      step(tid, threads_[tid], Stop::other);
      return true;
    }
    enter_or_leave_system_call(tid);
    resume(tid, 0);
    return true;
  }
  if (stop.signal == SIGTRAP && (waiting_ || is_real_trap(tid))) {
    const auto now = registers(tid, threads_[tid]);
    const auto address = now ? breakpoints_.executed(threads_[tid].pid, now->pc) : std::nullopt;
    if (address && waiting_) {
      begin(tid, *address);
      return true;
    }
    if (address) { // was on its way when the first thread began
      live::Breakpoints::move(tid, *address);
      step(tid, threads_[tid], Stop::other);
      return true;
    }
  }
  if (!waiting_) return false;
  resume(tid, stop.signal);
  return true;
}

/// Only after a step, which the kernel reports as a signal, can the thread be given another signal.
void Run::step(std::uint32_t tid, Thread& thread, Stop stop) {
  const auto now = registers(tid, thread);
  if (!now) return resume(tid, 0);
  const StepAnswer answer = observer_.step(tid, *now);
  following_ &= answer.follow;
  if (!following_) return resume(tid, 0);
  thread.pace.announce(now->pc, answer.system_call.has_value(), answer.ends_handler);
  const bool executes = answer.system_call == SYS_execve || answer.system_call == SYS_execveat;
  const auto due = stop == Stop::after_step ? thread.pace.take_due(executes) : std::nullopt;
  if (!due) return go_on(tid, thread, now->pc);
  observer_.signal(tid, *now);
  (void)::ptrace(PTRACE_SETSIGINFO, tid, 0, &*due);
  resume(tid, due->si_signo);
}

/// Executes the instruction that the observer knows.
void Run::go_on(std::uint32_t tid, Thread& thread, std::uint64_t pc) {
  thread.entering = thread.pace.must_stop_at_call(pc);
  if (!thread.entering) return resume(tid, 0);
  (void)::ptrace(PTRACE_SYSCALL, tid, 0, 0);
}

/// A signal is about to be delivered.
void Run::signalled(std::uint32_t tid, Thread& thread, int signal) {
  const auto now = registers(tid, thread);
  siginfo_t info{};
  if (now && ::ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0) {
    if (!thread.pace.arrived(info, now->pc)) return go_on(tid, thread, now->pc);
    (void)::ptrace(PTRACE_SETSIGINFO, tid, 0, &info);
  }
  if (now) observer_.signal(tid, *now);
  resume(tid, signal);
}

void Run::stopped(std::uint32_t tid, Thread& thread, int status) {
  const live::StopReport stop = live::read_status(status);
  switch (stop.event) {
  case PTRACE_EVENT_CLONE:
  case PTRACE_EVENT_FORK:
  case PTRACE_EVENT_VFORK: {
    unsigned long child = 0;
    if (::ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) == 0 && child)
      announce(tid, static_cast<std::uint32_t>(child));
    return resume(tid, 0);
  }
  case PTRACE_EVENT_STOP:
    if (stop.group_stop && following_) {
      (void)::ptrace(PTRACE_LISTEN, tid, 0, 0);
      return;
    }
    return started_ && following_ && !waiting_ ? step(tid, thread, Stop::other) : resume(tid, 0);
  case 0: break;
  default: return resume(tid, 0);
  }
  if (!started_ || !following_)
    return resume(tid, stop.signal == SIGTRAP || stop.signal == system_call_stop ? 0 : stop.signal);
  if (stop.signal == system_call_stop && std::exchange(thread.entering, false)) {
    thread.pace.send_all(thread.pid, tid);
    return resume(tid, 0);
  }
  if (wait_for_start(tid, stop)) return;
  if (stop.signal == SIGTRAP && !is_real_trap(tid)) return step(tid, thread, Stop::after_step);
  signalled(tid, thread, stop.signal);
}

void Run::report(std::uint32_t tid, int status) {
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    if (tid == first_) status_ = status;
    early_.erase(tid);
    return remove(tid);
  }
  if (!WIFSTOPPED(status)) return;
  if (status >> 16 == PTRACE_EVENT_EXEC) {
    executed(tid);
    if (threads_.contains(tid)) resume(tid, 0);
    return;
  }
  const auto found = threads_.find(tid);
  if (found == threads_.end()) {
    early_[tid] = status;
    return;
  }
  stopped(tid, found->second, status);
}

/// All that have stopped are taken before the first of them goes on: waitpid() prefers some threads, and the
/// others would never have their turn.
std::optional<Run::Report> Run::next() {
  for (int options = __WALL; reports_.empty() || (options & WNOHANG) != 0;) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, options);
    if (tid < 0 && errno == EINTR) continue;
    if (tid <= 0) break;
    // The thread that had this number has gone, and cannot go on from where it stopped.
    if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC)
      std::erase_if(reports_,
                    [&](const Report& report) { return report.tid == static_cast<std::uint32_t>(tid); });
    reports_.push_back({static_cast<std::uint32_t>(tid), status});
    if (threads_.size() > 1) options |= WNOHANG;
  }
  if (reports_.empty()) return std::nullopt;
  const Report report = reports_.front();
  reports_.pop_front();
  return report;
}

Result<int> Run::follow(int error) {
  threads_[first_].pid = first_;
  while (const auto stopped = next()) report(stopped->tid, stopped->status);
  int number = 0;
  if (!started_ && ::read(error, &number, sizeof number) == sizeof number)
    return fail(std::string("cannot be started: ") + std::strerror(number));
  if (failure_) return unexpected(*failure_);
  if (!started_ || !status_) return fail("cannot be started");
  return *status_;
}

} // namespace

Result<int> step_program(const std::vector<std::string>& command, StepObserver& observer) {
  if (command.empty()) return fail("no program");
  const auto started = live::start_child(command);
  if (!started) return unexpected(started.error());
  const auto pid = static_cast<std::uint32_t>(started->pid);
  if (::ptrace(PTRACE_SEIZE, pid, 0, step_options) != 0) {
    const Problem why = live::explain_refusal(pid, errno);
    ::close(started->go); // it ends
    ::close(started->error);
    (void)::waitpid(started->pid, nullptr, 0);
    return unexpected(why);
  }
  (void)!::write(started->go, "", 1);
  ::close(started->go);
  Run run(started->pid, observer);
  auto status = run.follow(started->error);
  ::close(started->error);
  return status;
}

} // namespace sframe::process
