// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over generated AMD64 code by lib/here: at each of its instructions, from a signal handler, while
// another thread adds and removes code. libgcc tells what the frames outside of it are.

#include "sframe/jit/registry.h"

#if defined(__x86_64__)

#  include "here_peer.h"

#  include <gtest/gtest.h>

#  include <algorithm>
#  include <atomic>
#  include <csetjmp>
#  include <csignal>
#  include <cstring>
#  include <set>
#  include <thread>
#  include <vector>

#  include <sys/mman.h>
#  include <ucontext.h>

namespace jit_here_test {

using namespace sframe;
using test::Frames;

/// Executable memory with this code.
class Executable {
public:
  explicit Executable(const std::vector<std::uint8_t>& code) : size_(code.size()) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(memory_, code.data(), size_);
    mprotect(memory_, size_, PROT_READ | PROT_EXEC);
  }
  ~Executable() { munmap(memory_, size_); }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  std::uint64_t start() const { return reinterpret_cast<std::uint64_t>(memory_); }
  std::size_t size() const { return size_; }
  template <class Function> Function* as() const {
    Function* function = nullptr;
    std::memcpy(&function, &memory_, sizeof memory_);
    return function;
  }

private:
  std::size_t size_;
  void* memory_;
};

/// A function that calls its first argument with the second one.
const std::vector<std::uint8_t> calling = {
    0x55,                   // 0   push %rbp
    0x48, 0x89, 0xe5,       // 1   mov  %rsp,%rbp
    0x48, 0x83, 0xec, 0x20, // 4   sub  $0x20,%rsp
    0x48, 0x89, 0xf8,       // 8   mov  %rdi,%rax
    0x48, 0x89, 0xf7,       // 11  mov  %rsi,%rdi
    0xff, 0xd0,             // 14  call *%rax
    0xc9,                   // 16  leave
    0xc3,                   // 17  ret
};
constexpr std::size_t instructions = 8;

jit::Rows rows_of_calling() {
  const Rule ra = Rule::fixed(), saved = Rule::at_cfa(-16);
  const std::vector<FrameRow> rows = {{0, Rule::value(7, 8), ra, {}, false},
                                      {1, Rule::value(7, 16), ra, saved, false},
                                      {4, Rule::value(6, 16), ra, saved, false},
                                      {17, Rule::value(7, 8), ra, {}, false}};
  return jit::Rows::make({.size = static_cast<std::uint32_t>(calling.size())}, rows).value();
}

using Calling = void(void (*)(void*), void*);

Frames ours, theirs;

void walk(void*) { // not a lambda, which may have two frames
  ours.by_here();
  asm volatile("");
}

[[gnu::noinline]] void call_and_compare(Calling* generated) {
  theirs.by_libgcc();
  generated(walk, nullptr);
  asm volatile("");
}

TEST(JitHere, FramesAreThoseOfLibgccAroundGeneratedCode) {
  const Executable code(calling);
  jit::Registry registry;
  const auto region = registry.add({reinterpret_cast<void*>(code.start()), "calling"}, rows_of_calling());
  ASSERT_TRUE(region);
  call_and_compare(code.as<Calling>());
  ASSERT_GE(ours.pcs().size(), 4u); // the callback, the code, this file, and what called it
  EXPECT_EQ(code.start() + 16, ours.pcs()[1]);
  EXPECT_TRUE(std::ranges::equal(ours.pcs().subspan(3), theirs.callers()));
  EXPECT_EQ(unwind::StopReason::bottom, ours.end());
  // Without rows the walk ends there.
  ASSERT_TRUE(registry.remove(*region));
  registry.collect();
  call_and_compare(code.as<Calling>());
  EXPECT_EQ(2u, ours.pcs().size());
  EXPECT_EQ(unwind::StopReason::no_rule, ours.end());
}

sigjmp_buf landing;

void land(int, siginfo_t*, void* context) {
  ours.from_context(*static_cast<const ucontext_t*>(context));
  siglongjmp(landing, 1);
}

[[gnu::noinline]] void call_through_null(Calling* generated) {
  theirs.by_libgcc();
  if (sigsetjmp(landing, 1) == 0) generated(nullptr, nullptr);
  asm volatile("");
}

/// No table has the address 0: the walk takes the return address, if there are rows for it.
TEST(JitHere, GeneratedCodeCallsThroughNull) {
  const Executable code(calling);
  jit::Registry registry;
  ASSERT_TRUE(registry.add({reinterpret_cast<void*>(code.start()), "calling"}, rows_of_calling()));
  ASSERT_TRUE(here::refresh()); // a handler cannot do it
  struct sigaction action = {}, before = {};
  action.sa_sigaction = land;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  call_through_null(code.as<Calling>());
  sigaction(SIGSEGV, &before, nullptr);
  ASSERT_GE(ours.pcs().size(), 4u); // the address, the code, this file, and what called it
  EXPECT_EQ(0u, ours.pcs()[0]);
  EXPECT_EQ(code.start() + 16, ours.pcs()[1]);
  EXPECT_TRUE(std::ranges::equal(ours.pcs().subspan(3), theirs.callers()));
  EXPECT_EQ(unwind::StopReason::bottom, ours.end());
}

struct Steps {
  std::uint64_t start = 0, size = 0;
  std::set<std::uint64_t> seen; ///< offsets
  std::size_t wrong = 0;
} steps;

/// After each instruction.
void step(int, siginfo_t*, void* context) {
  const auto& state = *static_cast<const ucontext_t*>(context);
  const auto pc = static_cast<std::uint64_t>(state.uc_mcontext.gregs[REG_RIP]);
  if (pc - steps.start >= steps.size) return;
  ours.from_context(state);
  const auto found = ours.pcs();
  steps.seen.insert(pc - steps.start);
  steps.wrong +=
      found.size() < 3 || found[0] != pc || !std::ranges::equal(found.subspan(2), theirs.callers());
}

[[gnu::noinline]] void run_in_steps(Calling* generated) {
  theirs.by_libgcc();
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
          : "cc", "memory");
  generated([](void*) {}, nullptr);
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp" ::
          : "cc", "memory");
}

TEST(JitHere, EachInstructionWhileAnotherThreadChangesCode) {
  const Executable code(calling);
  jit::Registry registry;
  const jit::Rows rows = rows_of_calling();
  ASSERT_TRUE(registry.add({reinterpret_cast<void*>(code.start()), "calling"}, rows));
  ASSERT_TRUE(here::refresh());
  steps = {.start = code.start(), .size = code.size()};

  std::atomic<bool> done = false;
  std::thread other([&] {
    for (std::uint64_t i = 0; !done; ++i) {
      const auto region = registry.add({reinterpret_cast<void*>(0x10000 + i % 1000 * 0x20), "other"}, rows);
      if (!region || !registry.remove(*region) || (i % 10 == 0 && registry.collect() == 0)) std::abort();
    }
  });
  struct sigaction action = {}, before = {};
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  for (int i = 0; i < 200; ++i) run_in_steps(code.as<Calling>());
  sigaction(SIGTRAP, &before, nullptr);
  done = true;
  other.join();
  EXPECT_EQ(instructions, steps.seen.size());
  EXPECT_EQ(0u, steps.wrong);
}

} // namespace jit_here_test

#endif
