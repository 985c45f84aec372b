// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls backtrace() in one situation, named by the first argument, and prints the frames as MODULE+OFFSET, so
// that runs of the same code can be compared: one line per trace. Built and run by test/readers/glibc.py.
//
//   scenarios list        the names of all situations
//   scenarios NAME        one trace or more
//   scenarios time        nanoseconds per frame, of a stack of 100 frames
//
// With STATIC, for -static-pie: without dlopen, and offsets are from the program's start.

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

extern "C" const char __ehdr_start;

namespace {

constexpr int max_frames = 4096;
void* frames[max_frames];
volatile int sink; // written after calls, so that they are not the last instruction
bool end_after_trace = false;

/// One line; with write(2), since it also runs in signal handlers and in children.
void print(int count) {
  static char line[max_frames * 48];
  size_t at = 0;
  for (int i = 0; i < count && at + 256 < sizeof line; ++i) {
    const char* module = "?";
    unsigned long offset = reinterpret_cast<unsigned long>(frames[i]);
#ifdef STATIC
    module = "scenarios";
    offset -= reinterpret_cast<unsigned long>(&__ehdr_start);
#else
    Dl_info info;
    if (dladdr(frames[i], &info) != 0) {
      const char* slash = strrchr(info.dli_fname, '/');
      module = slash ? slash + 1 : info.dli_fname;
      offset -= reinterpret_cast<unsigned long>(info.dli_fbase);
    }
#endif
    at += static_cast<size_t>(snprintf(line + at, 200, "%s+0x%lx ", module, offset));
  }
  line[at++] = '\n';
  for (size_t done = 0; done < at;) {
    const ssize_t n = write(1, line + done, at - done);
    if (n <= 0) _exit(3);
    done += static_cast<size_t>(n);
  }
}

extern "C" NOINLINE void show() {
  const int count = backtrace(frames, max_frames);
  print(count);
  if (end_after_trace) _exit(0);
  sink = count;
}

template <class Function> NOINLINE int nest(int depth, Function&& last) {
  if (depth == 0)
    last();
  else
    sink = nest(depth - 1, last);
  return ++sink;
}

NOINLINE void deep() {
  nest(100, show);
}
NOINLINE void recursion() {
  nest(3000, show);
}

int by_value(const void* a, const void* b) {
  static bool first = true;
  if (std::exchange(first, false)) show();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
NOINLINE void qsort_callback() {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, by_value);
  sink = numbers[0];
}
NOINLINE void bsearch_callback() {
  const int numbers[] = {1, 2, 3};
  sink = bsearch(numbers + 1, numbers, 3, sizeof *numbers, by_value) != nullptr;
}
void at_node(const void*, VISIT order, int) {
  if (order == leaf) show();
}
NOINLINE void twalk_callback() {
  void* root = nullptr;
  static int one = 1;
  tsearch(&one, &root, by_value);
  twalk(root, at_node);
  sink = 1;
}
NOINLINE void sort_callback() {
  std::vector<int> numbers{3, 1, 2};
  bool first = true;
  std::sort(numbers.begin(), numbers.end(), [&](int a, int b) {
    if (std::exchange(first, false)) show();
    return a < b;
  });
  sink = numbers[0];
}

void on_signal(int) {
  show();
}
void handle(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}
NOINLINE void signal_handler() {
  handle(SIGUSR1, on_signal);
  raise(SIGUSR1);
  sink = 1;
}
NOINLINE void signal_in_leaf() { // asynchronous for the compiler: in the middle of a function
  handle(SIGSEGV, on_signal, SA_RESETHAND);
  end_after_trace = true;
  sink = *reinterpret_cast<volatile int*>(sink * 0L + 8);
}
NOINLINE void signal_stack() {
  static char memory[1 << 16];
  const stack_t stack{memory, 0, sizeof memory};
  sigaltstack(&stack, nullptr);
  handle(SIGUSR1, on_signal, SA_ONSTACK);
  raise(SIGUSR1);
  sink = 1;
}
void raise_second(int) {
  raise(SIGUSR2);
  sink = 1;
}
NOINLINE void nested_signals() {
  handle(SIGUSR1, raise_second);
  handle(SIGUSR2, on_signal);
  raise(SIGUSR1);
  sink = 1;
}

void* in_thread(void*) {
  nest(5, show);
  return nullptr;
}
NOINLINE void thread() {
  pthread_t id;
  pthread_create(&id, nullptr, in_thread, nullptr);
  pthread_join(id, nullptr);
  sink = 1;
}
NOINLINE void thread_cxx() {
  std::thread([] { show(); }).join();
}
NOINLINE void once() {
  static pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, show);
  sink = 1;
}
NOINLINE void at_exit() {
  atexit(show);
  exit(0);
}
struct AtEnd {
  bool armed = false;
  ~AtEnd() {
    if (armed) show();
  }
} at_end;
NOINLINE void destructor() {
  at_end.armed = true;
}

NOINLINE void end_with_abort() { // the call is the last instruction
  handle(SIGABRT, on_signal);
  end_after_trace = true;
  abort();
}
NOINLINE void abort_call() {
  nest(2, end_with_abort);
  sink = 1;
}
__attribute__((cold)) NOINLINE void cold_abort(int number) {
  if (number != 12345) end_with_abort();
  sink = number;
}
NOINLINE void abort_in_cold() {
  for (int i = 0; i < 3; ++i) cold_abort(i);
}
NOINLINE void assert_call() {
  handle(SIGABRT, on_signal);
  end_after_trace = true;
  fclose(stderr);
  assert(sink == 12345);
  sink = 1;
}
NOINLINE void throw_it() {
  throw std::runtime_error("thrown");
}
NOINLINE void throw_uncaught() {
  std::set_terminate(show);
  end_after_trace = true;
  nest(2, throw_it);
  sink = 1;
}
NOINLINE void throw_caught() {
  try {
    nest(2, throw_it);
  } catch (const std::exception&) {
    show();
  }
  sink = 1;
}
NOINLINE void throw_in_library() { // from libstdc++'s own code
  std::set_terminate(show);
  end_after_trace = true;
  sink = std::map<int, int>{{1, 2}}.at(3) + std::string("abc").at(7);
}

typedef int Wide __attribute__((vector_size(32)));
NOINLINE void realigned_with(int size) { // frame realigned, with alloca: DRAP
  volatile Wide wide{size};
  char* const memory = static_cast<char*>(__builtin_alloca(static_cast<size_t>(size)));
  memset(memory, wide[0], static_cast<size_t>(size));
  sink = memory[0];
  nest(2, show);
  sink = memory[size - 1] + wide[1];
}
NOINLINE void drap() {
  realigned_with(100 + (sink & 1));
}
NOINLINE void alloca_frame() {
  const int size = 1000 + (sink & 1);
  char* const memory = static_cast<char*>(__builtin_alloca(static_cast<size_t>(size)));
  memset(memory, 1, static_cast<size_t>(size));
  show();
  sink = memory[size - 1];
}
NOINLINE void big_frame() {
  volatile char memory[70000];
  memory[0] = memory[69999] = 1;
  show();
  sink = memory[0];
}
NOINLINE void variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  show();
  sink = va_arg(list, int);
  va_end(list);
}
NOINLINE void variadic_call() {
  variadic(1, 2, 3.0);
}
NOINLINE void tail_callee() {
  show();
}
NOINLINE void tail_call() {
  sink = 1;
  tail_callee(); // a jump
}

ucontext_t outside, inside;
NOINLINE void in_context() {
  nest(3, show);
}
NOINLINE void make_context() {
  static char memory[1 << 18];
  getcontext(&inside);
  inside.uc_stack.ss_sp = memory;
  inside.uc_stack.ss_size = sizeof memory;
  inside.uc_link = &outside;
  makecontext(&inside, in_context, 0);
  swapcontext(&outside, &inside);
  sink = 1;
}
int in_clone(void*) {
  show();
  return 0;
}
NOINLINE void clone_call() {
  static char memory[1 << 18] __attribute__((aligned(16)));
  const int pid = clone(in_clone, memory + sizeof memory, SIGCHLD, nullptr);
  waitpid(pid, nullptr, 0);
  sink = 1;
}
NOINLINE void vfork_call() {
  const pid_t pid = vfork();
  if (pid == 0) {
    show();
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  sink = 1;
}
NOINLINE void new_handler() {
  std::set_new_handler([] {
    show();
    throw std::bad_alloc();
  });
  try {
    volatile size_t size = ~size_t{0} / 4;
    char* volatile memory = new char[size];
    sink = *memory;
  } catch (const std::bad_alloc&) {
  }
}

// Every instruction of some calls, the PLT's and the library's included: the processor stops after each. The
// first signal starts that, and the one after `stepping` is cleared ends it.
volatile int steps, stepping;
void on_step(int, siginfo_t*, void* context) {
  auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  constexpr decltype(flags + 0) trap = 0x100;
  flags = stepping ? flags | trap : flags & ~trap;
  if (stepping && ++steps < 3000) print(backtrace(frames, 64));
}
NOINLINE void single_steps() {
  struct sigaction action {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  const char* volatile text = "12";
  sink = atoi(text) + abs(sink) + getppid(); // binds the PLT's entries; "lazy binding" has the resolver
  stepping = 1;
  raise(SIGTRAP);
  sink = atoi(text) + abs(sink) + getppid();
  stepping = 0;
}

#ifndef STATIC
using Callback = void (*)();
NOINLINE void plugin_call() {
  void* const plugin = dlopen("libplugin.so", RTLD_NOW);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    exit(4);
  }
  reinterpret_cast<void (*)(Callback)>(dlsym(plugin, "plugin_run"))(show);
  sink = 1;
}
NOINLINE void plugin_constructor() {
  setenv("PLUGIN_SHOW", "1", 1);
  sink = dlopen("libplugin.so", RTLD_NOW) != nullptr;
}
NOINLINE void lazy_binding() { // the resolver runs an IFUNC's resolver: frames of the dynamic linker
  setenv("PLUGIN_IFUNC", "1", 1);
  void* const plugin = dlopen("libplugin.so", RTLD_LAZY);
  sink = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_lazy"))();
}
#endif

struct Scenario {
  const char* name;
  void (*run)();
};
const Scenario scenarios[] = {
    {"deep", deep},
    {"recursion", recursion},
    {"qsort", qsort_callback},
    {"bsearch", bsearch_callback},
    {"twalk", twalk_callback},
    {"std::sort", sort_callback},
    {"signal", signal_handler},
    {"fault", signal_in_leaf},
    {"sigaltstack", signal_stack},
    {"signals", nested_signals},
    {"thread", thread},
    {"std::thread", thread_cxx},
    {"once", once},
    {"atexit", at_exit},
    {"destructor", destructor},
    {"abort", abort_call},
    {"cold abort", abort_in_cold},
    {"assert", assert_call},
    {"throw", throw_uncaught},
    {"catch", throw_caught},
    {"library throw", throw_in_library},
    {"DRAP", drap},
    {"alloca", alloca_frame},
    {"big frame", big_frame},
    {"variadic", variadic_call},
    {"tail call", tail_call},
    {"makecontext", make_context},
    {"clone", clone_call},
    {"vfork", vfork_call},
    {"new handler", new_handler},
    {"single steps", single_steps},
#ifndef STATIC
    {"dlopen", plugin_call},
    {"constructor", plugin_constructor},
    {"lazy binding", lazy_binding},
#endif
};

NOINLINE void measure() {
  const int rounds = 20000;
  long long total = 0;
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < rounds; ++i) total += backtrace(frames, max_frames);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double ns =
      static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec);
  printf("%.1f\n", total ? ns / static_cast<double>(total) : 0);
}

} // namespace

#ifndef STATIC
extern "C" __attribute__((visibility("default"))) void scenarios_show() {
  show();
}
#endif

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "list") {
    for (const Scenario& scenario : scenarios) puts(scenario.name);
    return 0;
  }
  backtrace(frames, 1); // loads libgcc_s
  if (name == "time") {
    nest(100, measure);
    return 0;
  }
  for (const Scenario& scenario : scenarios)
    if (name == scenario.name) {
      scenario.run();
      return 0;
    }
  fprintf(stderr, "scenarios: no %s\n", name.c_str());
  return 2;
}
