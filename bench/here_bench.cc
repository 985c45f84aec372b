// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks of the calling thread's stack: nanoseconds per frame of sframe::here::callers() and its peers, from
// one place, in stacks of about 20 and 200 frames, warm.
//
// - cold: the tables exist, the cache of rules is empty
// - by_chain: what no walk can be faster than: as many loads, each of an address that the one before gave
//
// "refresh" in the context is the time of the first refresh().
//
//   here-bench [benchmark options]

#include "sframe/here/here.h"

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include <dlfcn.h>
#include <execinfo.h>
#include <unwind.h>
#ifdef SFRAME_BENCH_LIBUNWIND
#  define UNW_LOCAL_ONLY
#  include <libunwind.h>
#endif

namespace {

using namespace sframe;

std::array<std::uint64_t, 512> frames;

std::size_t by_here() {
  return here::callers(frames).count;
}
std::size_t by_here_in_handler() {
  return here::callers_in_handler(frames).count;
}

/// The function of that name in that library: libunwind has some of the same name.
template <class Function> Function* function_of(const char* library, const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(dlopen(library, RTLD_NOW), name));
}

std::size_t by_libgcc() {
  static const auto unwind = function_of("libgcc_s.so.1", "_Unwind_Backtrace", &_Unwind_Backtrace);
  static const auto get_ip = function_of("libgcc_s.so.1", "_Unwind_GetIP", &_Unwind_GetIP);
  std::size_t count = 0;
  unwind(
      [](_Unwind_Context* context, void* count_at) {
        auto& n = *static_cast<std::size_t*>(count_at);
        frames[n++] = get_ip(context);
        return _URC_NO_REASON;
      },
      &count);
  return count;
}

std::size_t by_glibc() {
  static const auto glibc_backtrace = function_of("libc.so.6", "backtrace", &backtrace);
  return static_cast<std::size_t>(
      glibc_backtrace(reinterpret_cast<void**>(frames.data()), static_cast<int>(frames.size())));
}

#ifdef SFRAME_BENCH_LIBUNWIND
std::size_t by_unw_backtrace() {
  return static_cast<std::size_t>(
      unw_backtrace(reinterpret_cast<void**>(frames.data()), static_cast<int>(frames.size())));
}

std::size_t by_unw_step() {
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  std::size_t count = 0;
  unw_word_t pc = 0;
  do {
    unw_get_reg(&cursor, UNW_REG_IP, &pc);
    frames[count++] = pc;
  } while (unw_step(&cursor) > 0);
  return count;
}
#endif

/// 200 links, 96 bytes apart.
std::size_t by_chain() {
  constexpr std::size_t count = 200;
  struct alignas(32) Link {
    Link* next;
    std::array<std::byte, 88> frame;
  };
  static std::array<Link, count + 1> links;
  static const bool made = [] {
    for (std::size_t i = 0; i < count; ++i) links[i].next = &links[i + 1];
    return true;
  }();
  benchmark::DoNotOptimize(made);
  const Link* link = links.data();
  for (std::size_t i = 0; i < count; ++i) link = link->next;
  benchmark::DoNotOptimize(link);
  return count;
}

void report(benchmark::State& state, std::size_t count) {
  state.counters["frames"] = static_cast<double>(count);
  state.counters["per_frame"] =
      benchmark::Counter(static_cast<double>(count),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void measure_warm(benchmark::State& state, std::size_t (*walk)()) {
  std::size_t count = walk();
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(count = walk());
  report(state, count);
}

/// After each load of a library, refresh() makes a snapshot with an empty cache. The clock runs during the
/// walk only.
void measure_cold(benchmark::State& state, std::size_t (*walk)()) {
  using Clock = std::chrono::steady_clock;
  std::size_t count = 0;
  for ([[maybe_unused]] auto _ : state) {
    void* const library = dlopen("libutil.so.1", RTLD_NOW);
    here::refresh();
    const auto start = Clock::now();
    count = walk();
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    dlclose(library);
    here::refresh();
  }
  report(state, count);
}

struct Task {
  void (*measure)(benchmark::State&, std::size_t (*walk)());
  std::size_t (*walk)();
};

/// Calls itself until the stack has about `depth` frames more; three kinds of frames in turn.
[[gnu::noinline]] void descend(benchmark::State& state, const Task& task, std::int64_t depth);

[[gnu::noinline]] void descend_large(benchmark::State& state, const Task& task, std::int64_t depth) {
  std::array<char, 2000> room;
  benchmark::DoNotOptimize(room.data());
  descend(state, task, depth);
  benchmark::ClobberMemory();
}

[[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]] void
descend_with_fp(benchmark::State& state, const Task& task, std::int64_t depth) {
  descend(state, task, depth);
  benchmark::ClobberMemory();
}

void descend(benchmark::State& state, const Task& task, std::int64_t depth) {
  if (depth <= 0)
    task.measure(state, task.walk);
  else if (depth % 3 == 0)
    descend_large(state, task, depth - 2);
  else if (depth % 3 == 1)
    descend_with_fp(state, task, depth - 2);
  else
    descend(state, task, depth - 1);
  benchmark::ClobberMemory();
}

void warm(benchmark::State& state, std::size_t (*walk)()) {
  descend(state, {measure_warm, walk}, state.range(0));
}
void cold(benchmark::State& state, std::size_t (*walk)()) {
  descend(state, {measure_cold, walk}, state.range(0));
}

#define PEER(name) BENCHMARK_CAPTURE(warm, name, name)->Arg(10)->Arg(190)
PEER(by_here);
PEER(by_here_in_handler);
BENCHMARK_CAPTURE(warm, by_chain, by_chain)->Arg(190);
BENCHMARK_CAPTURE(cold, by_here_in_handler, by_here_in_handler)
    ->Arg(10)
    ->Arg(190)
    ->UseManualTime()
    ->Iterations(200);
PEER(by_libgcc);
PEER(by_glibc);
#ifdef SFRAME_BENCH_LIBUNWIND
PEER(by_unw_backtrace);
PEER(by_unw_step);
#endif

} // namespace

int main(int argc, char** argv) {
  const auto start = std::chrono::steady_clock::now();
  here::refresh();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const here::Tables tables = here::tables();
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("refresh ms", std::to_string(took.count()));
  benchmark::AddCustomContext("modules", std::to_string(tables.modules));
  benchmark::AddCustomContext("functions", std::to_string(tables.functions));
  benchmark::AddCustomContext("bytes of tables", std::to_string(tables.bytes));
  benchmark::RunSpecifiedBenchmarks();
}
