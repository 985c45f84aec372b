// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live_target.h"

#include "sframe/base/retry.h"
#include "sframe/modules/symbols.h"
#include "sframe/steppers/steppers.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sframe::test {

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    // Above 4, since 0, 1, 3 and 4 are the target's.
    read = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    write = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int read, write;
};

void send(int fd, char letter) {
  ASSERT_EQ(::write(fd, &letter, 1), 1);
}

bool receive(int fd, int milliseconds) {
  pollfd ready{fd, POLLIN, 0};
  char letter;
  return retry([&] { return ::poll(&ready, 1, milliseconds); }) == 1 &&
         retry([&] { return ::read(fd, &letter, 1); }) == 1;
}

std::string status_value(std::uint32_t pid, std::uint32_t tid, const std::string& key) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":\t")) return line.substr(key.size() + 2);
  return {};
}

} // namespace

Target::Target() {
  const Pipe in, out, worker_in, worker_out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, worker_in.read, 3);
  posix_spawn_file_actions_adddup2(&actions, worker_out.write, 4);
  std::string program = SFRAME_TEST_LIVE_TARGET;
  char* arguments[] = {program.data(), nullptr};
  if (::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, environ) != 0) std::abort();
  posix_spawn_file_actions_destroy(&actions);
  for (const int fd : {in.read, out.write, worker_in.read, worker_out.write}) ::close(fd);
  in_ = in.write, out_ = out.read, worker_in_ = worker_in.write, worker_out_ = worker_out.read;
  ask_worker();
  EXPECT_TRUE(act('-') && worker_done());
}

Target::~Target() {
  kill(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  for (const int fd : {in_, out_, worker_in_, worker_out_}) ::close(fd);
}

std::uint32_t Target::worker() const {
  const auto tids = threads();
  const auto named = std::ranges::find_if(
      tids, [&](std::uint32_t tid) { return status_value(pid(), tid, "Name") == "worker"; });
  return named == tids.end() ? 0 : *named;
}

bool Target::act(char letter) {
  ask(letter);
  return done();
}

void Target::ask(char letter) {
  send(in_, letter);
}

bool Target::done() {
  return receive(out_, patience);
}

void Target::ask_worker() {
  send(worker_in_, 'w');
}

bool Target::worker_done(int milliseconds) {
  return receive(worker_out_, milliseconds);
}

std::uint64_t Target::known_word_address() {
  ask('a');
  std::uint64_t address = 0;
  EXPECT_EQ(::read(out_, &address, sizeof address), ssize_t{sizeof address});
  EXPECT_TRUE(done());
  return address;
}

void Target::kill(int signal) const {
  ::kill(pid_, signal);
}

char Target::state(std::uint32_t tid) const {
  return status_value(pid(), tid, "State").c_str()[0];
}

bool Target::comes_to(std::uint32_t tid, char wanted) const {
  return eventually([&] { return state(tid) == wanted; });
}

std::vector<std::uint32_t> Target::threads() const {
  std::vector<std::uint32_t> tids;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error))
    tids.push_back(static_cast<std::uint32_t>(std::stoul(entry.path().filename().string())));
  return tids;
}

bool Target::is_untraced() const {
  return std::ranges::all_of(threads(), [&](std::uint32_t tid) {
    const std::string tracer = status_value(pid(), tid, "TracerPid");
    return tracer.empty() || tracer == "0";
  });
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

namespace {

struct Collector final : unwind::FrameReceiver {
  explicit Collector(modules::ModuleSpace& space) : space(space) {}
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    modules::Module* module = space.module_at(frame.pc);
    const auto name =
        module ? modules::ElfSymbols().find(*module, frame.lookup_pc(), frame.pc) : std::nullopt;
    names.push_back(name ? name->name : "?");
    return true;
  }
  modules::ModuleSpace& space;
  std::vector<std::string> names;
};

struct Pcs final : unwind::FrameReceiver {
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    pcs.push_back(frame.pc);
    return true;
  }
  std::vector<std::uint64_t> pcs;
};

unwind::Walker walker_for(process::LiveProcess& process) {
  process::LiveSpace& space = process.space();
  return unwind::Walker(space, steppers::default_steppers(space.abi(), space.main_module()));
}

} // namespace

std::vector<std::string> stack_of(process::LiveProcess& process, std::uint32_t tid) {
  Collector collector(process.space());
  const auto thread = std::ranges::find(process.threads(), tid, &process::Thread::tid);
  if (thread != process.threads().end()) walker_for(process).walk(thread->registers, collector);
  return collector.names;
}

std::vector<std::uint64_t> walk_all(process::LiveProcess& process, unwind::Walker& walker) {
  Pcs found;
  for (const process::Thread& thread : process.threads()) walker.walk(thread.registers, found);
  return found.pcs;
}

Result<std::size_t> sample(process::LiveProcess& process) {
  if (const auto stopped = process.stop(); !stopped) return unexpected(stopped.error());
  unwind::Walker walker = walker_for(process);
  const std::size_t frames = walk_all(process, walker).size();
  process.resume();
  return frames;
}

bool can_trace() {
  static const bool can = [] {
    const Target target;
    const auto pid = static_cast<pid_t>(target.pid());
    if (::ptrace(PTRACE_SEIZE, pid, 0, 0) != 0) return false;
    ::ptrace(PTRACE_INTERRUPT, pid, 0, 0);
    ::waitpid(pid, nullptr, __WALL);
    ::ptrace(PTRACE_DETACH, pid, 0, 0);
    return true;
  }();
  return can;
}

} // namespace sframe::test
