// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace sframe::process::live {

namespace {

void close_if_open(int fd) {
  if (fd >= 0) ::close(fd);
}

/// In the child. Only calls that are allowed after fork().
[[noreturn]] void execute(const std::vector<char*>& arguments, int go, int error) {
  char byte = 0;
  if (::read(go, &byte, 1) != 1) ::_exit(127);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::personality(ADDR_NO_RANDOMIZE);
  (void)::signal(SIGPIPE, SIG_DFL); // the programs ignore it
  ::execvp(arguments.front(), arguments.data());
  const int number = errno;
  (void)!::write(error, &number, sizeof number);
  ::_exit(127);
}

} // namespace

Result<StartedChild> start_child(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> go{-1, -1}, error{-1, -1};
  if (::pipe2(go.data(), O_CLOEXEC) != 0 || ::pipe2(error.data(), O_CLOEXEC) != 0) {
    const int number = errno;
    for (const int fd : {go[0], go[1]}) close_if_open(fd);
    return fail(std::string("cannot start a program: ") + std::strerror(number));
  }
  const pid_t pid = ::fork();
  if (pid == 0) execute(arguments, go[0], error[1]);
  const int number = errno;
  ::close(go[0]);
  ::close(error[1]);
  if (pid > 0) return StartedChild{pid, go[1], error[0]};
  ::close(go[1]);
  ::close(error[0]);
  return fail(std::string("cannot start a program: ") + std::strerror(number));
}

} // namespace sframe::process::live
