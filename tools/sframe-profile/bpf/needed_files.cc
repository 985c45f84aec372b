// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "needed_files.h"

#include "sframe/base/program_path.h"
#include "sframe/bpf/mapped_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

constexpr std::size_t max_list = 1 << 20;       ///< bytes
constexpr std::chrono::seconds longest_list{2}; ///< in which the dynamic linker has to answer
constexpr int max_interpreters = 4;             ///< of scripts, as the kernel has it
constexpr std::size_t max_line = 256;           ///< of a script's first line, as the kernel has it

/// What it writes until its end, or until then; it is killed if it does not end.
std::string read_output(int from, pid_t process) {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + longest_list;
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(latest - Clock::now()).count();
    pollfd polled{from, POLLIN, 0};
    if (left <= 0 || text.size() > max_list || ::poll(&polled, 1, static_cast<int>(left)) <= 0) break;
    std::array<char, 4096> bytes{};
    const ssize_t size = ::read(from, bytes.data(), bytes.size());
    if (size <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  ::kill(process, SIGKILL); // it has written all, or takes too long
  while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// What the dynamic linker says of the program:
///
///     libLLVM.so.22.1 => /lib/x86_64-linux-gnu/libLLVM.so.22.1 (0x00007fc047c00000)
///     /lib64/ld-linux-x86-64.so.2 (0x00007fc0549fa000)
std::string list_libraries(std::string linker, std::string program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const bpf::FileDescriptor from(ends[0]);
  posix_spawn_file_actions_t actions;
  pid_t process = 0;
  int failed = ::posix_spawn_file_actions_init(&actions);
  if (!failed) {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    char list[] = "--list";
    char* const arguments[] = {linker.data(), list, program.data(), nullptr};
    failed = ::posix_spawn(&process, linker.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ::close(ends[1]);
  return failed ? std::string() : read_output(ends[0], process);
}

std::vector<std::string> paths_of(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    const std::size_t start = line.find('/'), end = line.rfind(" (0x");
    if (start < end && end != std::string_view::npos) paths.emplace_back(line.substr(start, end - start));
  }
  return paths;
}

/// The program of a script's first line: "#!/usr/bin/python3 -u"; that which env executes is the next one.
/// Empty if it is no script.
std::vector<std::string> interpreters_of(int file) {
  std::array<char, max_line> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  std::string_view line(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  line = line.substr(0, line.find('\n'));
  if (!line.starts_with("#!")) return {};
  std::vector<std::string> names;
  std::istringstream words{std::string(line.substr(2))};
  for (std::string word; names.size() < 2 && words >> word;) {
    const bool is_argument = !word.starts_with('-') && word.find('=') == std::string::npos;
    if (names.empty() || (names.front().ends_with("/env") && is_argument)) names.push_back(word);
  }
  return names;
}

void append(const std::string& name, int depth, std::vector<std::string>& paths) {
  std::error_code failed;
  const std::filesystem::path canonical =
      std::filesystem::canonical(find_program_path(name).value_or(""), failed); // $ORIGIN is there
  const std::string path = canonical.string();
  const bpf::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat now {};
  if (failed || file.number() < 0 || ::fstat(file.number(), &now) != 0 || !S_ISREG(now.st_mode)) return;
  const auto image = bpf::read_mapped_file(file.number());
  if (!image) {
    if (depth < max_interpreters)
      for (const std::string& one : interpreters_of(file.number())) append(one, depth + 1, paths);
    return;
  }
  paths.push_back(path);
  if (image->interpreter.empty()) return;
  paths.push_back(image->interpreter);
  for (std::string& one : paths_of(list_libraries(image->interpreter, path))) paths.push_back(std::move(one));
}

} // namespace

std::vector<std::string> find_needed_files(const std::string& name) {
  std::vector<std::string> paths;
  append(name, 0, paths);
  return paths;
}

} // namespace sframe::profile_tool
