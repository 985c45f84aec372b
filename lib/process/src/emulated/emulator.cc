// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// start() runs the emulator as a child with a socket in a folder of its own, connects, and agrees on the
// protocol; the registers' places come from the target description (RegisterLayout). Memory is read from the
// emulator's own if that has the program's bytes at equal addresses, which check_direct() finds out, else by
// packets. The emulator is killed with its object.

#include "emulated/emulator.h"

#include "live/child.h"

#include "sframe/base/retry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sframe::process::emulated {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20; ///< of a target description

/// Without "0x".
std::string hex_digits(std::uint64_t value) {
  return hex(value).substr(2);
}

/// A folder for the socket, removed with it.
class SocketFolder {
public:
  SocketFolder() {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~SocketFolder() {
    if (path_.empty()) return;
    (void)::unlink(socket().c_str());
    (void)::rmdir(path_.c_str());
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  bool exists() const { return !path_.empty(); }
  std::string socket() const { return path_ + "/gdb"; }

private:
  std::string path_ = "/tmp/sframe-verify-XXXXXX"; // TMPDIR may be too long for an address
};

} // namespace

Emulator::Emulator(int pid, const Guest& guest, const AbiTraits& abi)
    : pid_(pid), abi_(abi), layout_(guest, abi, *unwind::find_unwind_abi(abi.id)) {}

Emulator::~Emulator() {
  connection_.reset();
  if (status_) return;
  (void)::kill(pid_, SIGKILL);
  (void)retry([&] { return ::waitpid(pid_, nullptr, 0); });
}

std::optional<int> Emulator::wait(bool patient) {
  const auto until = std::chrono::steady_clock::now() + Connection::longest_wait;
  int status = 0;
  while (!status_) {
    const pid_t found = retry([&] { return ::waitpid(pid_, &status, patient ? 0 : WNOHANG); });
    if (found == pid_) status_ = status;
    if (found < 0 || (found == 0 && std::chrono::steady_clock::now() > until)) break;
    if (found == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status_;
}

Result<std::unique_ptr<Emulator>> Emulator::start(const std::string& emulator,
                                                  const std::vector<std::string>& command, const Guest& guest,
                                                  const AbiTraits& abi) {
  const SocketFolder folder;
  if (!folder.exists()) return fail(std::string("cannot make a directory in /tmp: ") + std::strerror(errno));
  std::vector<std::string> all{emulator, "-g", folder.socket()};
  all.insert(all.end(), command.begin(), command.end());
  const auto child = live::start_child(all);
  if (!child) return unexpected(child.error());
  std::unique_ptr<Emulator> started(new Emulator(child->pid, guest, abi));
  (void)!::write(child->go, "", 1);
  ::close(child->go);
  int number = 0;
  const auto got = retry([&] { return ::read(child->error, &number, sizeof number); });
  ::close(child->error);
  if (got == sizeof number) {
    (void)started->wait(true);
    return fail(emulator + " cannot be started: " + std::strerror(number));
  }
  const auto named = [&](const Problem& why) { return fail(emulator + ": " + why.text()); };
  if (const auto connected = started->connect(folder.socket()); !connected) return named(connected.error());
  if (const auto ready = started->handshake(); !ready) return named(ready.error());
  return started;
}

Result<void> Emulator::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(std::string("cannot make a socket: ") + std::strerror(errno));
  connection_ = std::make_unique<Connection>(fd);
  const auto until = std::chrono::steady_clock::now() + Connection::longest_wait;
  int status = 0;
  for (;;) {
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
    if (retry([&] { return ::waitpid(pid_, &status, WNOHANG); }) == pid_) {
      status_ = status;
      return fail("ended before it served gdb's protocol");
    }
    if (std::chrono::steady_clock::now() > until) return fail("does not serve gdb's protocol");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Result<void> Emulator::handshake() {
  const auto features = connection_->ask("qSupported:multiprocess+;vContSupported+;xmlRegisters=");
  if (!features) return unexpected(features.error());
  if (const std::size_t at = features->find("PacketSize="); at != std::string::npos) {
    std::size_t size = 0;
    std::from_chars(features->data() + at + 11, features->data() + features->size(), size, 16);
    largest_read_ = std::clamp<std::size_t>(size / 2 - std::min<std::size_t>(size / 2, 16), 64, 4096);
  }
  if (features->find("qXfer:features:read+") == std::string::npos)
    return fail("does not describe its registers");
  const auto quiet = connection_->ask("QStartNoAckMode");
  if (!quiet) return unexpected(quiet.error());
  if (*quiet == "OK") connection_->stop_acknowledging();
  const auto stopped = connection_->ask("?");
  if (!stopped) return unexpected(stopped.error());
  const auto stop = parse_stop(*stopped);
  if (!stop) return unexpected(stop.error());
  if (stop->kind == Stop::Kind::ended || stop->thread.empty()) return fail("has no program that is stopped");
  thread_ = stop->thread;
  if (const auto described = read_description(); !described) return described;
  const auto first = connection_->ask("g");
  if (!first) return unexpected(first.error());
  if (const auto values = layout_.parse(*first); !values) return unexpected(values.error());
  separate_ = layout_.separate(first->size() / 2);
  check_direct();
  return {};
}

Result<void> Emulator::read_description() {
  std::vector<std::string> files{"target.xml"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto xml = read_file(files[i]);
    if (!xml) return unexpected(xml.error());
    if (const auto added = layout_.add(*xml, files); !added) return added;
  }
  return layout_.finish();
}

Result<std::string> Emulator::read_file(const std::string& name) {
  std::string text;
  while (text.size() < largest_file) {
    auto part = connection_->ask("qXfer:features:read:" + name + ":" + hex_digits(text.size()) + ",7e0");
    if (!part) return part;
    const bool is_last = part->starts_with('l');
    if (!is_last && (!part->starts_with('m') || part->size() == 1))
      return fail("a target description that cannot be read");
    text += part->substr(1);
    if (is_last) return text;
  }
  return fail("a target description that is too long");
}

Result<unwind::Registers> Emulator::registers() {
  const auto answer = connection_->ask("g");
  if (!answer) return unexpected(answer.error());
  return layout_.parse(*answer);
}

void Emulator::add_registers(unwind::Registers& registers) {
  for (const RegisterLayout::Separate& at : separate_) {
    const auto answer = connection_->ask("p" + hex_digits(at.number));
    if (!answer) return;
    if (const auto value = layout_.value(*answer)) registers.set(at.dwarf, *value);
  }
}

std::size_t Emulator::read_through_connection(std::uint64_t address, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t size = std::min(out.size() - done, largest_read_);
    const auto answer = connection_->ask("m" + hex_digits(address + done) + "," + hex_digits(size));
    if (!answer) break;
    const auto bytes = from_hex(*answer); // an error, E and two digits, is no pairs of digits
    if (!bytes || bytes->empty() || bytes->size() > size) break;
    std::memcpy(out.data() + done, bytes->data(), bytes->size());
    done += bytes->size();
  }
  return done;
}

std::size_t Emulator::read(std::uint64_t address, std::span<std::byte> out) {
  if (!direct_) return read_through_connection(address, out);
  iovec here{out.data(), out.size()};
  iovec there{reinterpret_cast<void*>(address), out.size()};
  const auto got = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

/// Reading the emulator's memory is much faster, if it has the program's at equal addresses.
void Emulator::check_direct() {
  const auto now = registers();
  if (!now) return;
  std::array<std::byte, 64> through{}, direct{};
  for (const std::uint64_t address : {now->pc, now->values[abi_.sp]}) {
    if (read_through_connection(address, through) != through.size()) return;
    direct_ = true;
    const bool is_same = read(address, direct) == direct.size() && through == direct;
    direct_ = false;
    if (!is_same) return;
  }
  direct_ = true;
}

Result<Stop> Emulator::parse_stop(const std::string& answer) const {
  Stop stop;
  const char kind = answer.empty() ? '\0' : answer[0];
  if (kind == 'W' || kind == 'X') {
    stop.kind = Stop::Kind::ended;
    return stop;
  }
  if ((kind != 'T' && kind != 'S') || answer.size() < 3 || !from_hex(std::string_view(answer).substr(1, 2)))
    return fail("a malformed answer: no reason of a stop");
  stop.signal = answer.substr(1, 2);
  if (stop.signal != "05") stop.kind = Stop::Kind::signal;
  constexpr std::string_view key = "thread:";
  if (const std::size_t at = answer.find(key); at != std::string::npos) {
    const std::size_t start = at + key.size();
    stop.thread = answer.substr(start, std::min(answer.find(';', start), answer.size()) - start);
  }
  return stop;
}

Result<Stop> Emulator::resume(char action, const std::string& signal, const std::string& thread) {
  std::string packet = "vCont;";
  packet += signal.empty() ? action : static_cast<char>(action - 'a' + 'A');
  packet += signal + ":" + thread;
  const auto answer = connection_->run(packet);
  if (!answer) return unexpected(answer.error());
  return parse_stop(*answer);
}

Result<void> Emulator::set_breakpoint(std::uint64_t address, bool set) {
  const auto answer = connection_->ask((set ? "Z0," : "z0,") + hex_digits(address) + ",4");
  if (!answer) return unexpected(answer.error());
  if (*answer != "OK") return fail("no breakpoint at " + hex(address));
  return {};
}

} // namespace sframe::process::emulated
