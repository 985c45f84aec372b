// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two processes and two pipes. The child runs serve(): it reads a Request, asks libdebuginfod, and writes
// Reply records: progress, then a path or an error. The parent waits in ask() with a deadline of its own,
// since a transfer that is stuck never calls on_progress(). Sizes are limited twice: by on_progress(), and by
// RLIMIT_FSIZE of the child. The first failure that is not "not on the server" ends all fetching (give_up()).

#include "sframe/tool/debuginfod.h"

#include "sframe/elf/image.h"
#include "sframe/tool/descriptor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sframe::tool {

namespace {

using Clock = std::chrono::steady_clock;
using files::ServedFile;

/// What the two processes write, each followed by its text.
struct Request {
  std::uint8_t what = 0;
  std::uint16_t id_size = 0, name_size = 0;
  std::uint32_t seconds = 0; ///< until the time limit
};
struct Reply {
  enum Kind : std::uint8_t { progress, path, failure } kind = failure;
  std::int32_t error = 0; ///< errno of a failure
  std::uint32_t size = 0; ///< of the path
  std::int64_t done = 0, all = 0;
};

bool read_all(int fd, void* to, std::size_t size) {
  for (auto* at = static_cast<char*>(to); size != 0;) {
    const ssize_t got = ::read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* from, std::size_t size) {
  return tool::write_all(fd, {static_cast<const std::byte*>(from), size}) == 0;
}

/// libdebuginfod's interface (elfutils/debuginfod.h).
class Library {
public:
  using Client = struct debuginfod_client;
  using Id = const unsigned char*;
  using Find = int (*)(Client*, Id, int, char**);
  using FindNamed = int (*)(Client*, Id, int, const char*, char**);
  using Progress = int (*)(Client*, long, long);

  bool open() {
    void* const library = ::dlopen("libdebuginfod.so.1", RTLD_NOW);
    if (!library) return false;
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    get(section, "debuginfod_find_section"); // since elfutils 0.188
    return get(begin, "debuginfod_begin") && get(set_progress, "debuginfod_set_progressfn") &&
           get(executable, "debuginfod_find_executable") && get(debug_file, "debuginfod_find_debuginfo") &&
           get(source, "debuginfod_find_source");
  }

  /// The descriptor of the file, or an errno, negative.
  int find(Client* client, ServedFile what, const std::string& id, const char* name, char** path) const {
    const auto* const text = reinterpret_cast<Id>(id.c_str()); // hexadecimal, if the length is 0
    switch (what) {
    case ServedFile::executable: return executable(client, text, 0, path);
    case ServedFile::debug_file: return debug_file(client, text, 0, path);
    case ServedFile::source: return source(client, text, 0, name, path);
    case ServedFile::section: return section ? section(client, text, 0, name, path) : -ENOENT;
    }
    return -EINVAL;
  }

  Client* (*begin)() = nullptr;
  void (*set_progress)(Client*, Progress) = nullptr;
  Find executable = nullptr, debug_file = nullptr;
  FindNamed source = nullptr, section = nullptr;
};

/// What servers may send, in bytes: of one file, and of all together. The library has a variable for the
/// first, which it applies to files whose size it knows.
long largest_file() {
  constexpr long most = 2L << 30;
  const char* const text = std::getenv("DEBUGINFOD_MAXSIZE");
  const long wanted = text ? std::strtol(text, nullptr, 10) : 0;
  return wanted > 0 ? std::min(wanted, most) : most;
}
long largest_sum() {
  return 4 * largest_file();
}

/// Of the fetching process, for the callback.
int progress_to = -1;
Clock::time_point progress_deadline;
bool progress_late = false, progress_called = false;
volatile std::sig_atomic_t progress_large = 0;
long bytes_left = 0, progress_limit = 0, progress_done = 0;

int on_progress(Library::Client*, long done, long all) {
  const Reply reply{.kind = Reply::progress, .done = done, .all = all};
  progress_late |= Clock::now() > progress_deadline;
  if (done > progress_limit || all > progress_limit) progress_large = 1;
  progress_called = true;
  progress_done = done;
  return !write_all(progress_to, &reply, sizeof reply) || progress_late || progress_large;
}

/// The kernel stops the writing of what is larger; the library asks on_progress() only now and then.
void limit_file_size(long bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(bytes), limit.rlim_max);
  (void)::setrlimit(RLIMIT_FSIZE, &limit);
}

/// Of the last file: all of `file`, if it is open and was not in the cache.
long fetched_bytes(int file) {
  struct stat info {};
  return file >= 0 && progress_called && ::fstat(file, &info) == 0 ? info.st_size : progress_done;
}

/// The library makes a directory of this name in its cache, whatever it is; the process that asks reads
/// hostile files.
bool is_build_id(std::string_view id) {
  return !id.empty() && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The fetching process. Ends when the other one does.
[[noreturn]] void serve(int requests, int answers) {
  Library library;
  Library::Client* const client = library.open() ? library.begin() : nullptr;
  progress_to = answers;
  if (client) library.set_progress(client, on_progress);
  (void)std::signal(SIGXFSZ, [](int) { progress_large = 1; });
  bytes_left = largest_sum();
  for (Request request; read_all(requests, &request, sizeof request);) {
    std::string id(request.id_size, '\0'), name(request.name_size, '\0');
    if (!read_all(requests, id.data(), id.size()) || !read_all(requests, name.data(), name.size())) break;
    progress_deadline = Clock::now() + std::chrono::seconds(request.seconds);
    progress_late = progress_called = false;
    progress_large = 0;
    progress_done = 0;
    progress_limit = std::min(largest_file(), bytes_left);
    limit_file_size(progress_limit);
    char* path = nullptr;
    int found = -EINVAL;
    if (client && is_build_id(id))
      found = library.find(client, static_cast<ServedFile>(request.what), id, name.c_str(), &path);
    bytes_left = std::max(0L, bytes_left - fetched_bytes(found));
    Reply reply;
    if (found >= 0 && path) {
      reply.kind = Reply::path;
      reply.size = static_cast<std::uint32_t>(std::strlen(path));
    } else {
      reply.error = !client          ? ENOSYS
                    : progress_large ? EFBIG
                    : progress_late  ? ETIME
                    : found < 0      ? -found
                                     : ENOENT;
    }
    if (found >= 0) ::close(found);
    const bool sent = write_all(answers, &reply, sizeof reply) &&
                      (reply.kind != Reply::path || write_all(answers, path, reply.size));
    std::free(path);
    if (!sent) break;
  }
  ::_exit(0);
}

const char* text_of(ServedFile what) {
  switch (what) {
  case ServedFile::executable: return "executable";
  case ServedFile::debug_file: return "debug file";
  case ServedFile::source: return "source file";
  case ServedFile::section: return "section";
  }
  std::unreachable();
}

std::string megabytes(std::int64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", static_cast<double>(bytes) / 1e6);
  return text.data();
}

/// As debuginfod_find_debuginfo(3), "CACHE" and "ENVIRONMENT VARIABLES", says.
std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (auto folder = variable("DEBUGINFOD_CACHE_PATH"); !folder.empty()) return folder;
  const std::string home = variable("HOME"), xdg = variable("XDG_CACHE_HOME");
  if (const std::string old = home + "/.debuginfod_client_cache"; ::access(old.c_str(), F_OK) == 0)
    return old;
  if (!xdg.empty()) return xdg + "/debuginfod_client";
  return home.empty() ? std::string() : home + "/.cache/debuginfod_client";
}

} // namespace

bool Debuginfod::has_servers() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls && std::string_view(urls).find_first_not_of(' ') != std::string_view::npos;
}

bool Debuginfod::has_failed() {
  const std::lock_guard lock(mutex_);
  return has_refused_ || !stopped_.empty();
}

std::string Debuginfod::make_cache_folder() {
  std::string folder = cache_folder();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  return folder;
}

std::shared_ptr<Debuginfod> Debuginfod::start(Messages& messages, Settings settings) {
  std::array<int, 2> requests{}, answers{};
  if (::pipe2(requests.data(), O_CLOEXEC) != 0) return nullptr;
  if (::pipe2(answers.data(), O_CLOEXEC) != 0) {
    for (const int fd : requests) ::close(fd);
    return nullptr;
  }
  const pid_t process = ::fork();
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "sframe-fetch");
    ::close(requests[1]);
    ::close(answers[0]);
    // A reader of the results must see their end, even if this process lives a moment longer.
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO), ::dup2(nothing, STDOUT_FILENO);
    if (!std::getenv("DEBUGINFOD_VERBOSE") && nothing >= 0) ::dup2(nothing, STDERR_FILENO);
    serve(requests[0], answers[1]);
  }
  ::close(requests[0]);
  ::close(answers[1]);
  if (process < 0) {
    ::close(requests[1]);
    ::close(answers[0]);
    return nullptr;
  }
  return std::shared_ptr<Debuginfod>(new Debuginfod(messages, settings, process, requests[1], answers[0]));
}

Debuginfod::Debuginfod(Messages& messages, Settings settings, pid_t process, int requests, int answers)
    : messages_(messages), settings_(settings), process_(process), requests_(requests), answers_(answers) {}

Debuginfod::~Debuginfod() {
  ::close(requests_);
  ::close(answers_);
  // It waits for a request, which has ended now, or for a server, which may take long. The sandbox may forbid
  // to kill it: then the end of this process does.
  if (::waitpid(process_, nullptr, WNOHANG) == 0 && ::kill(process_, SIGKILL) == 0)
    ::waitpid(process_, nullptr, 0);
}

/// --debuginfod=ask: once, at the first file.
bool Debuginfod::may_fetch() {
  if (settings_.mode == Mode::on) return true;
  if (allowed_) return *allowed_;
  allowed_ = false;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return false;
  const auto lock = messages_.status().suspend();
  std::fprintf(stderr, "%s: fetch missing files from %s? (y or [n]) ", messages_.tool().c_str(),
               std::getenv("DEBUGINFOD_URLS"));
  std::fflush(stderr);
  std::array<char, 16> line{};
  // Other threads wait for the answer, too. NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
  const ssize_t size = ::read(STDIN_FILENO, line.data(), line.size());
  return *(allowed_ = size > 0 && (line[0] == 'y' || line[0] == 'Y'));
}

Result<std::string> Debuginfod::fetch(ServedFile what, std::span<const std::byte> build_id,
                                      std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (paused_) return fail("not fetched while the process is stopped");
  const auto key = std::tuple(what, elf::to_hex(build_id), std::string(name));
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (!stopped_.empty()) return fail(stopped_);
  constexpr std::size_t longest = 4096;
  if (std::get<1>(key).size() > longest || name.size() > longest) return fail("not fetched: name too long");
  if (!may_fetch()) return fail("not fetched");
  is_used_ = true;
  const auto start = Clock::now();
  auto answer = ask(static_cast<std::uint8_t>(what), std::get<1>(key), std::get<2>(key));
  used_ += Clock::now() - start;
  (void)messages_.status().suspend(); // erases the progress
  if (answer)
    messages_.detail(*answer, std::string(text_of(what)) + " " + std::get<1>(key) + " from debuginfod");
  return known_.emplace(key, std::move(answer)).first->second;
}

Result<std::string> Debuginfod::give_up(const std::string& why) {
  stopped_ = "debuginfod: " + why;
  messages_.warning({}, stopped_ + "; nothing more is fetched");
  return fail(stopped_);
}

Result<std::string> Debuginfod::refuse_large(ServedFile what, const std::string& id) {
  has_refused_ = true;
  const std::string why = "not fetched: larger than " + std::to_string(largest_file()) +
                          " bytes, or all files than " + std::to_string(largest_sum());
  messages_.warning({}, std::string("debuginfod: ") + text_of(what) + " " + id + ": " + why);
  return fail(why);
}

/// False at the deadline, and if the other process has ended.
bool Debuginfod::read(void* to, std::size_t size) {
  for (auto* at = static_cast<char*>(to); size != 0;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd ready{answers_, POLLIN, 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) return false;
    const ssize_t got = ::read(answers_, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

Result<std::string> Debuginfod::ask(std::uint8_t what, const std::string& id, const std::string& name) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(settings_.time_limit - used_);
  if (seconds.count() <= 0) return give_up("the time limit is reached");
  // The other process notices the limit when the transfer goes on; it may be stuck before that.
  deadline_ = Clock::now() + seconds + std::chrono::seconds(2);
  Request request;
  request.what = what;
  request.id_size = static_cast<std::uint16_t>(id.size());
  request.name_size = static_cast<std::uint16_t>(name.size());
  request.seconds = static_cast<std::uint32_t>(seconds.count());
  if (!write_all(requests_, &request, sizeof request) || !write_all(requests_, id.data(), id.size()) ||
      !write_all(requests_, name.data(), name.size()))
    return give_up("the fetching process has ended");
  const auto start = Clock::now();
  const bool shows = !messages_.quiet() && ::isatty(STDERR_FILENO) == 1;
  for (;;) {
    Reply reply;
    if (!read(&reply, sizeof reply))
      return give_up(Clock::now() >= deadline_ ? "the time limit is reached"
                                               : "the fetching process has ended");
    switch (reply.kind) {
    case Reply::progress:
      if (shows && Clock::now() - start > std::chrono::seconds(1))
        messages_.status().show(messages_.tool() + ": fetching " + text_of(static_cast<ServedFile>(what)) +
                                (reply.all > 0
                                     ? ", " + megabytes(reply.done) + " of " + megabytes(reply.all) + " MB"
                                     : std::string()) +
                                ", build ID " + id);
      break;
    case Reply::path: {
      std::string path(std::min<std::uint32_t>(reply.size, 1 << 16), '\0');
      if (!read(path.data(), path.size())) return give_up("the fetching process has ended");
      return path;
    }
    case Reply::failure:
      if (reply.error == ENOENT) return fail("not on the server");
      if (reply.error == EFBIG) return refuse_large(static_cast<ServedFile>(what), id);
      if (reply.error == ENOSYS)
        return give_up("libdebuginfod.so.1 (elfutils) is missing, or DEBUGINFOD_URLS has no server");
      if (reply.error == ETIME || reply.error == ETIMEDOUT) return give_up("the time limit is reached");
      return give_up(std::string("cannot fetch from ") + std::getenv("DEBUGINFOD_URLS") + ": " +
                     std::strerror(reply.error));
    }
  }
}

Option add_debuginfod_options(OptionList& cli, DebuginfodOptions& options, const char* group) {
  static const Choices<Debuginfod::Mode> names = {
      {"off", Debuginfod::Mode::off}, {"ask", Debuginfod::Mode::ask}, {"on", Debuginfod::Mode::on}};
  const bool is_on = options.otherwise == Debuginfod::Mode::on;
  const Option mode = cli.add_choice("--debuginfod", options.mode, names,
                                     "Fetch missing files from the servers in DEBUGINFOD_URLS: off, ask, on "
                                     "(default: " +
                                         std::string(is_on ? "on if it is set)" : "off)"));
  const Option timeout = cli.add_option("--debuginfod-timeout", options.timeout,
                                        "Time limit for fetching, all files together, in seconds")
                             .type_name("S")
                             .range(1u, 86'400u)
                             .show_default();
  for (const Option& option : {mode, timeout})
    if (group) (void)option.group(group);
  return mode;
}

std::vector<Term> debuginfod_environment() {
  return {{"DEBUGINFOD_CACHE_PATH", "Where fetched files are kept (default: "
                                    "$XDG_CACHE_HOME/debuginfod_client, else ~/.cache/debuginfod_client)"},
          {"DEBUGINFOD_MAXSIZE", "Largest file to fetch, in bytes (default, and at most: 2 GiB)"},
          {"DEBUGINFOD_URLS",
           "Servers that missing files are fetched from (--debuginfod), with blanks between them"},
          {"DEBUGINFOD_VERBOSE", "If set, the library that fetches reports what it does"}};
}

std::optional<std::string> wrong_with_servers(const DebuginfodOptions& options) {
  if (options.mode.value_or(Debuginfod::Mode::off) == Debuginfod::Mode::off || Debuginfod::has_servers())
    return std::nullopt;
  return "--debuginfod: the environment variable DEBUGINFOD_URLS names no server";
}

std::shared_ptr<Debuginfod> start_debuginfod(const DebuginfodOptions& options, Messages& messages) {
  const auto mode = options.mode.value_or(options.otherwise);
  if (mode == Debuginfod::Mode::off || !Debuginfod::has_servers()) return nullptr;
  return Debuginfod::start(messages, {mode, std::chrono::seconds(options.timeout)});
}

} // namespace sframe::tool
