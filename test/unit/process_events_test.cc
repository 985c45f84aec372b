// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ProcessMonitor: every kind of event, pausing, and the state of the processes afterwards.

#include "live_target.h"

#include "sframe/process/process_monitor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <poll.h>
#include <pthread.h>
#include <set>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace process_events_test {

/// What a test does before a thread of the library gets a signal; false: it shall get none.
std::function<bool()> before_pthread_kill;
std::atomic<bool> watch_pthread_kill = false;

// The library's calls come here.
extern "C" int pthread_kill(pthread_t thread, int signal) noexcept {
  using Kill = int (*)(pthread_t, int);
  static const auto next = reinterpret_cast<Kill>(::dlsym(RTLD_NEXT, "pthread_kill"));
  if (watch_pthread_kill && !before_pthread_kill()) return 0;
  return next(thread, signal);
}

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::process;
using test::Target;
using Kind = DebugEvent::Kind;
using Events = std::vector<DebugEvent>;

/// A monitor and its events so far.
class ProcessEvents : public test::LiveTest {
protected:
  void SetUp() override {
    test::LiveTest::SetUp();
    if (!IsSkipped()) open({});
  }
  void open(MonitorOptions options) {
    auto created = ProcessMonitor::create(options);
    ASSERT_TRUE(created) << created.error().text();
    monitor = std::move(*created);
  }
  std::unique_ptr<LiveProcess> attach(std::uint32_t pid) {
    auto process = monitor->attach(pid, {});
    EXPECT_TRUE(process.has_value()) << process.error().text();
    return process ? std::move(*process) : nullptr;
  }
  /// Handles events until there was one for which `wanted` is true, which is returned; Kind::lost if none
  /// comes.
  DebugEvent wait_for(const std::function<bool(const DebugEvent&)>& wanted) {
    for (;;) {
      const Events added = monitor->handle_events();
      events.insert(events.end(), added.begin(), added.end());
      const auto found = std::ranges::find_if(events, wanted);
      if (found != events.end()) return *found;
      pollfd happened{monitor->notification_fd(), POLLIN, 0};
      if (::poll(&happened, 1, 20'000) != 1) return {.kind = Kind::lost};
    }
  }
  DebugEvent wait_for(Kind kind) {
    return wait_for([kind](const DebugEvent& event) { return event.kind == kind; });
  }
  bool readable() const {
    pollfd happened{monitor->notification_fd(), POLLIN, 0};
    return ::poll(&happened, 1, 0) == 1;
  }
  long count(Kind kind) const { return std::ranges::count(events, kind, &DebugEvent::kind); }

  std::unique_ptr<ProcessMonitor> monitor;
  Events events;
};

TEST_F(ProcessEvents, AttachDoesNotInterrupt) {
  Target target;
  const auto process = attach(target.pid());
  EXPECT_FALSE(target.is_untraced());
  EXPECT_TRUE(target.act('-'));
  EXPECT_FALSE(readable());
  EXPECT_TRUE(monitor->handle_events().empty());
}

TEST_F(ProcessEvents, ThreadsStartAndEnd) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('t'));
  const DebugEvent started = wait_for(Kind::thread_started);
  EXPECT_EQ(started.pid, target.pid());
  EXPECT_TRUE(started.tid != target.pid() && started.tid != target.worker());
  const auto tids = target.threads();
  EXPECT_NE(std::ranges::find(tids, started.tid), tids.end());
  ASSERT_TRUE(target.act('e'));
  EXPECT_EQ(wait_for(Kind::thread_ended).tid, started.tid);
}

TEST_F(ProcessEvents, TargetRunsWhileEventsAreNotRead) {
  Target target;
  const auto process = attach(target.pid());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(target.act('t') && target.act('e') && target.act('s'));
  EXPECT_TRUE(readable());
  wait_for([&](const DebugEvent&) { return count(Kind::thread_ended) == 100; });
  EXPECT_EQ(count(Kind::thread_started), 100);
  EXPECT_EQ(count(Kind::signal), 100);
  EXPECT_EQ(count(Kind::lost), 0);
}

TEST_F(ProcessEvents, QueueIsBounded) {
  Target target;
  const auto process = attach(target.pid());
  constexpr std::size_t capacity = 16'384, more = 100;
  for (std::size_t i = 0; i < capacity + more; ++i) ASSERT_TRUE(target.act('s'));
  const Events all = monitor->handle_events();
  ASSERT_EQ(all.size(), capacity + 1);
  EXPECT_EQ(all.back().kind, Kind::lost);
  EXPECT_EQ(all.back().count, more);
  EXPECT_FALSE(readable());
}

TEST_F(ProcessEvents, ForksAreReportedAndReleased) {
  for (const char how : {'f', 'v'}) {
    Target target;
    const auto process = attach(target.pid());
    ASSERT_TRUE(target.act(how)); // which waits for the child's end
    const DebugEvent forked =
        wait_for([&](const auto& event) { return event.kind == Kind::forked && event.pid == target.pid(); });
    EXPECT_EQ(forked.tid, target.pid());
    EXPECT_GT(forked.child, 0u);
    EXPECT_EQ(monitor->detach(forked.child).error().text(), "process is not monitored");
    for (const DebugEvent& event : events) EXPECT_NE(event.pid, forked.child) << "its end is not reported";
  }
}

TEST_F(ProcessEvents, FollowsForksOnRequest) {
  open({.follow_forks = true});
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('f'));
  const std::uint32_t child = wait_for(Kind::forked).child;
  const DebugEvent exited = wait_for(Kind::exited);
  EXPECT_EQ(exited.pid, child);
  EXPECT_EQ(exited.exit_code, 0);
}

TEST_F(ProcessEvents, ExecByEitherThread) {
  for (const char how : {'x', 'X'}) {
    Target target;
    const auto process = attach(target.pid());
    ASSERT_TRUE(target.act('t')); // one more, which the exec ends
    ASSERT_TRUE(test::sample(*process));
    EXPECT_EQ(process->threads().size(), 3u);
    const std::uint64_t before = process->space().generation();
    target.ask(how);
    ASSERT_TRUE(target.act('-'));
    const DebugEvent exec =
        wait_for([&](const auto& event) { return event.kind == Kind::exec && event.pid == target.pid(); });
    EXPECT_EQ(exec.tid == target.pid(), how == 'x') << "the thread that called it";
    ASSERT_TRUE(test::eventually([&] { return target.worker() != 0; }));
    ASSERT_TRUE(process->stop());
    EXPECT_GT(process->space().generation(), before);
    EXPECT_EQ(process->threads().size(), 2u);
    const auto stack = test::stack_of(*process, target.pid());
    EXPECT_NE(std::ranges::find(stack, "main"), stack.end());
  }
}

TEST_F(ProcessEvents, SignalsAreReportedAndDelivered) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('s')); // its handler has run
  const DebugEvent signal = wait_for(Kind::signal);
  EXPECT_EQ(signal.signal, SIGUSR1);
  EXPECT_EQ(signal.tid, target.pid());
  target.kill(SIGTERM);
  const DebugEvent exited = wait_for(Kind::exited);
  EXPECT_EQ(exited.signal, SIGTERM);
  EXPECT_TRUE(process->is_terminated());
}

TEST_F(ProcessEvents, GroupStopAndContinue) {
  Target target;
  const auto process = attach(target.pid());
  for (int i = 0; i < 3; ++i) {
    target.kill(SIGSTOP);
    ASSERT_TRUE(test::eventually([&] { // traced threads that are stopped so show as 't'
      return target.state(target.pid()) == 't' && target.state(target.worker()) == 't';
    }));
    ASSERT_TRUE(test::sample(*process));
    target.ask_worker();
    EXPECT_FALSE(target.worker_done(50)) << "a walk does not end SIGSTOP";
    target.kill(SIGCONT);
    EXPECT_TRUE(target.worker_done());
    EXPECT_TRUE(target.act('-'));
  }
}

TEST_F(ProcessEvents, DetachLeavesAStoppedProcessStopped) {
  Target target;
  auto process = attach(target.pid());
  target.kill(SIGSTOP);
  ASSERT_TRUE(target.comes_to(target.worker(), 't'));
  process.reset();
  EXPECT_TRUE(target.is_untraced());
  EXPECT_TRUE(target.comes_to(target.pid(), 'T') && target.comes_to(target.worker(), 'T'));
  target.kill(SIGCONT);
  EXPECT_TRUE(target.act('-'));
}

TEST_F(ProcessEvents, LibrariesAreComparedWhenEventsAreHandled) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('l'));
  const DebugEvent loaded = wait_for(Kind::library_loaded);
  EXPECT_TRUE(loaded.path.ends_with("/libresolv.so.2")) << loaded.path;
  ASSERT_TRUE(process->stop());
  const Module* module = process->space().module_at(loaded.address);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->info().start, loaded.address);
  process->resume();
  EXPECT_TRUE(readable()) << "the walk has met new mappings";
  ASSERT_TRUE(target.act('u'));
  const DebugEvent unloaded = wait_for(Kind::library_unloaded);
  EXPECT_EQ(unloaded.path, loaded.path);
  EXPECT_EQ(unloaded.address, loaded.address);
  EXPECT_EQ(count(Kind::library_loaded), 1);
}

TEST_F(ProcessEvents, ExitIsReportedWithCode) {
  Target target;
  const auto process = attach(target.pid());
  target.ask('q'); // exits with 7
  const DebugEvent exited = wait_for(Kind::exited);
  EXPECT_EQ(exited.pid, target.pid());
  EXPECT_EQ(exited.exit_code, 7);
  EXPECT_EQ(exited.signal, 0);
  EXPECT_TRUE(process->is_terminated());
  EXPECT_EQ(process->stop().error().text(), "process has exited");
  EXPECT_TRUE(monitor->handle_events(true).empty()) << "nothing left to wait for";
}

TEST_F(ProcessEvents, BlockingWaitsForAnEvent) {
  Target target;
  const auto process = attach(target.pid());
  Events taken;
  std::thread waiting([&] { taken = monitor->handle_events(true); });
  EXPECT_TRUE(target.act('s'));
  waiting.join();
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(taken[0].kind, Kind::signal);
}

TEST_F(ProcessEvents, PausesOneThread) {
  Target target;
  const auto process = attach(target.pid());
  const std::uint32_t worker = target.worker();
  ASSERT_TRUE(monitor->pause(target.pid(), worker));
  EXPECT_EQ(target.state(worker), 't');
  EXPECT_TRUE(target.act('-')) << "the other one runs";
  target.ask_worker();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(test::sample(*process)) << "a walk leaves it paused";
  EXPECT_EQ(target.state(worker), 't');
  EXPECT_FALSE(target.worker_done(50));
  EXPECT_TRUE(target.act('-'));
  ASSERT_TRUE(monitor->resume(target.pid(), worker));
  EXPECT_TRUE(target.worker_done());
  EXPECT_EQ(monitor->resume(target.pid(), worker).error().text(), "no such paused thread");
  EXPECT_EQ(monitor->pause(target.pid(), 1).error().text(), "no such thread");
}

TEST_F(ProcessEvents, PausesAllThreads) {
  Target target;
  const auto process = attach(target.pid());
  EXPECT_EQ(monitor->resume(target.pid()).error().text(), "no such paused thread");
  ASSERT_TRUE(monitor->pause(target.pid()));
  for (const std::uint32_t tid : target.threads()) EXPECT_EQ(target.state(tid), 't');
  target.ask('-');
  ASSERT_TRUE(process->stop());
  EXPECT_EQ(process->threads().size(), 2u);
  process->resume();
  for (const std::uint32_t tid : target.threads()) EXPECT_EQ(target.state(tid), 't');
  ASSERT_TRUE(monitor->resume(target.pid()));
  EXPECT_TRUE(target.done());
}

TEST_F(ProcessEvents, PausesAllThreadsOrNone) {
  Target target;
  const auto process = attach(target.pid());
  target.ask('b');
  ASSERT_TRUE(target.comes_to(target.pid(), 'D'));
  EXPECT_EQ(monitor->pause(target.pid()).error().text(), "a thread did not stop in time");
  target.ask_worker();
  EXPECT_TRUE(target.worker_done());
  EXPECT_TRUE(target.act('-')) << "which the child reads";
  EXPECT_TRUE(target.act('-')) << "and now it does";
}

TEST_F(ProcessEvents, ASignalWaitsForAPausedThread) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(monitor->pause(target.pid()));
  target.kill(SIGTERM);
  EXPECT_EQ(target.state(target.pid()), 't');
  ASSERT_TRUE(monitor->resume(target.pid()));
  EXPECT_EQ(wait_for(Kind::exited).signal, SIGTERM);
}

TEST_F(ProcessEvents, DetachEndsMonitoring) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(monitor->pause(target.pid()));
  ASSERT_TRUE(process->stop());
  ASSERT_TRUE(monitor->detach(target.pid()));
  EXPECT_TRUE(target.is_untraced());
  EXPECT_TRUE(target.act('-'));
  EXPECT_EQ(wait_for(Kind::detached).pid, target.pid());
  process->resume();
  EXPECT_EQ(process->stop().error().text(), "process is not monitored");
  EXPECT_EQ(monitor->pause(target.pid()).error().text(), "process is not monitored");
  EXPECT_FALSE(monitor->detach(target.pid()));
}

TEST_F(ProcessEvents, ReattachAfterDetach) {
  Target target;
  auto first = attach(target.pid());
  ASSERT_TRUE(monitor->detach(target.pid()));
  const auto second = attach(target.pid());
  first.reset(); // must not affect the second monitor
  ASSERT_TRUE(target.act('s'));
  EXPECT_EQ(wait_for(Kind::signal).pid, target.pid());
  EXPECT_TRUE(second->stop());
}

TEST_F(ProcessEvents, DestroyingMonitorDetaches) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(monitor->pause(target.pid()));
  monitor.reset();
  EXPECT_TRUE(target.is_untraced());
  EXPECT_TRUE(target.act('-'));
  EXPECT_FALSE(process->stop());
}

/// A process is stopped while its monitor ends, whose thread must not be signalled once it has been joined.
TEST_F(ProcessEvents, AThreadThatHasEndedIsNotSignalled) {
  const Target target;
  const auto process = attach(target.pid());
  std::atomic<bool> waiting = false, ended = false, signalled_after_end = false;
  std::atomic<pthread_t> stopping{};
  before_pthread_kill = [&] {
    if (!::pthread_equal(::pthread_self(), stopping)) return true;
    waiting = true;
    // The monitor ends meanwhile, unless that has to wait for us, which only time can show.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (!ended && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    signalled_after_end = signalled_after_end || ended;
    return !ended;
  };
  std::thread other([&] {
    stopping = ::pthread_self();
    watch_pthread_kill = true;
    static_cast<void>(process->stop());
  });
  while (!waiting) std::this_thread::yield();
  monitor.reset();
  ended = true;
  other.join();
  watch_pthread_kill = false;
  EXPECT_FALSE(signalled_after_end);
}

TEST_F(ProcessEvents, SeveralProcessesOneDescriptor) {
  std::vector<Target> targets(5);
  std::vector<std::unique_ptr<LiveProcess>> processes;
  for (const Target& target : targets) processes.push_back(attach(target.pid()));
  std::set<std::uint32_t> pids;
  for (Target& target : targets) {
    ASSERT_TRUE(target.act('s'));
    pids.insert(target.pid());
  }
  wait_for([&](const DebugEvent&) { return count(Kind::signal) == 5; });
  std::set<std::uint32_t> reported;
  for (const DebugEvent& event : events) reported.insert(event.pid);
  EXPECT_EQ(reported, pids);
  ASSERT_TRUE(monitor->pause(targets[0].pid()));
  for (std::size_t i = 1; i < 5; ++i) EXPECT_TRUE(targets[i].act('-'));
  ASSERT_TRUE(processes[1]->stop());
  EXPECT_TRUE(targets[2].act('-'));
}

TEST_F(ProcessEvents, SamplingDuringThreadAndLibraryChanges) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('c'));
  std::size_t frames = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto found = test::sample(*process);
    ASSERT_TRUE(found) << found.error().text();
    frames += *found;
    if (i % 50 == 0) monitor->handle_events();
  }
  EXPECT_GT(frames, 1000u * 6) << "two threads of three frames at least";
  EXPECT_FALSE(process->is_terminated());
  EXPECT_TRUE(target.act('-'));
}

TEST_F(ProcessEvents, KilledDuringSampling) {
  Target target;
  const auto process = attach(target.pid());
  ASSERT_TRUE(target.act('c'));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    target.kill(SIGKILL);
  });
  while (test::sample(*process)) {
  }
  killer.join();
  EXPECT_EQ(wait_for(Kind::exited).signal, SIGKILL);
}

TEST_F(ProcessEvents, SurvivesDeathOfMonitor) {
  Target target;
  ASSERT_TRUE(target.act('c'));
  monitor.reset(); // no second thread may be there to fork
  const pid_t walker = ::fork();
  if (walker == 0) {
    const auto own = ProcessMonitor::create();
    const auto process = (*own)->attach(target.pid(), {});
    if (!process) ::_exit(1);
    for (;;) static_cast<void>(test::sample(**process));
  }
  ASSERT_TRUE(test::eventually([&] { return !target.is_untraced(); }));
  ::kill(walker, SIGKILL);
  ::waitpid(walker, nullptr, 0);
  EXPECT_TRUE(test::eventually([&] { return target.is_untraced(); }));
  EXPECT_TRUE(target.act('-'));
}

TEST_F(ProcessEvents, RefusesTracedOrMonitored) {
  const Target target;
  const auto process = attach(target.pid());
  EXPECT_EQ(monitor->attach(target.pid(), {}).error().text(), "process is already monitored");
  const auto other = ProcessMonitor::create();
  const auto refused = (*other)->attach(target.pid(), {});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text().ends_with("(sframe-tracer)")) << refused.error().text();
  const auto alone = LiveProcess::attach(target.pid(), {});
  ASSERT_FALSE(alone);
  EXPECT_TRUE(alone.error().text().starts_with("already traced by process ")) << alone.error().text();
}

// The same obstacles as without a monitor.
TEST_F(ProcessEvents, RefusesWhatIsNoProcess) {
  const Target target;
  const auto refusal = [&](std::uint32_t pid) {
    const auto process = monitor->attach(pid, {});
    return process ? std::string() : process.error().text();
  };
  EXPECT_EQ(refusal(target.worker()), "this is a thread ID; its process is " + std::to_string(target.pid()));
  EXPECT_EQ(refusal(static_cast<std::uint32_t>(::getpid())), "a process cannot trace itself");
  EXPECT_EQ(refusal(0x7fffffff), "no such process");
  EXPECT_TRUE(target.is_untraced());
}

} // namespace process_events_test
