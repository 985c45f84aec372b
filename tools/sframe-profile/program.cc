// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// In the child, after fork(): waits, then executes the program; says why it could not.
[[noreturn]] void execute(char* const* arguments, int go, int failure) {
  char byte = 0;
  if (::read(go, &byte, 1) != 1) ::_exit(127); // nobody waits for it any more
  (void)std::signal(SIGPIPE, SIG_DFL);         // which this program ignores
  ::execvp(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const ssize_t size = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

void close_one(int& file) {
  if (file >= 0) ::close(std::exchange(file, -1));
}

} // namespace

StartedProgram::~StartedProgram() {
  if (pid_ > 0 && go_ >= 0) {
    close_one(go_); // it ends
    ::waitpid(pid_, nullptr, 0);
  }
  close_one(end_);
  close_one(failure_);
}

Result<void> StartedProgram::prepare(const std::vector<std::string>& command) {
  name_ = command.front();
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> go{}, failure{};
  if (::pipe2(go.data(), O_CLOEXEC) != 0) return fail(std::string("no pipe: ") + std::strerror(errno));
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    ::close(go[0]);
    ::close(go[1]);
    return fail(std::string("no pipe: ") + std::strerror(error));
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(go[1]);
    execute(arguments.data(), go[0], failure[1]);
  }
  const int error = errno;
  ::close(go[0]);
  ::close(failure[1]);
  go_ = go[1];
  failure_ = failure[0];
  if (pid_ < 0) return fail(name_ + ": cannot be started: " + std::strerror(error));
  end_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0u));
  if (end_ < 0) return fail(name_ + ": cannot be watched: " + std::strerror(errno));
  return {};
}

Result<void> StartedProgram::go() {
  const char byte = 0;
  if (::write(go_, &byte, 1) != 1) return fail(name_ + ": has ended before it began");
  close_one(go_);
  int error = 0;
  ssize_t size = 0;
  do size = ::read(failure_, &error, sizeof error);
  while (size < 0 && errno == EINTR);
  close_one(failure_);
  if (size != sizeof error) return {};
  ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  return fail(name_ + ": cannot be executed: " + std::strerror(error));
}

void StartedProgram::send(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

/// Up to so many milliseconds. False if it still runs.
bool StartedProgram::wait(int timeout) {
  if (pid_ <= 0) return true;
  pollfd ended{end_, POLLIN, 0};
  while (::poll(&ended, 1, timeout) < 0 && errno == EINTR) {
  }
  const pid_t ended_one = ::waitpid(pid_, &status_, WNOHANG);
  // What traced it may have taken its status (ECHILD).
  if (ended_one == 0) return false;
  pid_ = 0;
  return true;
}

/// "exit code 3", "killed by signal 9"; empty with exit code 0.
std::string StartedProgram::end_text() const {
  if (WIFSIGNALED(status_)) return "killed by signal " + std::to_string(WTERMSIG(status_));
  return WEXITSTATUS(status_) ? "exit code " + std::to_string(WEXITSTATUS(status_)) : std::string();
}

void StartedProgram::finish(bool is_interrupted, tool::MessageSink& messages) {
  constexpr int patience = 2'000;
  if (pid_ <= 0) return;
  if (!wait(is_interrupted ? patience : 0)) {
    send(SIGTERM);
    send(SIGCONT); // to one that is stopped, which gets no other signal
    if (!wait(patience)) messages.warning(name_, "still runs");
  } else if (const std::string how = end_text(); !how.empty()) {
    messages.warning(name_, how);
  }
}

} // namespace sframe::profile_tool
