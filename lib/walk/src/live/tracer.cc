// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls are those of ptrace(2). A thread that was interrupted reports one of three stops: the one that
// was asked for; a group stop, when SIGSTOP or its like had stopped the process, which it goes back to when
// it is detached; a signal about to be delivered, which detaching with its number delivers.

#include "live/tracer.h"

#include "live/proc_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <elf.h>
#include <set>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

namespace sframe::walk {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(1);

/// The register set `type` (NT_PRSTATUS...) of a stopped thread; empty where it has none.
std::span<const std::byte> register_set(std::uint32_t tid, int type, std::span<std::byte> buffer) {
  iovec part{buffer.data(), buffer.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, type, &part) != 0) return {};
  return buffer.first(part.iov_len);
}

} // namespace

Tracer::Tracer(std::uint32_t pid, std::optional<std::uint32_t> tid, const AbiTraits& abi)
    : pid_(pid), only_(tid), abi_(abi) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ready_.acquire();
}

Tracer::~Tracer() {
  release_.release();
  thread_.join();
}

void Tracer::run() {
  stop_all();
  if (!problem_) read_registers();
  if (!problem_ && stopped_.empty()) problem_ = live::explain_refusal(pid_, ESRCH);
  ready_.release();
  if (!problem_) release_.acquire();
  // Threads that are not stopped cannot be detached; the end of this thread lets go of them.
  for (const Stopped& thread : stopped_) ::ptrace(PTRACE_DETACH, thread.tid, 0, thread.signal);
}

/// Threads start threads until they stand still: the list is read until it has no new ones.
void Tracer::stop_all() {
  std::set<std::uint32_t> known;
  for (;;) {
    std::vector<std::uint32_t> added = live::list_threads(pid_);
    if (only_) std::erase_if(added, [&](std::uint32_t tid) { return tid != *only_; });
    if (only_ && added.empty()) {
      problem_ = elf::Problem{"has no thread " + std::to_string(*only_), {}, {}};
      return;
    }
    std::erase_if(added, [&](std::uint32_t tid) { return !known.insert(tid).second; });
    if (added.empty()) break;
    for (const std::uint32_t tid : seize(added)) await(tid);
    if (problem_) return;
  }
  std::ranges::sort(stopped_, {}, &Stopped::tid);
}

/// Those of `tids` that are seized now; without the ones that have ended.
std::vector<std::uint32_t> Tracer::seize(const std::vector<std::uint32_t>& tids) {
  std::vector<std::uint32_t> seized;
  for (const std::uint32_t tid : tids) {
    if (::ptrace(PTRACE_SEIZE, tid, 0, 0) == 0) {
      if (::ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0) seized.push_back(tid);
      continue;
    }
    const int error = errno;
    if (error == ESRCH) continue;
    // A thread that is ending, or has ended but is not gone, is refused, too.
    const std::string status = live::read_proc(pid_, "task/" + std::to_string(tid) + "/status");
    const std::string state = live::status_value(status, "State");
    if (state.empty() || state.starts_with('Z') || state.starts_with('X')) continue;
    problem_ = live::explain_refusal(pid_, error);
    break;
  }
  return seized;
}

/// Waits for the stop of a thread. Waiting without end would hang with a thread that cannot be interrupted (a
/// vfork() in progress, a dead network file system).
void Tracer::await(std::uint32_t tid) {
  const auto deadline = Clock::now() + patience;
  for (unsigned tries = 0;; ++tries) {
    int status = 0;
    const pid_t got = ::waitpid(static_cast<pid_t>(tid), &status, __WALL | WNOHANG);
    if (got < 0 && errno != EINTR) return; // it has ended
    if (got > 0) {
      if (!WIFSTOPPED(status)) return;
      const bool delivering = status >> 16 == 0; // else PTRACE_EVENT_STOP
      stopped_.push_back({.tid = tid, .signal = delivering ? WSTOPSIG(status) : 0, .registers = {}});
      return;
    }
    if (Clock::now() > deadline) break;
    if (tries < 50)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  unstopped_.push_back(tid);
}

void Tracer::read_registers() {
  alignas(8) std::array<std::byte, 4096> buffer;
  std::erase_if(stopped_, [&](Stopped& thread) {
    const auto general = register_set(thread.tid, NT_PRSTATUS, buffer);
    auto registers = elf::decode_registers(abi_.machine, abi_.byte_order, general);
    if (!registers) return true; // killed while it was stopped
    thread.registers = *registers;
    if (!elf::decode_fp_registers(abi_.machine, abi_.byte_order, {}, thread.registers))
      elf::decode_fp_registers(abi_.machine, abi_.byte_order, register_set(thread.tid, NT_FPREGSET, buffer),
                               thread.registers);
    if (abi_.signs_return_addresses) {
      std::array<std::uint64_t, 2> masks{}; // of data, of code
      register_set(thread.tid, NT_ARM_PAC_MASK, std::as_writable_bytes(std::span(masks)));
      thread.code_pac_mask = masks[1];
    }
    return false;
  });
}

} // namespace sframe::walk
