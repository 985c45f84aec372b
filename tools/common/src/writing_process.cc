// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests and replies are packets on pairs of sockets: one pair, and if possible one thread of the writing
// process, for each file that is written at the same time. All that arrives in a request is checked: it comes
// from a process that reads hostile files.

#include "writing_process.h"

#include "file_changes.h"
#include "interrupt.h"
#include "new_file.h"
#include "sframe/base/parallel.h"
#include "sframe/base/retry.h"
#include "sframe/tool/descriptor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sframe::tool {

namespace {

enum class Operation : std::uint8_t {
  begin,
  commit,
  abandon,
  lock,
  unlock,
  parent_folders,
  hard_link,
  symbolic_link,
  folder_mode,
  writable,
};

/// Followed by the path, and the second path of those with two.
struct Request {
  Operation operation = Operation::abandon;
  HardLinks links = HardLinks::keep;
  bool has_mode = false;
  bool gets_attributes = false;
  std::uint32_t mode = 0;
  std::uint32_t path_size = 0;
  std::uint64_t value = 0; ///< the size of the contents, or the number of a lock
};

/// Followed by the text of a failure.
struct Reply {
  bool is_failure = false;
  bool is_target = false; ///< begin; and the result of symbolic_link
  std::uint64_t lock = 0; ///< 0: none
};

constexpr std::size_t most_text = std::size_t(2) * PATH_MAX;

/// A packet: `Head`, a text and perhaps a descriptor.
template <class Head> struct Packet {
  Head head;
  std::string text;
  Descriptor file;
  bool has_lost_file = false; ///< this process may not have as many descriptors
};

template <class Head> bool send_packet(int to, const Head& head, std::string_view text, int file) {
  std::array<iovec, 2> parts{iovec{const_cast<Head*>(&head), sizeof head},
                             iovec{const_cast<char*>(text.data()), text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (file >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &file, sizeof file);
  }
  return retry([&] { return ::sendmsg(to, &message, MSG_NOSIGNAL); }) ==
         static_cast<ssize_t>(sizeof head + text.size());
}

/// Nothing if the other side has ended, or sent no such packet.
template <class Head> std::optional<Packet<Head>> receive_packet(int from) {
  Packet<Head> packet;
  packet.text.resize(most_text);
  std::array<iovec, 2> parts{iovec{&packet.head, sizeof packet.head},
                             iovec{packet.text.data(), packet.text.size()}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = retry([&] { return ::recvmsg(from, &message, MSG_CMSG_CLOEXEC); });
  if (const cmsghdr* rights = size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
      rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS &&
      rights->cmsg_len == CMSG_LEN(sizeof(int))) {
    int file = -1;
    std::memcpy(&file, CMSG_DATA(rights), sizeof file);
    packet.file = Descriptor(file);
  }
  if (size < static_cast<ssize_t>(sizeof packet.head) || (message.msg_flags & MSG_TRUNC)) return std::nullopt;
  packet.has_lost_file = (message.msg_flags & MSG_CTRUNC) != 0;
  packet.text.resize(static_cast<std::size_t>(size) - sizeof packet.head);
  return packet;
}

// In the writing process.

/// What may be written, by the command line.
class Permitted {
public:
  explicit Permitted(const SandboxNeeds& needs) : links_(needs.symbolic_links) {
    for (const std::string& path : needs.write) add(path, Kind::file);
    for (const std::string& path : needs.write_below) add(path, Kind::below);
    for (const std::string& path : needs.replace_below) add(path, Kind::old_below);
  }

  bool file(const std::string& path) const {
    if (path.find('\0') != std::string::npos) return false; // the kernel would read another path
    const auto ups = ups_in(path);
    return std::ranges::any_of(places_, [&](const Place& place) {
      if (ups > place.ups) return false; // of a symbolic link, .. leads elsewhere
      const auto from_there = std::filesystem::path(path).lexically_normal().lexically_relative(place.path);
      if (from_there.empty() || *from_there.begin() == "..") return false;
      std::error_code error;
      return place.kind == Kind::below || (place.kind == Kind::file && from_there == ".") ||
             (place.kind == Kind::old_below && std::filesystem::is_regular_file(path, error));
    });
  }
  /// A folder in a mirrored tree.
  bool folder(const std::string& path) const { return links_ && file(path); }
  bool link(const std::string& path) const { return links_ && file(path); }

private:
  enum class Kind : std::uint8_t { file, below, old_below };
  struct Place {
    std::filesystem::path path;
    Kind kind;
    std::ptrdiff_t ups; ///< in the path as it was given
  };
  static std::ptrdiff_t ups_in(const std::filesystem::path& path) {
    return std::count(path.begin(), path.end(), "..");
  }
  void add(const std::string& path, Kind kind) {
    if (!is_place(path)) return;
    auto normal = std::filesystem::path(path).lexically_normal();
    if (!normal.has_filename() && normal.has_relative_path()) normal = normal.parent_path(); // a / at its end
    places_.push_back({std::move(normal), kind, ups_in(path)});
  }

  bool links_;
  std::vector<Place> places_;
};

/// The locks that the other process holds.
class Locks {
public:
  std::uint64_t add(std::shared_ptr<void> lock) {
    if (!lock) return 0;
    const std::lock_guard guard(mutex_);
    locks_.emplace(++last_, std::move(lock));
    return last_;
  }
  void remove(std::uint64_t number) {
    std::shared_ptr<void> lock;
    const std::lock_guard guard(mutex_);
    if (const auto found = locks_.find(number); found != locks_.end()) {
      lock = std::move(found->second);
      locks_.erase(found);
    }
  }

private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::shared_ptr<void>> locks_;
};

/// Answers the requests of one socket.
class Server {
public:
  Server(int socket, const Permitted& permitted, Locks& locks)
      : socket_(socket), permitted_(permitted), locks_(locks), changes_(own_file_changes(socket)) {}

  int socket() const { return socket_; }

  /// Answers the next request. False if the other process has closed the socket, or sent something else.
  bool serve_one() {
    const auto packet = receive_packet<Request>(socket_);
    if (!packet || packet->head.path_size > packet->text.size()) return false;
    const Request& request = packet->head;
    path_ = packet->text.substr(0, request.path_size);
    second_ = packet->text.substr(request.path_size);
    if (packet->has_lost_file) return reply(Result<void>(fail_errno("cannot write", EMFILE)));
    return has_right(request.operation) ? answer(request, packet->file)
                                        : fail_with("not permitted: not an output of this command line");
  }

private:
  bool has_right(Operation operation) const {
    switch (operation) {
    case Operation::commit:
    case Operation::abandon:
    case Operation::unlock: return true;
    case Operation::begin:
    case Operation::lock:
    case Operation::parent_folders: return permitted_.file(path_);
    case Operation::hard_link: return permitted_.link(path_) && permitted_.link(second_);
    case Operation::symbolic_link: return permitted_.link(second_);
    case Operation::folder_mode: return permitted_.folder(second_);
    case Operation::writable: return permitted_.folder(path_);
    }
    return false;
  }

  bool answer(const Request& request, const Descriptor& file) {
    switch (request.operation) {
    case Operation::begin: return begin(request);
    case Operation::commit: {
      if (!file_) return fail_with("no file was begun");
      const auto done = file_->commit(request.value, request.links, file.get());
      file_.reset();
      return reply(done);
    }
    case Operation::abandon: file_.reset(); return reply(Result<void>());
    case Operation::lock: {
      auto lock = changes_->lock(path_);
      if (!lock) return reply(lock);
      return send_packet(socket_, Reply{.lock = locks_.add(std::move(*lock))}, {}, -1);
    }
    case Operation::unlock: locks_.remove(request.value); return reply(Result<void>());
    case Operation::parent_folders: return reply(changes_->make_parent_folders(path_));
    case Operation::hard_link: return reply(changes_->hard_link(path_, second_));
    case Operation::symbolic_link: {
      const auto made = changes_->symbolic_link(path_, second_);
      if (!made) return reply(made);
      return send_packet(socket_, Reply{.is_target = *made}, {}, -1);
    }
    case Operation::folder_mode: changes_->copy_folder_mode(path_, second_); return reply(Result<void>());
    case Operation::writable: changes_->make_writable(path_); return reply(Result<void>());
    }
    return false;
  }

  bool begin(const Request& request) {
    const auto mode = request.has_mode ? std::optional(request.mode & 0777) : std::nullopt;
    file_.reset();
    auto begun = changes_->begin(path_, mode, request.gets_attributes);
    if (!begun) return reply(begun);
    file_ = std::move(*begun);
    return send_packet(socket_, Reply{.is_target = file_->is_target()}, {}, file_->fd());
  }

  template <class T> bool reply(const Result<T>& result) {
    return result ? send_packet(socket_, Reply(), {}, -1) : fail_with(result.error().what);
  }
  bool fail_with(std::string_view what) {
    return send_packet(socket_, Reply{.is_failure = true}, what.substr(0, most_text), -1);
  }

  int socket_;
  const Permitted& permitted_;
  Locks& locks_;
  std::unique_ptr<FileChanges> changes_;
  std::string path_, second_;
  std::unique_ptr<OutgoingFile> file_;
};

/// Answers what comes to any of them, until all have ended.
void serve_in_turn(std::vector<Server*> servers) {
  while (!servers.empty()) {
    std::vector<pollfd> waiting;
    for (const Server* server : servers) waiting.push_back({server->socket(), POLLIN, 0});
    (void)retry([&] { return ::poll(waiting.data(), waiting.size(), -1); });
    std::vector<Server*> left;
    for (std::size_t i = 0; i < servers.size(); ++i)
      if (waiting[i].revents == 0 || servers[i]->serve_one()) left.push_back(servers[i]);
    servers = std::move(left);
  }
}

[[noreturn]] void serve(const std::vector<int>& sockets, const SandboxNeeds& needs) {
  const Permitted permitted(needs);
  Locks locks;
  std::deque<Server> servers;
  for (const int socket : sockets) servers.emplace_back(socket, permitted, locks);
  std::vector<std::thread> threads;
  std::vector<Server*> others{&servers.front()}; // this thread's
  for (auto server = servers.begin() + 1; server != servers.end(); ++server) {
    auto thread = try_thread([server] { serve_in_turn({&*server}); });
    if (thread.joinable())
      threads.push_back(std::move(thread));
    else
      others.push_back(&*server);
  }
  serve_in_turn(std::move(others));
  for (std::thread& thread : threads) thread.join();
  ::_exit(0);
}

// In the process in the sandbox.

constexpr std::size_t most_sockets = 16;
/// For end_writing_process().
constinit std::array<std::atomic<int>, most_sockets> open_sockets{};
constinit std::atomic<std::size_t> socket_count{0};
constinit std::atomic<pid_t> writer{0};
constinit std::atomic<bool> is_ended{false};

void close_requests() noexcept {
  for (std::size_t i = 0; i < socket_count; ++i) (void)::shutdown(open_sockets[i], SHUT_RDWR);
}

/// The other process is gone, or no longer understood. A signal that ended it ends this process, too: the
/// user sent it to both, or meant both.
void wait_for_writer() {
  if (is_ended) // this one is about to end
    for (;;) ::pause();
  int status = 0;
  const pid_t process = writer.exchange(0);
  close_requests();
  if (process > 0 && retry([&] { return ::waitpid(process, &status, 0); }) == process && WIFSIGNALED(status))
    ::raise(WTERMSIG(status));
}

class RemoteChanges : public FileChanges {
public:
  explicit RemoteChanges(std::vector<int> sockets) : free_(std::move(sockets)) {}

  Result<std::unique_ptr<OutgoingFile>> begin(const std::string& path, std::optional<std::uint32_t> mode,
                                              bool gets_attributes) override {
    auto socket = std::make_unique<Socket>(*this);
    auto reply = socket->ask({.operation = Operation::begin,
                              .has_mode = mode.has_value(),
                              .gets_attributes = gets_attributes,
                              .mode = mode.value_or(0)},
                             path);
    if (!reply) return unexpected(reply.error());
    return std::make_unique<RemoteFile>(std::move(socket), std::move(reply->file), reply->head.is_target);
  }
  Result<std::shared_ptr<void>> lock(const std::string& path) override {
    const auto reply = Socket(*this).ask({.operation = Operation::lock}, path);
    if (!reply) return unexpected(reply.error());
    const std::uint64_t number = reply->head.lock;
    if (number == 0) return nullptr;
    return std::shared_ptr<void>(this, [this, number](void*) {
      (void)Socket(*this).ask({.operation = Operation::unlock, .value = number}, {});
    });
  }
  Result<void> make_parent_folders(const std::string& path) override {
    return done({.operation = Operation::parent_folders}, path);
  }
  Result<void> hard_link(const std::string& existing, const std::string& path) override {
    return done({.operation = Operation::hard_link}, existing, path);
  }
  Result<bool> symbolic_link(const std::string& original, const std::string& path) override {
    const auto reply = Socket(*this).ask({.operation = Operation::symbolic_link}, original, path);
    if (!reply) return unexpected(reply.error());
    return reply->head.is_target;
  }
  void copy_folder_mode(const std::string& from, const std::string& to) override {
    (void)done({.operation = Operation::folder_mode}, from, to);
  }
  void make_writable(const std::string& folder) override {
    (void)done({.operation = Operation::writable}, folder);
  }

private:
  /// One of the sockets, for this thread.
  class Socket {
  public:
    explicit Socket(RemoteChanges& owner) : owner_(owner), socket_(owner.take()) {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() { owner_.give_back(socket_); }

    Result<Packet<Reply>> ask(Request request, const std::string& path, const std::string& second = {},
                              int file = -1) {
      request.path_size = static_cast<std::uint32_t>(path.size());
      if (path.size() >= PATH_MAX || second.size() >= PATH_MAX)
        return fail_errno("cannot write", ENAMETOOLONG);
      auto packet =
          send_packet(socket_, request, path + second, file) ? receive_packet<Reply>(socket_) : std::nullopt;
      if (!packet) {
        wait_for_writer();
        return fail("cannot write: the process that writes files has ended");
      }
      if (packet->head.is_failure) return fail(std::move(packet->text));
      if (packet->has_lost_file) return fail_errno("cannot write", EMFILE);
      return std::move(*packet);
    }

  private:
    RemoteChanges& owner_;
    int socket_;
  };

  class RemoteFile : public OutgoingFile {
  public:
    RemoteFile(std::unique_ptr<Socket> socket, Descriptor file, bool is_target)
        : socket_(std::move(socket)), file_(std::move(file)), is_target_(is_target) {}
    ~RemoteFile() override {
      if (!is_committed_) (void)socket_->ask({.operation = Operation::abandon}, {});
    }
    int fd() const override { return file_.get(); }
    bool is_target() const override { return is_target_; }
    Result<void> commit(std::uint64_t size, HardLinks links, int attributes) override {
      is_committed_ = true;
      const auto reply =
          socket_->ask({.operation = Operation::commit, .links = links, .value = size}, {}, {}, attributes);
      if (!reply) return unexpected(reply.error());
      return {};
    }

  private:
    std::unique_ptr<Socket> socket_;
    Descriptor file_;
    bool is_target_, is_committed_ = false;
  };

  int take() {
    std::unique_lock guard(mutex_);
    is_free_.wait(guard, [&] { return !free_.empty(); });
    const int socket = free_.back();
    free_.pop_back();
    return socket;
  }
  void give_back(int socket) {
    {
      const std::lock_guard guard(mutex_);
      free_.push_back(socket);
    }
    is_free_.notify_one();
  }
  Result<void> done(Request request, const std::string& path, const std::string& second = {}) {
    const auto reply = Socket(*this).ask(request, path, second);
    if (!reply) return unexpected(reply.error());
    return {};
  }

  std::mutex mutex_;
  std::condition_variable is_free_;
  std::vector<int> free_;
};

} // namespace

bool start_writing_process(const SandboxNeeds& needs, const std::function<void()>& confine) {
  std::vector<Descriptor> here, there;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(needs.writers, 1, most_sockets); ++i) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    here.emplace_back(ends[0]);
    there.emplace_back(ends[1]);
  }
  const auto numbers = [](const std::vector<Descriptor>& all) {
    std::vector<int> sockets;
    for (const Descriptor& socket : all) sockets.push_back(socket.get());
    return sockets;
  };
  catch_signals(); // they end the other process, too, before this one
  const pid_t process = ::fork();
  if (process < 0) return false;
  if (process == 0) {
    ::prctl(PR_SET_NAME, "sframe-writer");
    here.clear(); // or it would not see the end of the other process
    confine();
    serve(numbers(there), needs);
  }
  for (std::size_t i = 0; i < here.size(); ++i) open_sockets[i] = here[i].get();
  socket_count = here.size();
  writer = process;
  static RemoteChanges changes(numbers(here));
  for (Descriptor& socket : here) (void)socket.release();
  use_file_changes(changes);
  return true;
}

void end_writing_process() noexcept {
  const pid_t process = writer.exchange(0);
  if (process <= 0) return;
  const int error = errno;
  is_ended = true;
  close_requests();
  (void)retry([&] { return ::waitpid(process, nullptr, 0); });
  errno = error;
}

} // namespace sframe::tool
