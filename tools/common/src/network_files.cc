// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One process is started for all look-ups, before the sandbox. It makes a process of its own for each, which
// may wait for ever.

#include "sframe/tool/network_files.h"

#include "sframe/base/retry.h"
#include "sframe/elf/file_systems.h"

#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sframe::tool {

namespace {

constexpr int look_up_limit = 5000, more = 2000; ///< milliseconds; what else takes time

/// True if the other side has ended, or written, before the time limit.
bool wait_for(int fd, int milliseconds) {
  pollfd ready{fd, POLLIN, 0};
  return retry([&] { return ::poll(&ready, 1, milliseconds); }) > 0;
}

/// Looks the path up in a process that holds nothing that others wait for, in case it never ends.
bool look_up(const char* path) {
  std::array<int, 2> end{};
  if (::pipe2(end.data(), O_CLOEXEC) != 0) return false;
  const pid_t process = ::fork();
  if (process == 0) {
    const int keep = ::dup2(end[1], STDIN_FILENO);
    ::close_range(STDIN_FILENO + 1, ~0u, 0);
    struct statfs system {};
    struct stat file {};
    if (keep >= 0) (void)!::statfs(path, &system), (void)!::stat(path, &file);
    ::_exit(0);
  }
  ::close(end[1]);
  const bool ended = process > 0 && wait_for(end[0], look_up_limit);
  ::close(end[0]);
  if (process > 0 && !ended) ::kill(process, SIGKILL);
  return ended;
}

/// Ends when the other side does.
[[noreturn]] void serve(int requests) {
  std::array<char, PATH_MAX + 1> path{};
  for (;;) {
    const ssize_t size = retry([&] { return ::read(requests, path.data(), PATH_MAX); });
    if (size <= 0) ::_exit(0);
    path[static_cast<std::size_t>(size)] = '\0';
    const char answer = look_up(path.data()) ? 1 : 0;
    if (retry([&] { return ::write(requests, &answer, 1); }) != 1) ::_exit(0);
  }
}

class ProbingProcess final : public elf::FileSystemProbe {
public:
  /// Starts the process. nullptr if it cannot be started.
  static std::shared_ptr<ProbingProcess> start();

  /// Ends the process.
  ~ProbingProcess() override;
  ProbingProcess(const ProbingProcess&) = delete;
  ProbingProcess& operator=(const ProbingProcess&) = delete;

  /// Waits for at most five seconds.
  bool answers(const std::string& path) override;

private:
  explicit ProbingProcess(int requests) : requests_(requests) {}
  int requests_; ///< a socket for packets
};

std::shared_ptr<ProbingProcess> ProbingProcess::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return nullptr;
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "sframe-probe");
    (void)std::signal(SIGCHLD, SIG_IGN);
    // A reader of the results must see their end, even if this process lives a moment longer.
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, fd);
    ::close(ends[0]);
    serve(ends[1]);
  }
  ::close(ends[1]);
  if (process < 0) ::close(ends[0]);
  return process < 0 ? nullptr : std::shared_ptr<ProbingProcess>(new ProbingProcess(ends[0]));
}

ProbingProcess::~ProbingProcess() {
  ::close(requests_);
}

bool ProbingProcess::answers(const std::string& path) {
  if (path.size() >= PATH_MAX || ::write(requests_, path.data(), path.size()) < 0) return false;
  char answer = 0;
  return wait_for(requests_, look_up_limit + more) && ::read(requests_, &answer, 1) == 1 && answer != 0;
}

} // namespace

void probe_network_files(std::uint32_t pid) {
  static bool is_started = false;
  if (is_started || !(elf::has_network_file_systems() || (pid != 0 && elf::has_network_file_systems(pid))))
    return;
  is_started = true;
  elf::set_file_system_probe(ProbingProcess::start());
}

} // namespace sframe::tool
