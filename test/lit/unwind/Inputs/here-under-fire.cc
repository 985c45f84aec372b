// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// here() where locks are held and memory cannot be had: the program's malloc and operator new walk the stack
// at each call. One line per case; a deadlock ends it by SIGALRM.
//
//   here-under-fire CASE LIBRARY    LIBRARY has `callback`
//
// With NO_HOOKS, malloc and operator new are left alone: sanitizers have their own.

#include "sframe/here/here.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sframe;

namespace {

struct Counts {
  std::atomic<long> walks, complete, inside;
};
constinit Counts counts;

/// Walks going on in this thread: what is allocated now, a walk allocates.
[[gnu::tls_model("initial-exec")]] constinit thread_local int walking = 0;

/// One walk; true where it came to the outermost frame.
[[gnu::noinline]] bool walk_once() {
  ++walking;
  std::uint64_t frames[64];
  const int before = errno = 12345;
  const auto walk = here::callers(frames);
  const bool complete = walk.end == unwind::StopReason::bottom || walk.end == unwind::StopReason::zero_pc ||
                        walk.end == unwind::StopReason::frame_limit;
  if (errno != before) std::abort();
  --walking;
  ++counts.walks;
  counts.complete += complete;
  return complete;
}

#ifndef NO_HOOKS
/// What allocation hooks do. They do not look whether a walk has called them.
void hook() {
  counts.inside += walking > 0;
  const int before = errno;
  walk_once();
  errno = before;
}
#endif

} // namespace

#ifndef NO_HOOKS
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* malloc(std::size_t size) {
  hook();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  hook();
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  hook();
  return __libc_realloc(old, size);
}
}

void* operator new(std::size_t size) {
  hook();
  if (void* const room = __libc_malloc(size)) return room;
  throw std::bad_alloc();
}
#endif

namespace {

const char* library;

/// Longer than any case takes on a machine that has much else to do.
constexpr unsigned deadlock_seconds = 900;

struct Library {
  void* handle = dlopen(library, RTLD_NOW);
  void call(void (*function)()) const {
    reinterpret_cast<void (*)(void (*)())>(dlsym(handle, "callback"))(function);
  }
  ~Library() { dlclose(handle); }
};

/// Frames of a library that came after the last refresh().
void new_library() {
  here::refresh();
  const Library loaded;
  static bool complete;
  loaded.call([] { complete = walk_once(); });
  std::printf("walk through a new library: %s\n", complete ? "complete" : "incomplete");
}

/// Frames of a new library where the kernel gives no memory.
void no_memory() {
  const Library loaded;
  static bool complete;
  const std::uint64_t before = here::left_out();
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
  const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  loaded.call([] { complete = walk_once(); });
  setrlimit(RLIMIT_AS, &limit);
  std::printf("walk without memory: %s, %s\n", complete ? "complete" : "incomplete",
              here::left_out() > before ? "counted" : "not counted");
  loaded.call([] { complete = walk_once(); });
  std::printf("and with it: %s\n", complete ? "complete" : "incomplete");
}

/// refresh() and here() under the loader's lock, against refresh() in another thread.
void callbacks() {
  std::atomic<bool> done = false;
  std::atomic<int> rounds = 0;
  std::thread other([&] {
    for (; !done; ++rounds) {
      const Library loaded;
      here::refresh();
    }
  });
  std::thread third([&] {
    while (!done) here::refresh();
  });
  for (int i = 0; i < 5000; ++i) {
    dl_iterate_phdr(
        [](dl_phdr_info*, std::size_t, void*) {
          walk_once();
          return here::refresh() ? 1 : 2;
        },
        nullptr);
    // The loader's lock is not fair: let the others have it now and then.
    for (const int before = rounds; i % 100 == 0 && rounds == before;) std::this_thread::yield();
  }
  done = true;
  other.join();
  third.join();
}

/// Signals that interrupt the loader, the allocator, walks and refresh(); every other one by a small stack.
void signals() {
  static std::atomic<long> taken;
  std::vector<char> room(32 << 10);
  const stack_t stack{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
  sigaltstack(&stack, nullptr);
  const auto handler = [](int) {
    const int before = errno;
    const int walks = std::exchange(walking, 0); // those that this interrupts allocate nothing here
    walk_once();
    walking = walks;
    ++taken;
    errno = before;
  };
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGPROF, &action, nullptr);
  std::atomic<bool> done = false;
  const pthread_t main_thread = pthread_self();
  std::thread sender([&] {
    while (!done) pthread_kill(main_thread, SIGPROF), std::this_thread::yield();
  });
  for (int i = 0; i < 200 || taken < 2000; ++i) {
    const Library loaded;
    loaded.call([] { walk_once(); });
    if (i % 2) here::refresh();
    std::free(std::malloc(100));
  }
  done = true;
  sender.join();
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

/// Children of a process in which other threads are walking and refreshing.
void forks() {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      while (!done) {
        if (i == 0) {
          const Library loaded;
          here::refresh();
        } else {
          walk_once();
        }
      }
    });
  long good = 0;
  constexpr long rounds = 200;
  for (long i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(deadlock_seconds);
      bool complete = walk_once();
      std::free(std::malloc(10));
      _exit(complete && walk_once() ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    good += status == 0;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("children: %s\n", good == rounds ? "all well" : "not all well");
}

/// The first walk of the process by a signal stack that has room for little more than the signal frame.
void small_stacks() {
  static here::Callers walk;
  const long page = sysconf(_SC_PAGESIZE);
  const auto size = static_cast<std::size_t>((sysconf(_SC_MINSIGSTKSZ) + 6000 + page - 1) / page * page);
  auto* const room = static_cast<char*>(mmap(nullptr, size + static_cast<std::size_t>(page),
                                             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(room, static_cast<std::size_t>(page), PROT_NONE);
  const stack_t stack{.ss_sp = room + page, .ss_flags = 0, .ss_size = size};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) {
    std::uint64_t frames[8];
    walk = here::callers(frames);
  };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  const std::uint64_t before = here::left_out();
  raise(SIGUSR1);
  const bool counted = here::left_out() == before + 1;
  std::printf("small stack: %s, %s\n", message(walk.end), counted ? "counted" : "not counted");
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  alarm(deadlock_seconds);
  const std::string_view name = argv[1];
  // Walks before this ended in the loader's first instructions, which have no tables.
  counts.walks = counts.complete = 0;
  library = argc > 2 ? argv[2] : nullptr;
  if (name == "new-library") new_library();
  if (name == "callbacks") callbacks();
  if (name == "signals") signals();
  if (name == "forks") forks();
  if (name == "small-stacks") small_stacks();
  if (name == "no-memory") no_memory();
  std::printf("%s: walks %s, allocations in walks %ld\n", argv[1], counts.walks > 0 ? "some" : "none",
              counts.inside.load());
  std::printf("incomplete: %s, left out: %s\n", counts.complete == counts.walks ? "none" : "some",
              here::left_out() ? "some" : "none");
}
