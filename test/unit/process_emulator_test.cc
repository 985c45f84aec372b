// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs one instruction at a time.
//
// In an emulator, as gdb's remote protocol shows it ("Debugging with GDB", appendix E): the emulator is a
// shell script, which only lives; a thread of the test gives its answers. The machine is an s390x: its
// instructions here have 4 bytes, and system calls are what the test takes for them.
//
// By ptrace(2): programs of a few instructions, encoded by hand (Intel's manual, volume 2).

#include "elf_builder.h"
#include "emulated/emulator.h"
#include "inputs.h"
#include "live_target.h"
#include "sframe/process/step_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <poll.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace process_emulator_test {

using namespace sframe;
using namespace sframe::process;
using emulated::Emulator;
using emulated::Stop;
using unwind::Registers;

constexpr std::uint64_t first_pc = 0x1000, stack = 0x7000;

std::string digits_of(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::uint64_t number_in(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

/// The machine's state, and what it answers. A program's thread is p1.1.
struct Machine {
  std::uint64_t pc = first_pc;
  std::map<unsigned, std::uint64_t> registers = {{11, 0x1111}, {15, stack}}; ///< r0 to r15
  std::map<std::uint64_t, std::uint64_t> words;                              ///< memory, at multiples of 8
  std::string features = "PacketSize=400;qXfer:features:read+;vContSupported+";
  std::string quiet = "OK", first_stop = "T05thread:p1.1;";
  std::deque<std::string> stops; ///< of the next vCont; then each is a step of 4 bytes
  std::function<void(const std::string&)> before_resume;
  std::vector<std::string> packets; ///< what was asked
  int status = 0;                   ///< the emulator's exit code, after W

  /// Nothing: the connection is closed.
  std::optional<std::string> answer(const std::string& packet);
  std::string memory(std::uint64_t address, std::uint64_t size) const {
    std::string text;
    for (std::uint64_t at = address; at < address + size; ++at) {
      const auto word = words.find(at & ~std::uint64_t{7});
      if (word == words.end()) break;
      text += digits_of(word->second).substr(2 * (at & 7), 2);
    }
    return text.empty() ? "E14" : text;
  }
  std::vector<std::string> asked(std::string_view start) const {
    std::vector<std::string> found;
    for (const std::string& packet : packets)
      if (packet.starts_with(start)) found.push_back(packet);
    return found;
  }
};

std::string description() {
  std::string xml = "<target>";
  for (int i = 0; i < 16; ++i) xml += "<reg name='r" + std::to_string(i) + "' bitsize='64'/>";
  return xml +
         "<reg name='pswa' bitsize='64'/><reg name='f0' bitsize='64'/><reg name='f2' bitsize='64'/></target>";
}

std::optional<std::string> Machine::answer(const std::string& packet) {
  packets.push_back(packet);
  if (packet.starts_with("qSupported")) return features;
  if (packet == "QStartNoAckMode") return quiet;
  if (packet == "?") return first_stop;
  constexpr std::string_view read = "qXfer:features:read:target.xml:";
  if (packet.starts_with(read)) {
    const std::string part = packet.substr(read.size());
    const std::string xml = description();
    const std::size_t at = std::min<std::size_t>(number_in(part), xml.size());
    const std::size_t size =
        std::min<std::size_t>(number_in(part.substr(part.find(',') + 1)), 300); // fewer than asked for
    return (at + size < xml.size() ? "m" : "l") + xml.substr(at, size);
  }
  if (packet == "g") {
    std::string all;
    for (unsigned i = 0; i < 16; ++i) all += digits_of(registers[i]);
    return all + digits_of(pc);
  }
  if (packet == "p11") return digits_of(0xf0);
  if (packet == "p12") return "xxxxxxxxxxxxxxxx"; // not available
  if (packet[0] == 'm')
    return memory(number_in(packet.substr(1)), number_in(packet.substr(packet.find(',') + 1)));
  if (packet[0] == 'Z' || packet[0] == 'z') return "OK";
  if (packet.starts_with("vCont;")) {
    if (before_resume) before_resume(packet);
    if (stops.empty()) {
      pc += 4;
      return "T05thread:p1.1;";
    }
    const std::string stop = stops.front();
    stops.pop_front();
    if (stop.empty()) return std::nullopt;
    return stop;
  }
  return "";
}

/// A folder with the script and two pipes: by one it names its process and the socket, by the other it is
/// ended.
class FakeEmulator {
public:
  explicit FakeEmulator(Machine& machine, const std::string& first_command = "") : machine_(machine) {
    std::string folder = (std::filesystem::temp_directory_path() / "sframe-test-XXXXXX").string();
    EXPECT_TRUE(::mkdtemp(folder.data()));
    folder_ = folder;
    for (const char* name : {"/socket", "/end"}) EXPECT_EQ(::mkfifo((folder + name).c_str(), 0600), 0);
    std::ofstream(path())
        << "#!/bin/sh\n" + first_command + "\nfolder=${0%/*}\necho \"$*\" > \"$folder/arguments\"\n"
        << "echo \"$$ $2\" > \"$folder/socket\"\nread status < \"$folder/end\"\nexit $status\n";
    EXPECT_EQ(::chmod(path().c_str(), 0700), 0);
    socket_ = ::open((folder + "/socket").c_str(), O_RDWR | O_CLOEXEC);
    end_ = ::open((folder + "/end").c_str(), O_RDWR | O_CLOEXEC);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeEmulator() {
    stop_ = true;
    thread_.join();
    ::close(socket_);
    ::close(end_);
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  FakeEmulator(const FakeEmulator&) = delete;
  FakeEmulator& operator=(const FakeEmulator&) = delete;

  std::string path() const { return folder_ + "/emulator"; }
  std::string file(const std::string& name) const {
    std::ifstream stream(folder_ + "/" + name);
    std::string line;
    std::getline(stream, line);
    return line;
  }
  int pid() const { return pid_; }

private:
  /// False after a time without any, and at the end.
  bool wait_for(int fd) const {
    for (int i = 0; i < 4000 && !stop_; ++i) {
      pollfd ready{fd, POLLIN, 0};
      if (::poll(&ready, 1, 5) == 1) return true;
    }
    return false;
  }
  void serve() {
    std::string line;
    for (char c = 0; wait_for(socket_) && ::read(socket_, &c, 1) == 1 && c != '\n';) line += c;
    if (line.find(' ') == std::string::npos) return;
    pid_ = std::atoi(line.c_str());
    const std::string path = line.substr(line.find(' ') + 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    if (wait_for(listener)) {
      const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      answer_all(connection);
      ::close(connection);
    }
    ::close(listener);
  }
  void answer_all(int connection) {
    bool acknowledges = true;
    std::string received;
    for (;;) {
      const std::size_t start = received.find('$'), end = received.find('#');
      if (end == std::string::npos || received.size() < end + 3) {
        std::array<char, 4096> bytes{};
        if (!wait_for(connection)) return;
        const auto got = ::read(connection, bytes.data(), bytes.size());
        if (got <= 0) return;
        received.append(bytes.data(), static_cast<std::size_t>(got));
        continue;
      }
      const std::string packet = received.substr(start + 1, end - start - 1);
      received.erase(0, end + 3);
      const auto answer = machine_.answer(packet);
      const bool is_end = !answer || answer->starts_with('W');
      // Its end is known before the connection is closed.
      if (is_end) {
        const std::string status = std::to_string(machine_.status) + "\n";
        EXPECT_EQ(::write(end_, status.data(), status.size()), static_cast<ssize_t>(status.size()));
      }
      if (!answer) return;
      unsigned sum = 0;
      for (const char c : *answer) sum += static_cast<unsigned char>(c);
      std::array<char, 4> tail{};
      std::snprintf(tail.data(), tail.size(), "#%02x", sum & 255);
      const std::string framed = (acknowledges ? "+$" : "$") + *answer + tail.data();
      if (::send(connection, framed.data(), framed.size(), MSG_NOSIGNAL) < 0) return;
      if (packet == "QStartNoAckMode" && *answer == "OK") acknowledges = false;
    }
  }

  Machine& machine_;
  std::string folder_;
  int socket_ = -1, end_ = -1;
  std::atomic<int> pid_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<Emulator>> start(const FakeEmulator& fake) {
  return Emulator::start(fake.path(), {"program", "argument"}, *emulated::find_guest(Abi::s390x),
                         traits(Abi::s390x));
}

std::string failure(Machine machine) {
  FakeEmulator fake(machine);
  const auto started = start(fake);
  if (started) return "";
  const std::string text = started.error().text();
  EXPECT_TRUE(text.starts_with(fake.path() + ": ")) << text;
  EXPECT_TRUE(::kill(fake.pid(), 0) != 0 && errno == ESRCH) << "it is killed";
  return text.substr(std::min(text.size(), fake.path().size() + 2));
}

TEST(Emulators, Handshake) {
  Machine machine;
  FakeEmulator fake(machine);
  const auto started = start(fake);
  ASSERT_TRUE(started) << started.error().text();
  EXPECT_EQ((*started)->pid(), static_cast<std::uint32_t>(fake.pid()));
  EXPECT_EQ((*started)->thread(), "p1.1");
  const std::string arguments = fake.file("arguments");
  EXPECT_TRUE(arguments.starts_with("-g /tmp/sframe-verify-")) << arguments;
  EXPECT_TRUE(arguments.ends_with("/gdb program argument")) << arguments;
  ASSERT_GE(machine.packets.size(), 4u);
  EXPECT_TRUE(machine.packets[0].starts_with("qSupported:"));
  EXPECT_EQ(machine.packets[1], "QStartNoAckMode");
  EXPECT_EQ(machine.packets[2], "?");
  // Each part begins where the last one has ended, however long the parts are.
  const auto parts = machine.asked("qXfer");
  ASSERT_EQ(parts.size(), (description().size() + 299) / 300);
  EXPECT_EQ(parts[1], "qXfer:features:read:target.xml:12c,7e0");

  const auto now = (*started)->registers();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->pc, first_pc);
  EXPECT_EQ(now->get(15), stack);
  EXPECT_EQ(now->get(11), 0x1111u);
  // What `g` does not have is read one by one, if there is a value: f0 is 16, f2 is 17 (s390x ELF ABI).
  EXPECT_FALSE(now->has(16));
  Registers more = *now;
  (*started)->add_registers(more);
  EXPECT_EQ(more.get(16), 0xf0u);
  EXPECT_FALSE(more.has(17));
  EXPECT_EQ(machine.asked("p"), (std::vector<std::string>{"p11", "p12"}));
  EXPECT_FALSE((*started)->is_closed());
  const int pid = fake.pid();
  started->get()->step();
  const_cast<std::unique_ptr<Emulator>&>(*started).reset();
  EXPECT_TRUE(::kill(pid, 0) != 0 && errno == ESRCH) << "it is killed";
}

TEST(Emulators, ThatServeWrongly) {
  Machine machine;
  machine.features = "PacketSize=400";
  EXPECT_EQ(failure(machine), "does not describe its registers");
  machine = {};
  for (const char* stop : {"W00", "X09", "T05", "S05"}) {
    machine.first_stop = stop;
    EXPECT_EQ(failure(machine), "has no program that is stopped") << stop;
  }
  for (const char* stop : {"", "O", "T", "T5", "T0x", "05"}) {
    machine.first_stop = stop;
    EXPECT_EQ(failure(machine), "a malformed answer: no reason of a stop") << stop;
  }
}

TEST(Emulators, ThatDoNotServe) {
  Machine machine;
  const FakeEmulator fake(machine, "exit 3");
  const auto ended = start(fake);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text(), fake.path() + ": ended before it served gdb's protocol");
  const auto none = Emulator::start(fake.path() + "-none", {"program"}, *emulated::find_guest(Abi::s390x),
                                    traits(Abi::s390x));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), fake.path() + "-none cannot be started: No such file or directory");
}

/// The number of descriptors of this process.
std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// A program needs two pipes: with one or none, it is not started, and nothing stays open.
TEST(Emulators, WithoutDescriptors) {
  const auto none = [](unsigned more) {
    const std::size_t before = descriptors();
    rlimit old{}, few{};
    ::getrlimit(RLIMIT_NOFILE, &old);
    // The lowest number that is free, and `more` after it.
    const int free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(free);
    few = old;
    few.rlim_cur = static_cast<rlim_t>(free) + more;
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto started =
        Emulator::start("true", {"program"}, *emulated::find_guest(Abi::s390x), traits(Abi::s390x));
    ::setrlimit(RLIMIT_NOFILE, &old);
    EXPECT_EQ(descriptors(), before);
    return started ? std::string() : started.error().text();
  };
  for (const unsigned more : {0u, 1u, 2u, 3u})
    EXPECT_EQ(none(more), "cannot start a program: Too many open files") << more;
}

// The signal that the test's process ignores has its default action in the program.
TEST(Emulators, SignalsAreThoseOfAProgram) {
  struct sigaction old {
  }, ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &old);
  Machine machine;
  FakeEmulator fake(machine, "grep SigIgn /proc/$$/status > \"${0%/*}/signals\"");
  const auto started = start(fake);
  ::sigaction(SIGPIPE, &old, nullptr);
  ASSERT_TRUE(started) << started.error().text();
  const std::string ignored = fake.file("signals");
  ASSERT_TRUE(ignored.starts_with("SigIgn:\t")) << ignored;
  EXPECT_EQ(number_in(ignored.substr(8)) & 1u << (SIGPIPE - 1), 0u);
}

// An answer has two digits for a byte, and fits into a packet of the size that the emulator has given.
TEST(Emulators, ReadsInParts) {
  for (const auto& [features, least, most] : {std::tuple{"PacketSize=400;", 256u, 512u},
                                              {"PacketSize=100;", 64u, 128u},
                                              {"PacketSize=10000;", 1000u, 1000u},
                                              {"PacketSize=2;", 64u, 64u},
                                              {"", 256u, 1000u}}) {
    SCOPED_TRACE(features);
    Machine machine;
    machine.features = std::string(features) + "qXfer:features:read+";
    for (std::uint64_t at = 0x2000; at < 0x2000 + 1000; at += 8) machine.words[at] = at * 0x0101010101;
    FakeEmulator fake(machine);
    const auto started = start(fake);
    ASSERT_TRUE(started) << started.error().text();
    machine.packets.clear();
    std::vector<std::byte> bytes(1000);
    EXPECT_EQ((*started)->read(0x2000, bytes), 1000u);
    EXPECT_EQ(load<std::uint64_t>(bytes.data() + 992, ByteOrder::big),
              (0x2000 + 992) * std::uint64_t{0x0101010101});
    std::uint64_t next = 0x2000;
    for (const std::string& packet : machine.asked("m")) {
      const std::uint64_t size = number_in(packet.substr(packet.find(',') + 1));
      EXPECT_EQ(number_in(packet.substr(1)), next);
      next += size;
      EXPECT_LE(size, most);
      EXPECT_TRUE(size >= least || next == 0x2000 + 1000) << size;
    }
    EXPECT_EQ(next, 0x2000u + 1000u);
    // What is not mapped ends it: what is before it is read.
    EXPECT_EQ((*started)->read(0x2000 + 900, bytes), 100u);
    EXPECT_EQ((*started)->read(0x9000, bytes), 0u);
  }
}

TEST(Emulators, StepsAndBreakpoints) {
  Machine machine;
  machine.quiet = ""; // acknowledged to the end
  FakeEmulator fake(machine);
  const auto started = start(fake);
  ASSERT_TRUE(started) << started.error().text();
  Emulator& emulator = **started;
  machine.stops = {"T05thread:p1.1;", "T0bthread:p1.2;", "T0a06:01;thread:p1.1;07:02;", "S05", "X09", "T7"};
  const auto step = emulator.step();
  EXPECT_EQ(machine.packets.back(), "vCont;s:p1.1");
  EXPECT_TRUE(step && step->kind == Stop::Kind::stepped && step->thread == "p1.1");
  const auto other = emulator.go_on("");
  EXPECT_EQ(machine.packets.back(), "vCont;c:p1.1");
  EXPECT_TRUE(other && other->kind == Stop::Kind::signal && other->signal == "0b" && other->thread == "p1.2");
  const auto signal = emulator.go_on("0b", "p1.2");
  EXPECT_EQ(machine.packets.back(), "vCont;C0b:p1.2");
  EXPECT_TRUE(signal && signal->kind == Stop::Kind::signal && signal->signal == "0a" &&
              signal->thread == "p1.1");
  const auto without_thread = emulator.go_on("0a");
  EXPECT_EQ(machine.packets.back(), "vCont;C0a:p1.1");
  EXPECT_TRUE(without_thread && without_thread->kind == Stop::Kind::stepped &&
              without_thread->thread.empty());
  const auto killed = emulator.step();
  EXPECT_TRUE(killed && killed->kind == Stop::Kind::ended);
  EXPECT_FALSE(emulator.step());
  EXPECT_TRUE(emulator.set_breakpoint(0xabc, true));
  EXPECT_EQ(machine.packets.back(), "Z0,abc,4");
  EXPECT_TRUE(emulator.set_breakpoint(0xabc, false));
  EXPECT_EQ(machine.packets.back(), "z0,abc,4");
  EXPECT_FALSE(emulator.wait(false)) << "it runs";
}

/// What an observer gets, and what it knows of the instructions.
struct Watcher final : StepObserver {
  void program(std::uint32_t pid, std::unique_ptr<SteppedSpace> made) override {
    log.push_back("program");
    process = pid;
    space = std::move(made);
  }
  void lost(std::uint32_t pid, const std::string& why) override { note("lost: " + why, pid); }
  void thread(std::uint32_t parent, std::uint32_t tid, std::unique_ptr<SteppedSpace> made) override {
    EXPECT_NE(tid, process);
    note(made ? "made a process" : "made a thread", parent);
  }
  void not_followed(std::uint32_t parent, bool is_process) override {
    note(is_process ? "process" : "thread", parent);
  }
  StepAnswer step(std::uint32_t tid, const Registers& now) override {
    note("step " + std::to_string(now.pc - base), tid);
    if (now.pc == leave_at) return {.follow = false};
    const auto call = calls.find(now.pc);
    StepAnswer answer{.next = now.pc + 4, .traps = now.pc == traps_at};
    if (call != calls.end()) answer.system_call = call->second;
    return answer;
  }
  void signal(std::uint32_t tid, const Registers& now) override {
    note("signal " + std::to_string(now.pc - base), tid);
  }
  void ended(std::uint32_t tid) override { note("ended", tid); }
  void note(std::string text, std::uint32_t tid) {
    (tid == process ? log : others).push_back(std::move(text));
  }

  std::uint64_t base = first_pc;
  std::vector<std::string> log, others;        ///< of the program's first thread, and of all others
  std::map<std::uint64_t, std::int64_t> calls; ///< system calls, by pc
  std::uint64_t leave_at = 0, traps_at = 0;
  std::uint32_t process = 0;
  std::unique_ptr<SteppedSpace> space;
};

using Log = std::vector<std::string>;

Result<int> run(Machine& machine, Watcher& watcher) {
  const FakeEmulator fake(machine);
  return step_emulated(fake.path(), {(test::inputs() / "s390x/v3-gas247-static").string()}, watcher);
}

TEST(StepEmulated, ToTheEnd) {
  Machine machine;
  machine.stops = {"T05thread:p1.1;", "W05"};
  machine.status = 5;
  Watcher watcher;
  const auto status = run(machine, watcher);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 5);
  EXPECT_EQ(watcher.log, (Log{"program", "step 0", "step 0", "ended"}));
  EXPECT_EQ(machine.asked("vCont"), (Log{"vCont;s:p1.1", "vCont;s:p1.1"}));
}

// The program goes on to a breakpoint after the call (QEMU's step would execute one more instruction).
TEST(StepEmulated, SystemCalls) {
  Machine machine;
  machine.before_resume = [&](const std::string& packet) {
    if (packet.starts_with("vCont;c")) machine.pc += 4;
  };
  machine.stops = {
      "T05thread:p1.1;",
      "",
  };
  Watcher watcher;
  watcher.calls = {{first_pc, 4}}; // write
  EXPECT_FALSE(run(machine, watcher));
  EXPECT_EQ(machine.asked("Z"), (Log{"Z0,1004,4"}));
  EXPECT_EQ(machine.asked("z"), (Log{"z0,1004,4"}));
  EXPECT_EQ(machine.asked("vCont"), (Log{"vCont;c:p1.1", "vCont;s:p1.1"}));
}

// clone(stack, flags), clone3(arguments, size), fork(), vfork() (arch/s390/kernel/syscalls/syscall.tbl). The
// result is in r2: the parent's is the number of what was made, 0 is the child's, and errors are negative.
TEST(StepEmulated, ThreadsAndProcesses) {
  constexpr std::uint64_t clone_vm = 0x100, clone_vfork = 0x4000, arguments = 0x3000;
  constexpr std::int64_t fork = 2, vfork = 190, clone = 120, clone3 = 435, other = 4;
  const auto made = [&](std::int64_t call, std::uint64_t flags, std::int64_t result, bool& steps) {
    Machine machine;
    machine.registers[2] = arguments;
    machine.registers[3] = flags;
    machine.words[arguments] = flags;
    if (call == clone3) machine.registers[3] = 88;
    machine.before_resume = [&](const std::string&) {
      machine.pc += 4;
      machine.registers[2] = static_cast<std::uint64_t>(result);
    };
    machine.stops = {"T05thread:p1.1;", "W00"};
    Watcher watcher;
    watcher.calls = {{first_pc, call}};
    EXPECT_TRUE(run(machine, watcher));
    steps = machine.asked("vCont").front().starts_with("vCont;s");
    return watcher.log.size() == 4 ? std::string() : watcher.log[2];
  };
  bool steps = false;
  EXPECT_EQ(made(fork, 0, 9, steps), "process");
  EXPECT_FALSE(steps);
  EXPECT_EQ(made(vfork, 0, 1, steps), "process");
  EXPECT_EQ(made(fork, 0, 0, steps), "");
  EXPECT_EQ(made(fork, 0, -11, steps), "");
  for (const std::int64_t call : {clone, clone3}) {
    EXPECT_EQ(made(call, 17, 9, steps), "process") << call;
    EXPECT_FALSE(steps);
    EXPECT_EQ(made(call, clone_vm | clone_vfork | 17, 9, steps), "process") << call;
    EXPECT_FALSE(steps);
    EXPECT_EQ(made(call, clone_vm, 9, steps), "thread") << call;
    EXPECT_TRUE(steps) << "a thread would reach the breakpoint, too";
  }
  EXPECT_EQ(made(other, clone_vm, 9, steps), "");
}

// Breakpoints at the handlers that the program has named, and at the next instruction: rt_sigaction(signal,
// action, ...); an action begins with the handler, 0 and 1 are none.
TEST(StepEmulated, SignalHandlers) {
  constexpr std::int64_t rt_sigaction = 174;
  Machine machine;
  machine.words = {{0x3000, 0x5000}, {0x3008, 0x5100}, {0x3010, 0}, {0x3018, 1}, {0x3020, 2}};
  const std::uint64_t actions[] = {0x3000, 0x3008, 0x3010, 0x3018, 0x3000, 0, 0x9000, 0x3020};
  Watcher watcher;
  for (std::uint64_t i = 0; i < std::size(actions); ++i) watcher.calls[first_pc + 4 * i] = rt_sigaction;
  machine.registers[3] = actions[0];
  std::size_t count = 0;
  machine.before_resume = [&](const std::string& packet) {
    if (packet.starts_with("vCont;c")) machine.pc += 4;
    if (++count < std::size(actions)) machine.registers[3] = actions[count];
    if (packet.starts_with("vCont;C")) machine.pc = 0x5000;
  };
  for (std::size_t i = 0; i < std::size(actions); ++i) machine.stops.emplace_back("T05thread:p1.1;");
  machine.stops.emplace_back("T0athread:p1.1;"); // the next step: a signal
  machine.stops.emplace_back("T05thread:p1.1;"); // in the handler
  machine.stops.emplace_back("W00");
  EXPECT_TRUE(run(machine, watcher));
  EXPECT_EQ(machine.asked("vCont;C"), (Log{"vCont;C0a:p1.1"}));
  ASSERT_EQ(watcher.log.size(), 1 + std::size(actions) + 1 + 1 + 1 + 1);
  EXPECT_EQ(watcher.log[1 + std::size(actions) + 1], "signal 32");
  EXPECT_EQ(watcher.log[1 + std::size(actions) + 2], "step " + std::to_string(0x5000 - first_pc));
  // Those of the signal come after those of the calls.
  Log set = machine.asked("Z");
  ASSERT_GE(set.size(), std::size(actions));
  set.erase(set.begin(), set.begin() + std::size(actions));
  std::ranges::sort(set);
  EXPECT_EQ(set, (Log{"Z0,1020,4", "Z0,2,4", "Z0,5000,4", "Z0,5100,4"}));
  EXPECT_EQ(machine.asked("z").size(), std::size(actions) + 4);
}

// SIGTRAP that an instruction raises is no end of a step.
TEST(StepEmulated, Traps) {
  Machine machine;
  machine.stops = {"T05thread:p1.1;", "W00"};
  Watcher watcher;
  watcher.traps_at = first_pc;
  EXPECT_TRUE(run(machine, watcher));
  EXPECT_EQ(watcher.log, (Log{"program", "step 0", "signal 0", "ended"}));
  EXPECT_EQ(machine.asked("vCont"), (Log{"vCont;s:p1.1", "vCont;C05:p1.1"}));
}

// What stops other threads is passed on; they are not followed.
TEST(StepEmulated, OtherThreads) {
  Machine machine;
  machine.stops = {"T0bthread:p1.2;", "T05thread:p1.3;", "T05thread:p1.1;", "W00"};
  Watcher watcher;
  EXPECT_TRUE(run(machine, watcher));
  EXPECT_EQ(machine.asked("vCont"), (Log{"vCont;s:p1.1", "vCont;C0b:p1.2", "vCont;c:p1.3", "vCont;s:p1.1"}));
  EXPECT_EQ(watcher.log, (Log{"program", "step 0", "step 0", "ended"}));
}

// A program that is not followed any more gets its signals; traps without end are the emulator's fault.
TEST(StepEmulated, LeftAlone) {
  for (const std::size_t traps : {1, 1000, 1001}) {
    Machine machine;
    machine.stops = {"T05thread:p1.1;", "T0athread:p1.2;", "T0b"};
    for (std::size_t i = 0; i < traps; ++i) machine.stops.emplace_back("T05thread:p1.1;");
    machine.stops.emplace_back("W07");
    machine.status = 7;
    Watcher watcher;
    watcher.leave_at = first_pc;
    machine.before_resume = [&](const std::string&) { machine.pc += 4; };
    machine.stops.pop_front();
    const auto status = run(machine, watcher);
    EXPECT_EQ(status.has_value(), traps <= 1000) << traps;
    if (!status) {
      EXPECT_EQ(status.error().text(), "the emulator stops the program without end");
      continue;
    }
    EXPECT_EQ(WEXITSTATUS(*status), 7);
    const auto resumed = machine.asked("vCont");
    ASSERT_GE(resumed.size(), 4u);
    EXPECT_EQ(resumed[0], "vCont;c:p1.1");
    EXPECT_EQ(resumed[1], "vCont;C0a:p1.2");
    EXPECT_EQ(resumed[2], "vCont;C0b:p1.1") << "a stop without a thread is the first one's";
  }
}

// An emulator that goes after execve() has ended with the program; after anything else it has failed.
TEST(StepEmulated, ClosedConnections) {
  constexpr std::int64_t execve = 11, execveat = 354, other = 4;
  for (const std::int64_t call : {execve, execveat, other}) {
    Machine machine;
    machine.stops = {""};
    machine.status = 6;
    Watcher watcher;
    watcher.calls = {{first_pc, call}};
    const auto status = run(machine, watcher);
    EXPECT_EQ(status.has_value(), call != other);
    if (status) {
      EXPECT_EQ(WEXITSTATUS(*status), 6);
      EXPECT_EQ(watcher.log, (Log{"program", "step 0", "lost: the emulator does not follow execve()"}));
    } else {
      EXPECT_EQ(status.error().text(), "the connection was closed");
      EXPECT_EQ(watcher.log, (Log{"program", "step 0", "ended"}));
    }
  }
}

#ifdef __x86_64__ // on other machines, other programs need an emulator
// As execvp(3) finds a program: in the folders of PATH, the first one that can be executed; an empty one is
// the current folder.
TEST(StepEmulated, LooksUpPrograms) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "sframe-test-XXXXXX").string();
  ASSERT_TRUE(::mkdtemp(folder.data()));
  const auto program = test::inputs() / "s390x/v3-gas247-static";
  for (const char* name : {"/a", "/b", "/c"}) fs::create_directory(folder + name);
  fs::create_directory(folder + "/a/prog");
  std::ofstream(folder + "/b/prog") << "no program";
  fs::permissions(folder + "/b/prog", fs::perms::owner_read);
  fs::copy_file(program, folder + "/c/prog");
  fs::permissions(folder + "/c/prog", fs::perms::owner_all);
  const std::string old = std::getenv("PATH") ? std::getenv("PATH") : "";
  const auto with_path = [&](const std::string& path) {
    ::setenv("PATH", path.c_str(), 1);
    return find_emulator("prog").value_or("?");
  };
  const std::string a = folder + "/a", b = folder + "/b", c = folder + "/c";
  EXPECT_EQ(with_path(c), "qemu-s390x");
  EXPECT_EQ(with_path(c + ":"), "qemu-s390x");
  EXPECT_EQ(with_path(a + ":" + c + ":/bin"), "qemu-s390x");
  EXPECT_EQ(with_path("/does/not/exist:" + a + ":" + c), "qemu-s390x");
  if (::access((b + "/prog").c_str(), X_OK) != 0) {
    EXPECT_EQ(with_path(b + ":" + c), "qemu-s390x");
  }
  EXPECT_EQ(with_path(a + ":/does/not/exist"), "");
  const fs::path current = fs::current_path();
  fs::current_path(c);
  EXPECT_EQ(with_path(""), "qemu-s390x");
  EXPECT_EQ(with_path(":" + a), "qemu-s390x");
  EXPECT_EQ(with_path(a + "::/bin"), "qemu-s390x");
  fs::current_path(current);
  ::setenv("PATH", old.c_str(), 1);
  EXPECT_EQ(find_emulator(c + "/prog").value_or("?"), "qemu-s390x");
  fs::remove_all(folder);
}

TEST(StepEmulated, Programs) {
  Watcher watcher;
  EXPECT_EQ(step_emulated("emulator", {}, watcher).error().text(), "no program");
  EXPECT_FALSE(step_emulated("emulator", {"/does/not/exist"}, watcher));
  EXPECT_TRUE(watcher.log.empty());
  EXPECT_EQ(find_emulator((test::inputs() / "aarch64/v3-gas247-static").string()).value_or("?"),
            "qemu-aarch64");
  EXPECT_EQ(find_emulator((test::inputs() / "s390x/v3-gas247-static").string()).value_or("?"), "qemu-s390x");
  EXPECT_EQ(find_emulator("/proc/self/exe").value_or("?"), "");
  EXPECT_EQ(find_emulator("/does/not/exist").value_or("?"), "");
}

constexpr std::uint64_t code_at = 0x400078; ///< after the headers

class StepProgram : public test::LiveTest {
protected:
  void SetUp() override {
    LiveTest::SetUp();
    folder_ = (std::filesystem::temp_directory_path() / "sframe-test-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(folder_.data()));
    watcher_.base = code_at;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  /// The path of a program of these instructions.
  std::string program(const std::string& name, const std::vector<std::byte>& code) const {
    test::TestElf elf;
    elf.type = elf::et_exec;
    elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, code_at, code});
    auto bytes = elf.build();
    store<std::uint64_t>(bytes.data() + 24, code_at, ByteOrder::little); // e_entry
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  int run(const std::string& code) {
    const auto status = step_program({program("program", test::hex(code))}, watcher_);
    EXPECT_TRUE(status) << status.error().text();
    // An instruction that did nothing is announced again.
    for (Log* log : {&watcher_.log, &watcher_.others})
      log->erase(std::unique(log->begin(), log->end()), log->end());
    return status.value_or(-1);
  }

  std::string folder_;
  Watcher watcher_;
};

const std::string exit_7 = "b8 3c 00 00 00 bf 07 00 00 00 0f 05"; // mov $60, %eax; mov $7, %edi; syscall

TEST_F(StepProgram, ToTheEnd) {
  const int status = run(exit_7);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 5", "step 10", "ended"}));
  EXPECT_TRUE(watcher_.others.empty());
}

// The memory is the program's, as it is now: push $0x55, then exit.
TEST_F(StepProgram, Memory) {
  struct Reader final : StepObserver {
    void program(std::uint32_t, std::unique_ptr<SteppedSpace> made) override {
      space = std::move(made);
      EXPECT_TRUE(space->files().refresh());
    }
    void lost(std::uint32_t, const std::string&) override {}
    void thread(std::uint32_t, std::uint32_t, std::unique_ptr<SteppedSpace>) override {}
    void not_followed(std::uint32_t, bool) override {}
    StepAnswer step(std::uint32_t, const Registers& now) override {
      std::array<std::byte, 8> bytes{};
      EXPECT_EQ(space->read(now.values[7], bytes), bytes.size());
      words.push_back(load<std::uint64_t>(bytes.data(), ByteOrder::little));
      EXPECT_TRUE(space->is_code(now.pc));
      EXPECT_FALSE(space->is_code(now.values[7]));
      return {};
    }
    void signal(std::uint32_t, const Registers&) override {}
    void ended(std::uint32_t) override {}
    std::unique_ptr<SteppedSpace> space;
    std::vector<std::uint64_t> words;
  } reader;
  ASSERT_TRUE(step_program({program("program", test::hex("6a 55" + exit_7))}, reader));
  ASSERT_GE(reader.words.size(), 2u);
  EXPECT_EQ(reader.words[0], 1u) << "the number of arguments";
  EXPECT_EQ(reader.words[1], 0x55u);
}

// A breakpoint instruction, and SIGTRAP from a process, are no ends of steps.
TEST_F(StepProgram, Signals) {
  int status = run("90 cc");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
  EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 1", "signal 2", "ended"}));
  watcher_.log.clear();
  status = run("90 0f 0b"); // ud2
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
  EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 1", "signal 1", "ended"}));
  for (const auto& [number, signal] : {std::pair{"05", SIGTRAP}, {"0a", SIGUSR1}}) {
    watcher_.log.clear();
    // getpid(); mov %eax, %edi; mov $signal, %esi; kill()
    status = run("b8 27 00 00 00 0f 05 89 c7 be " + std::string(number) + " 00 00 00 b8 3e 00 00 00 0f 05");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    std::erase(watcher_.log, "step 21"); // it may have been announced
    EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 5", "step 7", "step 9", "step 14", "step 19",
                                 "signal 21", "ended"}));
  }
}

TEST_F(StepProgram, Processes) {
  // fork(); test %eax, %eax; exit(7)
  const int status = run("b8 39 00 00 00 0f 05 85 c0" + exit_7);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  // SIGCHLD may come at any time.
  std::erase_if(watcher_.log, [](const std::string& line) { return line.starts_with("signal"); });
  watcher_.log.erase(std::unique(watcher_.log.begin(), watcher_.log.end()), watcher_.log.end());
  EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 5", "made a process", "step 7", "step 9", "step 14",
                               "step 19", "ended"}));
  EXPECT_EQ(watcher_.others, (Log{"step 7", "step 9", "step 14", "step 19", "ended"}));
}

// A process that executes another program is the same one with new memory.
TEST_F(StepProgram, AnotherProgram) {
  test::Writer code; // lea 11(%rip), %rdi; xor %esi, %esi; xor %edx, %edx; execve()
  code.append(test::hex("48 8d 3d 0b 00 00 00 31 f6 31 d2 b8 3b 00 00 00 0f 05"))
      .text(program("second", test::hex(exit_7)));
  code.zeros(1);
  const auto status = step_program({program("first", code.bytes)}, watcher_);
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(WEXITSTATUS(*status), 7);
  const auto again = std::find(watcher_.log.begin() + 1, watcher_.log.end(), "program");
  ASSERT_NE(again, watcher_.log.end());
  EXPECT_EQ(*(again - 1), "step 16");
  EXPECT_EQ(Log(again, watcher_.log.end()), (Log{"program", "step 0", "step 5", "step 10", "ended"}));
}

// The processor's flag for steps, which pushf and popf make the program's own, does not end a program that is
// let go. Its signals are its own, too.
TEST_F(StepProgram, LeftAlone) {
  watcher_.leave_at = code_at + 2;
  int status = run("9c 9d" + exit_7);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(watcher_.log, (Log{"program", "step 0", "step 1", "step 2", "ended"}));
  watcher_.log.clear();
  status = run("90 90 0f 0b");
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
}

// All processes are let go with the one that is.
TEST_F(StepProgram, AllLeftAlone) {
  watcher_.leave_at = code_at + 7;
  const int status = run("b8 39 00 00 00 0f 05 85 c0" + exit_7); // fork(); test %eax, %eax; exit(7)
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  EXPECT_EQ(std::ranges::count(watcher_.log, "step 7") + std::ranges::count(watcher_.others, "step 7"), 1);
}

TEST_F(StepProgram, ThatCannotBeStarted) {
  const std::size_t before = descriptors();
  EXPECT_EQ(step_program({}, watcher_).error().text(), "no program");
  EXPECT_EQ(step_program({folder_ + "/none"}, watcher_).error().text(),
            "cannot be started: No such file or directory");
  const std::string path = folder_ + "/text";
  std::ofstream(path) << "text";
  EXPECT_EQ(step_program({path}, watcher_).error().text(), "cannot be started: Permission denied");
  EXPECT_EQ(descriptors(), before);
  EXPECT_TRUE(watcher_.log.empty());
}
#endif

} // namespace process_emulator_test
