// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LiveProcess alone: what it reads of a stopped process, and the state in which it leaves it.

#include "live_target.h"

#include "sframe/process/live_process.h"
#include "sframe/steppers/steppers.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/ptrace.h>
#include <unistd.h>

namespace process_live_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::process;
using namespace sframe::steppers;
using namespace sframe::unwind;
using test::Target;

using ProcessLive = test::LiveTest;

std::unique_ptr<LiveProcess> attach(const Target& target) {
  auto process = LiveProcess::attach(target.pid(), {});
  EXPECT_TRUE(process.has_value()) << process.error().text();
  return process ? std::move(*process) : nullptr;
}

std::string refusal(std::uint32_t pid) {
  const auto process = LiveProcess::attach(pid, {});
  return process ? "" : process.error().text();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TEST_F(ProcessLive, StopsAndResumesAllThreads) {
  Target target;
  const auto process = attach(target);
  EXPECT_TRUE(target.is_untraced());
  ASSERT_TRUE(process->stop());
  EXPECT_TRUE(process->stopped());
  ASSERT_EQ(process->threads().size(), 2u);
  for (const std::uint32_t tid : target.threads()) EXPECT_EQ(target.state(tid), 't');
  EXPECT_TRUE(process->unstopped().empty());
  process->resume();
  EXPECT_FALSE(process->stopped());
  EXPECT_TRUE(target.is_untraced());
  EXPECT_TRUE(target.act('-'));
}

TEST_F(ProcessLive, StopsOneThreadOnly) {
  Target target;
  const auto process = attach(target);
  ASSERT_TRUE(process->stop(target.worker()));
  ASSERT_EQ(process->threads().size(), 1u);
  EXPECT_EQ(process->threads()[0].tid, target.worker());
  EXPECT_EQ(process->threads()[0].name, "worker");
  EXPECT_TRUE(target.act('-')) << "the main thread runs";
  process->resume();
  target.ask_worker();
  EXPECT_TRUE(target.worker_done());
}

TEST_F(ProcessLive, RefusesUnknownThreads) {
  const Target target;
  const auto process = attach(target);
  const auto stopped = process->stop(1);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().text(), "no thread 1");
  EXPECT_FALSE(process->stopped());
  EXPECT_TRUE(target.is_untraced());
}

TEST_F(ProcessLive, FindsTheFunctionsOfEachThread) {
  const Target target;
  const auto process = attach(target);
  ASSERT_TRUE(process->stop());
  const auto main_stack = test::stack_of(*process, target.pid());
  EXPECT_TRUE(contains(main_stack, "answer") && contains(main_stack, "main"))
      << testing::PrintToString(main_stack);
  const auto worker_stack = test::stack_of(*process, target.worker());
  EXPECT_TRUE(contains(worker_stack, "answer") && contains(worker_stack, "worker"))
      << testing::PrintToString(worker_stack);
  EXPECT_FALSE(contains(worker_stack, "main"));
}

TEST_F(ProcessLive, ReadsMemory) {
  Target target;
  const std::uint64_t address = target.known_word_address();
  const auto process = attach(target);
  ASSERT_TRUE(process->stop());
  Memory memory(process->space());
  EXPECT_EQ(memory.word(address), 0x1122334455667788u); // what live_target.c has
  EXPECT_FALSE(memory.word(0));
  EXPECT_FALSE(process->space().is_code(address));
  ASSERT_TRUE(process->space().main_module());
  EXPECT_EQ(process->space().module_at(address), process->space().main_module());
  EXPECT_EQ(process->space().main_module()->name(), "sframe-test-live-target");
}

TEST_F(ProcessLive, OneWalkerServesManyStops) {
  Target target;
  const auto process = attach(target);
  const auto new_walker = [&] {
    LiveSpace& space = process->space();
    return Walker(space, default_steppers(space.abi(), space.main_module()));
  };
  ASSERT_TRUE(process->stop());
  Walker kept = new_walker();
  for (const char letter : {'-', 't', 's', 'e', '-'}) {
    Walker fresh = new_walker();
    EXPECT_EQ(test::walk_all(*process, kept), test::walk_all(*process, fresh));
    process->resume();
    ASSERT_TRUE(target.act(letter));
    ASSERT_TRUE(process->stop());
    kept.forget_memory();
  }
}

/// What one stop has used up is there again at the next.
TEST_F(ProcessLive, EachStopRefillsTheBudget) {
  Target target;
  FileOptions files;
  files.budget = std::make_shared<Budget>(Limits::standard, 0);
  const auto process = LiveProcess::attach(target.pid(), files);
  ASSERT_TRUE(process);
  LiveSpace& space = (*process)->space();
  ASSERT_TRUE((*process)->stop());
  Walker walker(space, default_steppers(space.abi(), space.main_module()));
  const std::size_t all = test::walk_all(**process, walker).size();
  EXPECT_FALSE(files.budget->take(Resource::frames, ~std::uint64_t{0}));
  walker.forget_memory();
  EXPECT_LT(test::walk_all(**process, walker).size(), all);
  EXPECT_TRUE(files.budget->problem());
  (*process)->resume();
  ASSERT_TRUE((*process)->stop());
  EXPECT_FALSE(files.budget->problem());
  walker.forget_memory();
  EXPECT_EQ(test::walk_all(**process, walker).size(), all);
  // By the memory that it has: a frame for 4 bytes, and some megabytes at least.
  EXPECT_TRUE(files.budget->take(Resource::frames, 200'000));
}

TEST_F(ProcessLive, CountsChangesOfTheMappings) {
  Target target;
  const auto process = attach(target);
  const auto generation = [&] {
    EXPECT_TRUE(process->stop());
    process->resume();
    return process->space().generation();
  };
  const auto has_library = [&] {
    return std::ranges::any_of(process->modules(),
                               [](const Module& module) { return module.name() == "libresolv.so.2"; });
  };
  const std::uint64_t first = generation();
  EXPECT_EQ(generation(), first);
  EXPECT_FALSE(has_library());
  ASSERT_TRUE(target.act('l'));
  EXPECT_EQ(generation(), first + 1);
  EXPECT_TRUE(has_library());
  ASSERT_TRUE(target.act('u'));
  EXPECT_EQ(generation(), first + 2);
}

/// What a module has seen of memory stays where it is when the mappings change: the vdso, deleted files, and
/// here all of them.
TEST_F(ProcessLive, ModulesKeepReadMemory) {
  Target target;
  auto attached = LiveProcess::attach(target.pid(), {.open_files = false});
  ASSERT_TRUE(attached.has_value()) << attached.error().text();
  LiveProcess& process = **attached;
  ASSERT_TRUE(process.stop());
  struct Seen {
    Module* module;
    std::vector<std::byte> bytes;
  };
  std::vector<Seen> seen;
  for (Module& module : process.modules())
    if (const elf::Image* image = module.image()) {
      module.tables();
      seen.push_back({&module, {image->bytes().begin(), image->bytes().end()}});
    }
  ASSERT_TRUE(std::ranges::any_of(seen, [](const Seen& one) { return one.module->info().vdso; }));
  ASSERT_GE(seen.size(), 3u) << "the vdso, the program, the C library";
  process.resume();

  const std::uint64_t before = process.space().generation();
  ASSERT_TRUE(target.act('l')); // a library is loaded: the list of mappings changes
  ASSERT_TRUE(process.stop());
  ASSERT_GT(process.space().generation(), before);
  // What had been given back would be taken again by these.
  std::vector<std::vector<std::byte>> others;
  for (const Seen& one : seen)
    for (int i = 0; i < 8; ++i) others.emplace_back(one.bytes.size(), std::byte{0xff});
  for (const Seen& one : seen)
    EXPECT_TRUE(std::ranges::equal(one.module->image()->bytes(), one.bytes)) << one.module->info().path;
  EXPECT_GT(test::stack_of(process, target.pid()).size(), 2u) << "by their tables";
}

TEST_F(ProcessLive, ExecByEitherThread) {
  for (const char how : {'x', 'X'}) {
    Target target;
    const auto process = attach(target);
    ASSERT_TRUE(process->stop());
    process->resume();
    const std::uint64_t before = process->space().generation();
    target.ask(how);
    ASSERT_TRUE(target.act('-'));
    ASSERT_TRUE(test::eventually([&] { return target.worker() != 0; }));
    ASSERT_TRUE(process->stop());
    EXPECT_GT(process->space().generation(), before);
    EXPECT_EQ(process->threads().size(), 2u);
    EXPECT_TRUE(contains(test::stack_of(*process, target.pid()), "main"));
  }
}

TEST_F(ProcessLive, LeaderHasEnded) {
  Target target;
  const auto process = attach(target);
  target.ask('p');
  ASSERT_TRUE(target.comes_to(target.pid(), 'Z'));
  ASSERT_TRUE(process->stop());
  ASSERT_EQ(process->threads().size(), 1u);
  EXPECT_TRUE(contains(test::stack_of(*process, target.worker()), "worker"));
  EXPECT_FALSE(process->is_terminated());
}

TEST_F(ProcessLive, LeavesOutAThreadThatCannotBeStopped) {
  Target target;
  const auto process = attach(target);
  target.ask('b');
  ASSERT_TRUE(target.comes_to(target.pid(), 'D'));
  ASSERT_TRUE(process->stop());
  ASSERT_EQ(process->unstopped().size(), 1u);
  EXPECT_EQ(process->unstopped()[0], target.pid());
  ASSERT_EQ(process->threads().size(), 1u);
  EXPECT_EQ(process->threads()[0].tid, target.worker());
  process->resume();
  const auto alone = process->stop(target.pid());
  ASSERT_FALSE(alone);
  EXPECT_TRUE(alone.error().text().starts_with("no thread can be walked: ")) << alone.error().text();
  EXPECT_TRUE(target.act('-')) << "which the child reads";
}

/// The second that a stop waits is one for the whole process, which is held meanwhile.
TEST_F(ProcessLive, OneTimeoutForAllUnstoppableThreads) {
  Target target;
  const auto process = attach(target);
  ASSERT_TRUE(target.act('B'));
  const auto stuck = [&] {
    return std::ranges::count_if(target.threads(), [&](auto tid) { return target.state(tid) == 'D'; });
  };
  ASSERT_TRUE(test::eventually([&] { return stuck() == 6; }));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(process->stop());
  // One after the other they would take six seconds at least.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6));
  EXPECT_EQ(process->unstopped().size(), 6u);
  EXPECT_EQ(process->threads().size(), 2u);
}

TEST_F(ProcessLive, LeavesAStoppedProcessStopped) {
  Target target;
  const auto process = attach(target);
  target.kill(SIGSTOP);
  ASSERT_TRUE(target.comes_to(target.pid(), 'T') && target.comes_to(target.worker(), 'T'));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(test::sample(*process));
  EXPECT_TRUE(target.comes_to(target.pid(), 'T') && target.comes_to(target.worker(), 'T'));
  EXPECT_TRUE(target.is_untraced());
  target.kill(SIGCONT);
  EXPECT_TRUE(target.act('-'));
}

TEST_F(ProcessLive, DeliversSignalsThatCameWhileItWasStopped) {
  Target target;
  const auto process = attach(target);
  ASSERT_TRUE(process->stop());
  target.kill(SIGTERM);
  EXPECT_EQ(target.state(target.pid()), 't');
  process->resume();
  EXPECT_TRUE(target.comes_to(target.pid(), 'Z'));
}

TEST_F(ProcessLive, ReportsExit) {
  Target target;
  const auto process = attach(target);
  EXPECT_FALSE(process->is_terminated());
  target.ask('q');
  pollfd ended{process->exit_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
  EXPECT_TRUE(process->is_terminated());
  const auto stopped = process->stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().text(), "process has exited");
}

TEST_F(ProcessLive, KilledWhileStopped) {
  Target target;
  const auto process = attach(target);
  ASSERT_TRUE(process->stop());
  target.kill(SIGKILL);
  test::stack_of(*process, target.pid()); // whatever it finds
  process->resume();
  EXPECT_TRUE(test::eventually([&] { return process->is_terminated(); }));
  EXPECT_FALSE(process->stop());
}

TEST_F(ProcessLive, RefusesUnsupportedProcesses) {
  EXPECT_EQ(refusal(0x7fffffff), "no such process");
  EXPECT_EQ(refusal(static_cast<std::uint32_t>(::getpid())), "a process cannot trace itself");
  const Target target;
  EXPECT_EQ(refusal(target.worker()), "this is a thread ID; its process is " + std::to_string(target.pid()));
  target.kill(SIGKILL);
  ASSERT_TRUE(target.comes_to(target.pid(), 'Z'));
  ASSERT_TRUE(test::eventually([&] { return target.threads().size() == 1; }));
  EXPECT_TRUE(refusal(target.pid()).starts_with("zombie: ")) << refusal(target.pid());
}

TEST_F(ProcessLive, RefusesTraced) {
  const Target target;
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, target.pid(), 0, 0), 0);
  const std::string us = "already traced by process " + std::to_string(::gettid());
  EXPECT_TRUE(refusal(target.pid()).starts_with(us)) << refusal(target.pid());
}

TEST_F(ProcessLive, SeesTheTracerOfAnAttachedProcess) {
  const Target target;
  const auto process = attach(target);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, target.pid(), 0, 0), 0);
  const auto stopped = process->stop();
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().text().starts_with("already traced by process")) << stopped.error().text();
}

} // namespace process_live_test
