// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A timer of the process's processor time (timer_create(2)). Everything that the handler uses is atomic and
// lasts as long as the process.

#include "sframe/tool/process_limits.h"

#include "interrupt.h"
#include "sframe/elf/file.h"
#include "sframe/tool/messages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

#ifdef __GLIBC__
#  include <malloc.h>
#endif

namespace sframe::tool {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_slower = true; // by far, and takes much more memory
#else
constexpr bool is_slower = false;
#endif

constexpr std::uint64_t ms = 1'000'000, mb = 1'000'000, mib = 1 << 20; // time is in nanoseconds

constexpr std::uint64_t least_time = 7000 * ms;

/// For inputs of 1 MB: 8 s. Larger ones get 40 seconds for each further MB, of which real code may need one
/// on a fast machine. Ten times of what ever was needed: a slow machine or an emulator must not fail where a
/// fast one succeeds, and the budgets of single resources end most inputs long before.
/// Of files that an input only names, unwind tables and some debug information are read.
std::uint64_t time_allowed(elf::File::OpenedBytes size, std::uint64_t count) noexcept {
  const std::uint64_t further = size.named > mb ? size.named - mb : 0;
  return least_time + 1000 * (size.named - further) + 40'000 * further + 100 * size.found + 20 * ms * count;
}

/// For inputs of 1 MB: 200 MB. Most of what is added per byte is for compressed cores, and for compressed
/// debug information.
std::uint64_t memory_allowed(elf::File::OpenedBytes size) noexcept {
  const std::uint64_t small =
      std::min(size.found, mb - std::min(mb, size.named)); // of inputs of 1 MB together
  return 108 * mib + 80 * (size.named + small) + 4 * (size.found - small);
}

/// A stack and a heap, which may be large pages, and what a thread keeps. Small files need few threads, large
/// ones have more memory.
constexpr std::uint64_t memory_per_thread = 2 * mib;
constexpr unsigned most_threads = 4;

constinit std::atomic<std::uint64_t> divisor{1}; ///< of the limits: 4 if they are strict
constinit std::atomic<std::uint64_t> files{0};
constinit std::atomic<std::uint64_t> memory_of_threads{0};
constinit std::atomic<std::uint64_t> extra_time{0}; ///< by begin_file()
constinit std::atomic<bool> is_limited{false};
constinit std::array<char, 64> program{};
constinit timer_t timer{};
constinit std::uint64_t page_size = 0;
constinit int memory_file = -1; ///< /proc/self/statm, which a sandbox does not open

/// What the process has used until now.
std::uint64_t processor_time() noexcept {
  timespec time{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 * ms + static_cast<std::uint64_t>(time.tv_nsec);
}

/// For a program that takes more although all budgets have ended.
void end_program(const char* what) noexcept {
  if (is_overwriting()) return; // until the next signal
  remove_temporaries();
  print_plain_line({program.data(), ": error: limit for an input of this size reached: ", what,
                    " (--limits=off removes the limit)"});
  ::_exit(exit_failure);
}

/// What it may have used until now.
std::uint64_t time_limit() noexcept {
  return time_allowed(elf::File::opened_bytes(), files) / divisor + extra_time;
}

void check_time() noexcept {
  const std::uint64_t used = processor_time(), limit = time_limit();
  if (used <= limit) return;
  // Of several files, the others are lost if the program ends.
  const std::uint64_t more = files > 1 ? least_time / divisor : 0;
  if (used > limit + limit / 4 + more) end_program("processor time");
  Budget::end_all(Resource::processor_time, limit / ms);
}

/// Bytes of memory that the process has now, those of mapped files included (proc_pid_statm(5)). 0 if
/// unknown. getrusage() would not do: after exec(), its maximum includes the process that called fork().
std::uint64_t resident() noexcept {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(memory_file, text.data(), text.size() - 1, 0);
  const char* at = size > 0 ? std::strchr(text.data(), ' ') : nullptr;
  std::uint64_t pages = 0;
  while (at && *++at >= '0' && *at <= '9') pages = pages * 10 + static_cast<std::uint64_t>(*at - '0');
  return pages * page_size;
}

void check_memory() noexcept {
  const std::uint64_t used = resident();
  const std::uint64_t limit = memory_allowed(elf::File::opened_bytes()) / divisor + memory_of_threads;
  if (used <= limit) return;
  if (used > limit + limit / 5) end_program("memory");
  Budget::end_all(Resource::memory, limit / mib);
}

void on_timer(int) {
  const int error = errno;
  if (is_limited) { // not the last one, sent before lift_process_limits()
    check_time();
    check_memory();
  }
  errno = error;
}

} // namespace

void limit_process(Limits limits, unsigned threads, const std::string& tool) {
  if (limits == Limits::off || is_slower) return;
  if (limits == Limits::strict) divisor = 4;
  memory_of_threads = memory_per_thread * std::min(threads, most_threads);
  tool.copy(program.data(), program.size() - 1);
  page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  memory_file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  struct sigaction action {};
  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL; // 0 (mutate: equivalent)
  event.sigev_signo = SIGVTALRM;
  sigset_t watched{}; // which the parent process may have blocked
  sigemptyset(&watched);
  sigaddset(&watched, SIGVTALRM);
  (void)::pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
  constexpr timespec interval{0, 5 * ms};
  const itimerspec times{interval, interval};
  is_limited = true;
  if (::sigaction(SIGVTALRM, &action, nullptr) != 0 ||
      ::timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0 ||
      ::timer_settime(timer, 0, &times, nullptr) != 0)
    is_limited = false;
}

void lift_process_limits() noexcept {
  if (!is_limited.exchange(false)) return;
  (void)::timer_delete(timer);
  (void)::close(memory_file);
}

void expect_files(std::size_t count) noexcept {
  files += count;
}

void begin_file() noexcept {
  if (!is_limited || !Budget::all_ended()) return;
#ifdef __GLIBC__
  ::malloc_trim(0); // as little memory as the file would have found alone
#endif
  const std::uint64_t used = processor_time(), limit = time_limit();
  if (used > limit) extra_time += used - limit;
  extra_time += least_time / divisor;
  Budget::resume_all();
}

} // namespace sframe::tool
