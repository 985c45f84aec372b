// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/tracee.h"

#include "live/proc_files.h"
#include "sframe/base/parallel.h"
#include "sframe/cfi/vector_granule.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <elf.h>
#include <span>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <utility>

namespace sframe::process::live {

namespace {

/// The register set `type` (NT_PRSTATUS...) of a stopped thread; empty if it has none.
std::span<const std::byte> register_set(std::uint32_t tid, int type, std::span<std::byte> buffer) {
  iovec part{buffer.data(), buffer.size()};
  if (::ptrace(PTRACE_GETREGSET, tid, type, &part) != 0) return {};
  return buffer.first(part.iov_len);
}

/// NT_PRSTATUS. Of a thread in 32-bit code of a 64-bit process, the kernel has 32-bit registers in that set;
/// the older request returns all.
std::span<const std::byte> general_registers(std::uint32_t tid, std::span<std::byte> buffer) {
  const auto found = register_set(tid, NT_PRSTATUS, buffer);
#ifdef __x86_64__
  if (!found.empty() && found.size() < sizeof(user_regs_struct) &&
      ::ptrace(PTRACE_GETREGS, tid, nullptr, buffer.data()) == 0)
    return buffer.first(sizeof(user_regs_struct));
#endif
  return found;
}

/// VG, on machines that have it; the sets' registers are not read.
void add_vector_length(std::uint32_t tid, const AbiTraits& abi, core::RegisterValues& registers) {
  if (!cfi::vector_granule(abi)) return;
  std::array<std::byte, core::vector_set_header> header;
  for (const core::VectorSet set : core::vector_sets)
    core::decode_vector_length(set, abi.machine, abi.byte_order,
                               register_set(tid, std::to_underlying(set), header), registers);
}

} // namespace

std::thread start_quietly(std::function<void()> run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread = try_thread([run = std::move(run)] {
    pthread_setname_np(pthread_self(), "sframe-tracer"); // name of the tracer, for other debuggers
    run();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

Result<bool> seize(std::uint32_t pid, std::uint32_t tid, unsigned long options) {
  // A leader that has ended is refused. During execve(2) another thread gets its number: it may be the one
  // that is looked at afterwards.
  constexpr int most_tries = 5;
  for (int i = 1;; ++i) {
    if (::ptrace(PTRACE_SEIZE, tid, 0, options) == 0) return true;
    const int error = errno;
    // A thread that is ending, or has ended but is not reaped, is refused, too.
    if (error == ESRCH || has_ended(pid, tid)) return false;
    if (is_traced_by(pid, tid, static_cast<std::uint32_t>(::gettid()))) return true;
    if (tid != pid || i == most_tries) return unexpected(explain_refusal(pid, error));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

namespace {

/// Reaps a thread that has ended. Its stops, which waitid(2) reports, too, are left to the tracing thread.
bool reap_if_ended(std::uint32_t tid) {
  const auto has_report = [&](int options) {
    siginfo_t info{};
    return ::waitid(P_PID, tid, &info, WEXITED | WNOHANG | __WALL | options) == 0 && info.si_pid != 0 &&
           (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED);
  };
  return has_report(WNOWAIT) && has_report(0);
}

} // namespace

void await_reaping(std::binary_semaphore& done, std::uint32_t pid,
                   const std::function<void(std::uint32_t tid)>& reaped) {
  constexpr std::chrono::milliseconds long_time(20);
  while (!done.try_acquire_for(long_time))
    for (const std::uint32_t tid : list_threads(pid)) // the leader's end is for its parent
      if (tid != pid && reap_if_ended(tid)) reaped(tid);
}

bool interrupt(std::uint32_t tid) {
  return ::ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0;
}

void detach(std::uint32_t tid, int signal) {
  ::ptrace(PTRACE_DETACH, tid, 0, signal);
}

std::optional<StoppedThread> read_thread(std::uint32_t tid, int signal, const AbiTraits& abi) {
  alignas(8) std::array<std::byte, 4096> buffer;
  const auto general = general_registers(tid, buffer);
  const auto registers = core::decode_registers(abi.machine, abi.byte_order, general);
  if (!registers) return std::nullopt;
  StoppedThread thread{.tid = tid, .signal = signal, .registers = *registers};
  if (!core::decode_fp_registers(abi.machine, abi.byte_order, {}, thread.registers))
    core::decode_fp_registers(abi.machine, abi.byte_order, register_set(tid, NT_FPREGSET, buffer),
                              thread.registers);
  add_vector_length(tid, abi, thread.registers);
  if (abi.signs_return_addresses) {
    std::array<std::uint64_t, 2> masks{}; // of data, of code
    register_set(tid, NT_ARM_PAC_MASK, std::as_writable_bytes(std::span(masks)));
    thread.code_pac_mask = masks[1];
  }
  return thread;
}

StopReport read_status(int status) {
  const int event = status >> 16, signal = WSTOPSIG(status);
  return {.event = event,
          .signal = event ? 0 : signal,
          .group_stop = event == PTRACE_EVENT_STOP && signal != SIGTRAP};
}

void StopTimeout::wait() {
  if (waits_++ < short_waits)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

} // namespace sframe::process::live
