// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks of the thread's stack in signal handlers that interrupt any instruction. libgcc also walks from the
// handler, over the signal frame; from the interrupted instruction on the frames must be equal.

#include "here_peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace here_signal_test {

using namespace sframe;
using test::Frames;
using unwind::StopReason;

/// Installs a handler for its lifetime.
class Handler {
public:
  Handler(int signal, void (*handler)(int, siginfo_t*, void*), int flags = 0) : signal_(signal) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, &before_);
  }
  ~Handler() { sigaction(signal_, &before_, nullptr); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

private:
  int signal_;
  struct sigaction before_;
};

/// A stack for handlers, for its lifetime.
class SignalStack {
public:
  SignalStack() {
    const stack_t stack{.ss_sp = room_.data(), .ss_flags = 0, .ss_size = room_.size()};
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&none, nullptr);
  }

private:
  std::vector<char> room_ = std::vector<char>(256 << 10);
};

// What handlers find; one at a time.
Frames ours, in_handler, theirs;
std::uint64_t interrupted;

[[gnu::noinline]] void walk_all(ucontext_t& context) {
  interrupted = static_cast<std::uint64_t>(test::pc_of(context));
  ours.from_context(context);
  in_handler.by_here_in_handler();
  theirs.by_libgcc();
}

void expect_equal() {
  EXPECT_EQ(ours.end(), StopReason::bottom) << message(ours.end());
  EXPECT_GT(ours.pcs().size(), 2u);
  const auto same = [](std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    return std::ranges::equal(a, b);
  };
  EXPECT_TRUE(same(ours.pcs(), theirs.from(interrupted)));
  EXPECT_TRUE(same(in_handler.callers(), theirs.callers()));
}

class HereInHandler : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(here::refresh()); }
};

TEST_F(HereInHandler, Raise) {
  const Handler handler(SIGUSR1,
                        [](int, siginfo_t*, void* context) { walk_all(*static_cast<ucontext_t*>(context)); });
  raise(SIGUSR1);
  expect_equal();
}

TEST_F(HereInHandler, SignalStackAndNestedSignals) {
  const SignalStack stack;
  const Handler inner(
      SIGUSR2, [](int, siginfo_t*, void* context) { walk_all(*static_cast<ucontext_t*>(context)); },
      SA_ONSTACK);
  const Handler outer(
      SIGUSR1, [](int, siginfo_t*, void*) { raise(SIGUSR2); }, SA_ONSTACK);
  raise(SIGUSR1);
  expect_equal();
}

TEST_F(HereInHandler, ErrnoIsKept) {
  const Handler handler(SIGUSR1, [](int, siginfo_t*, void* context) {
    errno = 12345;
    walk_all(*static_cast<ucontext_t*>(context));
    EXPECT_EQ(errno, 12345);
  });
  std::thread([] { raise(SIGUSR1); }).join(); // a thread of which nothing is known yet
  expect_equal();
}

sigjmp_buf landing;
void land(int, siginfo_t*, void* context) {
  walk_all(*static_cast<ucontext_t*>(context));
  siglongjmp(landing, 1);
}

TEST_F(HereInHandler, Segv) {
  const SignalStack stack;
  const Handler handler(SIGSEGV, land, SA_ONSTACK);
  void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigsetjmp(landing, 1) == 0) *static_cast<volatile int*>(page) = 1;
  expect_equal();
  munmap(page, 4096);
}

// Where nothing has any rule, libgcc gives up; the return address is where a call leaves it.
TEST_F(HereInHandler, CallThroughNull) {
  const SignalStack stack;
  const Handler handler(SIGSEGV, land, SA_ONSTACK);
  void (*volatile nowhere)() = nullptr;
  if (sigsetjmp(landing, 1) == 0) nowhere();
  EXPECT_EQ(interrupted, 0u);
  EXPECT_EQ(ours.end(), StopReason::bottom) << message(ours.end());
  Frames from_here;
  from_here.by_here();
  ASSERT_GT(ours.pcs().size(), 3u);
  EXPECT_EQ(ours.pcs()[0], 0u);
  EXPECT_NEAR(static_cast<double>(ours.pcs()[1]), static_cast<double>(from_here.pcs()[0]), 4096);
  EXPECT_TRUE(std::ranges::equal(ours.pcs().subspan(2), from_here.callers()));
}

/// Samples, and how they compare.
struct Samples {
  std::atomic<int> taken, equal, different, incomplete, in_exception;
  std::uint64_t first_different;
} samples;

/// libgcc searches the frames of generated code with a lock held, once there were any in the process (other
/// tests have some): a handler that interrupts it must not ask it.
volatile std::sig_atomic_t passes_exception = 0;

/// While libgcc puts itself in the place of a frame with a handler for an exception (__builtin_eh_return()),
/// the tables are wrong. Our walk ends there; libgcc's own may crash.
void take_sample(int, siginfo_t*, void* context) {
  ++samples.taken;
  auto& at = *static_cast<ucontext_t*>(context);
  interrupted = static_cast<std::uint64_t>(test::pc_of(at));
  ours.from_context(at);
  if (ours.end() != StopReason::bottom) {
    ++samples.incomplete;
    return;
  }
  if (passes_exception) {
    ++samples.in_exception;
    return;
  }
  theirs.by_libgcc();
  if (std::ranges::equal(ours.pcs(), theirs.from(interrupted)))
    ++samples.equal;
  else if (samples.different++ == 0)
    samples.first_different = interrupted;
}

[[gnu::noinline]] int throw_and_catch(int depth) {
  const std::string text(20, 'x');
  try {
    if (depth == 0) throw std::runtime_error(text);
    return throw_and_catch(depth - 1) + 1;
  } catch (const std::logic_error&) {
    return 0;
  }
}

/// Work of many kinds: callbacks, exceptions, memory, formatting, system calls, assembly of the C library.
void work() {
  std::vector<int> numbers(50);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 50);
  std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void* a, const void* b) {
    return *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  std::set<std::string> names;
  char text[64];
  for (int i = 0; i < 20; ++i) {
    std::snprintf(text, sizeof text, "%d %g %s", i, i / 3.0, "name");
    names.insert(text);
  }
  passes_exception = 1;
  try {
    throw_and_catch(3);
  } catch (const std::runtime_error&) {
  }
  passes_exception = 0;
  getppid();
  const std::function<int(int)> sum = [&](int n) { return n ? n + sum(n - 1) : 0; };
  ASSERT_EQ(sum(10), 55);
}

TEST_F(HereInHandler, TenThousandSamples) {
  const Handler handler(SIGPROF, take_sample, SA_RESTART);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer;
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec often{.it_interval = {0, 50'000}, .it_value = {0, 50'000}};
  ASSERT_EQ(timer_settime(timer, 0, &often, nullptr), 0);
  while (samples.taken < 10'000) work();
  timer_delete(timer);
  EXPECT_EQ(samples.different, 0) << "first: " << std::hex << samples.first_different;
  EXPECT_GT(samples.equal, 0);
  EXPECT_GT(samples.equal + samples.in_exception, samples.taken / 100 * 98);
}

} // namespace here_signal_test
