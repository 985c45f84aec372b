// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dynamic linker is asked as root, mostly, and before the program runs: it is asked only if execve(2)
// would start it for this program, so each file on the way is checked as the kernel does it.

#include "needed_files.h"

#include "sframe/base/program_path.h"
#include "sframe/bpf/mapped_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

constexpr std::size_t max_list = 1 << 20;       ///< bytes
constexpr std::chrono::seconds longest_list{2}; ///< in which the dynamic linker has to answer
constexpr int max_interpreters = 4;             ///< of scripts: the kernel takes one more
constexpr std::size_t max_line = 256;           ///< of a script's first line, as the kernel has it

/// A link to what is open here, which leads to it whatever is at its path now.
std::string own_path(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

/// What it writes until its end, or until then; it is killed if it does not end, or at an interruption.
std::string read_output(int from, pid_t process, int interruption) {
  using Clock = std::chrono::steady_clock;
  const auto latest = Clock::now() + longest_list;
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(latest - Clock::now()).count();
    std::array polled{pollfd{from, POLLIN, 0}, pollfd{interruption, POLLIN, 0}};
    if (left <= 0 || text.size() > max_list) break;
    if (::poll(polled.data(), polled.size(), static_cast<int>(left)) <= 0 || polled[1].revents != 0) break;
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
std::string list_libraries(int linker, std::string name, std::string program, int interruption) {
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
    char* const arguments[] = {name.data(), list, program.data(), nullptr};
    failed = ::posix_spawn(&process, own_path(linker).c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ::close(ends[1]);
  return failed ? std::string() : read_output(ends[0], process, interruption);
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

/// What execve(2) starts for a script.
struct Interpreter {
  std::string path;
  std::string argument; ///< the rest of the line; may be empty
};

/// That of a script's first line, "#!/usr/bin/python3 -u", as the kernel reads it. Its path is empty if it is
/// no script, or the path may be longer than what the kernel reads.
Interpreter interpreter_of(int file) {
  constexpr std::string_view blanks = " \t";
  std::array<char, max_line> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  std::string_view line(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (!line.starts_with("#!")) return {};
  const std::size_t end = line.find('\n');
  line = line.substr(2, end == std::string_view::npos ? end : end - 2);
  line = line.substr(0, line.find('\0'));
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::size_t path_end = std::min(line.find_first_of(blanks), line.size());
  if (end == std::string_view::npos && path_end == line.size() && size == max_line) return {};
  Interpreter found{std::string(line.substr(0, path_end)), {}};
  line.remove_prefix(path_end);
  const std::size_t first = line.find_first_not_of(blanks);
  if (first != std::string_view::npos)
    found.argument = line.substr(first, line.find_last_not_of(blanks) + 1 - first);
  return found;
}

/// The program that `env NAME` executes. What else env takes (options, variables) is its own affair.
std::string program_of_env(const Interpreter& interpreter) {
  const std::string& name = interpreter.argument;
  const bool is_env = interpreter.path.ends_with("/env");
  if (!is_env || name.starts_with('-') || name.find_first_of("= \t") != std::string::npos) return {};
  return find_program_path(name).value_or("");
}

/// Whether the kernel would start the image on this machine: sframe-profile is such a one.
bool is_for_this_machine(const bpf::MappedFile& image) {
  const bpf::FileDescriptor self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto own = bpf::read_mapped_file(self.number());
  return own && image.machine == own->machine && (image.type == ET_EXEC || image.type == ET_DYN);
}

/// A file that execve(2) would read; -1 if it would not. access(2) also refuses files where nothing may be
/// executed (the mount option noexec).
bpf::FileDescriptor open_executable(const std::string& path) {
  if (::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0) return bpf::FileDescriptor(-1);
  return open_regular(path);
}

class Search {
public:
  explicit Search(int interruption) : interruption_(interruption) {}

  /// What execve(2) of the path needs. False if it fails, as far as that can be known.
  bool add(const std::string& path, int depth) {
    const bpf::FileDescriptor file = open_executable(path);
    if (file.number() < 0) return false;
    if (const auto image = bpf::read_mapped_file(file.number())) return add_image(path, *image);
    const Interpreter interpreter = interpreter_of(file.number());
    if (interpreter.path.empty() || depth == max_interpreters) return false;
    if (!add(interpreter.path, depth + 1)) return false;
    if (const std::string program = program_of_env(interpreter); !program.empty()) add(program, depth + 1);
    return true;
  }

  std::vector<std::string> take() { return std::move(paths_); }

private:
  bool add_image(const std::string& path, const bpf::MappedFile& image) {
    if (!is_for_this_machine(image)) return false;
    std::error_code failed;
    const std::string canonical = std::filesystem::canonical(path, failed).string(); // $ORIGIN is there
    if (failed) return false;
    if (image.interpreter.empty()) {
      paths_.push_back(canonical);
      return true;
    }
    // The kernel takes no script there; other users' files are not executed for a list.
    const bpf::FileDescriptor linker = open_executable(image.interpreter);
    if (linker.number() < 0) return false;
    const auto linker_image = bpf::read_mapped_file(linker.number());
    if (!linker_image || !is_for_this_machine(*linker_image)) return false;
    paths_.push_back(canonical);
    paths_.push_back(image.interpreter);
    if (bpf::owner_of_changes(linker.number())) return true;
    const std::string list = list_libraries(linker.number(), image.interpreter, canonical, interruption_);
    for (std::string& one : paths_of(list)) paths_.push_back(std::move(one));
    return true;
  }

  int interruption_;
  std::vector<std::string> paths_;
};

} // namespace

bpf::FileDescriptor open_regular(const std::string& path) {
  const bpf::FileDescriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat now {};
  if (place.number() < 0 || ::fstat(place.number(), &now) != 0 || !S_ISREG(now.st_mode))
    return bpf::FileDescriptor(-1);
  return bpf::FileDescriptor(::open(own_path(place.number()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::vector<std::string> find_needed_files(const std::string& name, int interruption) {
  Search search(interruption);
  search.add(find_program_path(name).value_or(""), 0);
  return search.take();
}

} // namespace sframe::profile_tool
