// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of monitoring and sampling for the target process: its throughput, as a percentage of that just
// before without us, and for how long a sample stops it. Targets spin, make system calls, or start threads;
// each is monitored, monitored and sampled, and sampled on demand, as sframe-unwind --pid does. Medians of
// many short rounds, since machines are rarely quiet for long.
//
//    live-bench [TURNS]        25 turns by default: a minute and a half

#include "sframe/process/process_monitor.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace sframe;
using Clock = std::chrono::steady_clock;
using Work = void (*)();

struct Kind {
  const char* name;
  Work work; ///< one unit
};

const Kind kinds[] = {
    {"spins", [] {}},
    {"makes system calls", [] { ::syscall(SYS_getppid); }},
    {"starts threads", [] { std::thread([] {}).join(); }},
};

/// A child that does the work and counts it in memory that we share.
class Target {
public:
  explicit Target(Work work)
      : done_(new (::mmap(nullptr, sizeof *done_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                  std::atomic<std::uint64_t>(0)) {
    pid_ = ::fork();
    if (pid_ == 0)
      for (;;) {
        work();
        done_->fetch_add(1, std::memory_order_relaxed);
      }
  }
  ~Target() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(done_, sizeof *done_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  std::uint64_t done() const { return *done_; }

private:
  std::atomic<std::uint64_t>* done_;
  pid_t pid_;
};

class Ignore final : public unwind::FrameReceiver {
public:
  bool frame(const unwind::Frame&, const unwind::Registers&) override { return true; }
};

class Sampler {
public:
  explicit Sampler(std::unique_ptr<process::LiveProcess> process) : process_(std::move(process)) {}

  void sample() {
    if (!process_->stop()) return;
    process::LiveSpace& space = process_->space();
    if (walker_ && generation_ == space.generation())
      walker_->forget_memory();
    else
      walker_.emplace(space, steppers::default_steppers(space.abi(), space.main_module()));
    generation_ = space.generation();
    Ignore ignore;
    for (const process::Thread& thread : process_->threads()) walker_->walk(thread.frame(), ignore);
    process_->resume();
  }

private:
  std::unique_ptr<process::LiveProcess> process_;
  std::optional<unwind::Walker> walker_;
  std::uint64_t generation_ = 0;
};

using namespace std::chrono_literals;
constexpr auto turn = 200ms;

struct Observation {
  const char* name;
  bool monitored;
  int samples; ///< in a turn
};

const Observation observations[] = {
    {"monitored", true, 0},
    {"monitored, 100 samples a second", true, 20},
    {"on demand, 100 samples a second", false, 20},
};

/// Units of work per second, while `act` is done `count` times at equal intervals.
double work_per_second(const Target& target, int count, auto act) {
  const auto start = Clock::now();
  const std::uint64_t before = target.done();
  for (int i = 1; i <= std::max(count, 1); ++i) {
    if (count) act();
    std::this_thread::sleep_until(start + turn * i / std::max(count, 1));
  }
  const std::chrono::duration<double> seconds = Clock::now() - start;
  return static_cast<double>(target.done() - before) / seconds.count();
}

struct Results {
  std::vector<double> shares; ///< of the work that the target did alone
  std::vector<double> stops;  ///< microseconds of each sample
};

void observe(const Target& target, const Observation& how, Results& results) {
  const double alone = work_per_second(target, 0, [] {});
  std::unique_ptr<process::ProcessMonitor> monitor;
  if (how.monitored) monitor = std::move(*process::ProcessMonitor::create());
  Sampler sampler(std::move(
      *(monitor ? monitor->attach(target.pid(), {}) : process::LiveProcess::attach(target.pid(), {}))));
  if (how.samples) sampler.sample(); // reads the tables
  const double observed = work_per_second(target, how.samples, [&] {
    const auto start = Clock::now();
    sampler.sample();
    results.stops.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (monitor) monitor->handle_events();
  });
  results.shares.push_back(observed / alone);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  const long turns = argc > 1 ? std::max(std::strtol(argv[1], nullptr, 10), 1L) : 25;
  std::puts(
      "| the target | observed | work, of alone | a sample, microseconds |\n| --- | --- | ---: | ---: |");
  for (const Kind& kind : kinds) {
    std::vector<Results> results(std::size(observations));
    const Target target(kind.work);
    for (long i = 0; i < turns; ++i)
      for (std::size_t at = 0; at < results.size(); ++at) observe(target, observations[at], results[at]);
    for (std::size_t at = 0; at < results.size(); ++at) {
      const auto& [shares, stops] = results[at];
      std::printf("| %s | %s | %.1f%% | %.0f |\n", kind.name, observations[at].name, 100 * median(shares),
                  stops.empty() ? 0 : median(stops));
    }
    std::fflush(stdout);
  }
}
