// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walking alone: every thread of a core, without printing and names. Time per frame, by SFrame (converted
// from CFI in memory, so that both have the same rows) and by CFI:
//
// - warm: the same walker again, whose caches have all rules
// - cold: a new walker; the modules' tables are open
// - all: also opens the core, its modules and their tables
//
//    walk-bench CORE [EXECUTABLE] [benchmark options]        bench/threads.c makes a core of 65 threads

#include "sframe/core/core.h"
#include "sframe/elf/file.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace sframe;

std::string core_path, executable;

class Counter final : public unwind::FrameReceiver {
public:
  bool frame(const unwind::Frame&, const unwind::Registers&) override {
    ++frames;
    return true;
  }
  std::size_t frames = 0;
};

struct Process {
  explicit Process(bool generate)
      : file(*elf::File::open(core_path)), core(*core::Core::parse(file.bytes())),
        process(
            *process::CoreProcess::create(core, {.executable = executable, .generate_sframe = generate})) {}

  unwind::Walker walker() const {
    process::CoreSpace& space = process->space();
    return unwind::Walker(space, steppers::default_steppers(space.abi(), space.main_module()));
  }
  std::size_t walk(unwind::Walker& walker) const {
    Counter counter;
    for (const process::Thread& thread : process->threads()) walker.walk(thread.frame(), counter);
    return counter.frames;
  }

  elf::File file;
  core::Core core;
  std::unique_ptr<process::CoreProcess> process;
};

void report(benchmark::State& state, std::size_t frames) {
  state.counters["frames"] = static_cast<double>(frames);
  state.counters["per_frame"] =
      benchmark::Counter(static_cast<double>(frames),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void warm(benchmark::State& state, bool generate) {
  const Process process(generate);
  unwind::Walker walker = process.walker();
  std::size_t frames = process.walk(walker);
  for ([[maybe_unused]] auto _ : state) frames = process.walk(walker);
  report(state, frames);
}

void cold(benchmark::State& state, bool generate) {
  const Process process(generate);
  unwind::Walker first = process.walker();
  std::size_t frames = process.walk(first);
  for ([[maybe_unused]] auto _ : state) {
    unwind::Walker walker = process.walker();
    frames = process.walk(walker);
  }
  report(state, frames);
}

void all(benchmark::State& state, bool generate) {
  std::size_t frames = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Process process(generate);
    unwind::Walker walker = process.walker();
    frames = process.walk(walker);
  }
  report(state, frames);
}

} // namespace

BENCHMARK_CAPTURE(warm, sframe, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(warm, cfi, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cold, sframe, true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cold, cfi, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(all, cfi, false)->Unit(benchmark::kMicrosecond);

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fputs("usage: walk-bench CORE [EXECUTABLE] [--benchmark_...]\n", stderr);
    return EXIT_FAILURE;
  }
  core_path = argv[1];
  if (argc > 2) executable = argv[2];
  const auto file = elf::File::open(core_path);
  if (!file || !core::Core::parse(file->bytes())) {
    std::fprintf(stderr, "walk-bench: %s cannot be read\n", argv[1]);
    return EXIT_FAILURE;
  }
  benchmark::RunSpecifiedBenchmarks();
}
