// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calling thread's stack against libgcc's unwinder, as a program that can be built for any ABI, static or
// not. One line per kind of stack: its name, and "equal" or what is not. Counts calls of malloc and its kin
// on the way.
//
//   here                 all kinds
//   here threads N LIB   eight threads walk N times each while LIB is loaded and unloaded; LIB has
//   `callback`

#include "sframe/here/here.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include <alloca.h>
#include <dlfcn.h>
#include <unwind.h>

using namespace sframe;

namespace {

std::atomic<long> allocations;

struct Frames {
  std::uint64_t pcs[500];
  std::size_t count = 0;
  unwind::StopReason end{};

  static _Unwind_Reason_Code add(_Unwind_Context* context, void* self) {
    auto& frames = *static_cast<Frames*>(self);
    if (const auto pc = _Unwind_GetIP(context)) frames.pcs[frames.count++] = pc;
    return _URC_NO_REASON;
  }
  void set(const here::Callers& walk) {
    count = walk.count;
    end = walk.end;
  }
  std::span<const std::uint64_t> from(std::size_t first) const {
    return std::span(pcs).first(count).subspan(std::min(first, count));
  }
};

void print(const char* name, const Frames& ours, std::span<const std::uint64_t> a,
           std::span<const std::uint64_t> b) {
  const bool complete = ours.end == unwind::StopReason::bottom || ours.end == unwind::StopReason::zero_pc;
  if (complete && a.size() > 1 && std::ranges::equal(a, b)) {
    std::printf("%s: equal\n", name);
    return;
  }
  std::printf("%s: different, %s\n", name, message(ours.end));
  for (const auto pc : a) std::printf("  %#lx", static_cast<unsigned long>(pc));
  std::printf("\n");
  for (const auto pc : b) std::printf("  %#lx", static_cast<unsigned long>(pc));
  std::printf("\n");
}

const char* kind;

/// Walks by both; frame 0 is this function, where they differ.
[[gnu::noinline]] void compare() {
  static thread_local Frames ours, theirs;
  ours.set(here::callers(ours.pcs));
  theirs.count = 0;
  _Unwind_Backtrace(Frames::add, &theirs);
  print(kind, ours, ours.from(1), theirs.from(1));
}

template <class Function> void test(const char* name, Function function) {
  kind = name;
  function();
}

int compare_numbers(const void* a, const void* b) {
  static bool done;
  if (!done) compare();
  done = true;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

[[gnu::noinline]] int with_alloca(int size) {
  auto* room = static_cast<volatile char*>(alloca(static_cast<std::size_t>(size)));
  room[0] = 1;
  compare();
  return room[0];
}

[[gnu::noinline]] int with_realigned_stack(int depth) {
  alignas(128) volatile char room[256];
  room[depth] = 1;
  return room[depth] + (depth ? with_realigned_stack(depth - 1) : with_alloca(1000));
}

[[gnu::noinline]] int with_large_frame(int depth) {
  volatile char room[100'000];
  room[depth] = 1;
  return room[depth] + with_realigned_stack(depth);
}

struct ComparesWhenDestroyed {
  ~ComparesWhenDestroyed() { compare(); }
};

[[gnu::noinline]] void throw_something() {
  const ComparesWhenDestroyed here;
  throw std::runtime_error("on purpose");
}

// Signals: what the handler was given, and what it sees from its own frame.
Frames context_frames, handler_frames, peer_frames;
long allocated_in_handler;

[[gnu::noinline]] void handle(int, siginfo_t*, void* context) {
  const long before = allocations;
  context_frames.set(here::callers_in_context(*static_cast<const ucontext_t*>(context), context_frames.pcs));
  handler_frames.set(here::callers_in_handler(handler_frames.pcs));
  allocated_in_handler = allocations - before;
  peer_frames.count = 0;
  _Unwind_Backtrace(Frames::add, &peer_frames);
  asm volatile(""); // not the last act, which would be a jump
}

[[gnu::noinline]] void interrupted(int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  const auto theirs = peer_frames.from(0);
  const auto at = std::ranges::find(theirs, context_frames.pcs[0]);
  print(kind, context_frames, context_frames.from(0), std::span(at, theirs.end()));
  print("  from the handler's own frame", handler_frames, handler_frames.from(1), peer_frames.from(1));
}

void use_signal_stack() {
  static char room[1 << 16];
  const stack_t stack{.ss_sp = room, .ss_flags = 0, .ss_size = sizeof room};
  sigaltstack(&stack, nullptr);
}

#ifdef WITH_LIBRARY
/// Loads, calls and unloads the library so often, while eight threads walk.
void walk_while_loading(long times, const char* library) {
  std::atomic<bool> done = false;
  std::atomic<long> walks = 0, short_walks = 0;
  const auto walk_often = [&] {
    std::uint64_t frames[64];
    while (!done) {
      const auto walk = walks++ % 2 ? here::callers_in_handler(frames) : here::callers(frames);
      short_walks += walk.end != unwind::StopReason::bottom && walk.end != unwind::StopReason::zero_pc;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(walk_often);
  static long through_library;
  for (long i = 0; i < times || walks < 10'000; ++i) {
    void* const handle = dlopen(library, RTLD_NOW);
    if (!handle) std::abort();
    const auto callback = reinterpret_cast<void (*)(void (*)())>(dlsym(handle, "callback"));
    callback([] {
      std::uint64_t frames[64];
      const auto walk = here::callers(frames);
      through_library += walk.end == unwind::StopReason::bottom && walk.count > 3;
    });
    dlclose(handle);
    here::refresh();
    times = std::max(times, i + 1);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  here::refresh();
  std::printf("incomplete walks: %ld\n", short_walks.load());
  std::printf("walks through the library: %s\n", through_library == times ? "all" : "not all");
  std::printf("tables not given back: %zu\n", here::tables().retired);
}
#endif

} // namespace

#ifdef COUNT_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
}
#endif

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  if (!here::refresh()) return 1;
#ifdef WITH_LIBRARY
  if (argc == 3) {
    walk_while_loading(std::atol(argv[1]), argv[2]);
    return 0;
  }
#endif
  test("plain", compare);
  test("qsort", [] {
    int numbers[] = {2, 1};
    std::qsort(numbers, 2, sizeof *numbers, compare_numbers);
  });
  test("large frame, realigned stack, alloca", [] { with_large_frame(3); });
  test("destructor, then catch", [] {
    try {
      throw_something();
    } catch (const std::runtime_error&) {
      compare();
    }
  });
  test("thread", [] { std::thread([] { compare(); }).join(); });
  test("signal", [] { interrupted(0); });
  use_signal_stack();
  test("signal stack", [] { interrupted(SA_ONSTACK); });
#ifdef COUNT_ALLOCATIONS
  std::printf("allocations at all: %s\n", allocations > 0 ? "some" : "none");
  std::printf("in the handler: %ld\n", allocated_in_handler);
#endif
  const here::Tables tables = here::tables();
  std::printf("modules with SFrame: %s\n", tables.sframe_modules ? "some" : "none");
}
