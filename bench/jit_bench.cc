// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code that comes and goes: the registry beside what libgcc and gdb have for it. Prints a table:
// nanoseconds of CPU time for an addition and for a removal with so many regions, in the order in which they
// came (code that gets old is removed), for a lookup, and bytes of memory for each region.
//
//   jit-bench [REGIONS...]      default: 1000 10000

#include "sframe/jit/eh_frame.h"
#include "sframe/jit/publishers.h"
#include "sframe/jit/registry.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <malloc.h>

namespace {

using namespace sframe;

constexpr std::uint64_t first = std::uint64_t{1} << 32, distance = 0x80; ///< addresses without code

jit::Rows make_rows() {
  const AbiTraits& abi = traits(jit::host_abi());
  const std::vector<FrameRow> rows = {
      {0, Rule::value(abi.sp, 16), Rule::at_cfa(-8), {}, false},
      {4, Rule::value(abi.sp, 48), Rule::at_cfa(-8), Rule::at_cfa(-16), false},
      {90, Rule::value(abi.sp, 16), Rule::at_cfa(-8), {}, false}};
  return jit::Rows::make({.size = 100}, rows).value();
}

class Clock {
public:
  /// Nanoseconds of CPU time since the last call, for each of `count`.
  double lap(std::size_t count) {
    const double elapsed = now() - last_;
    last_ = now();
    return elapsed / static_cast<double>(count);
  }

private:
  static double now() {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }

  double last_ = now();
};

std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void print(const char* what, std::size_t count, double add, double remove, std::optional<double> find,
           std::size_t memory) {
  std::printf("%-24s %8zu %10.0f %10.0f ", what, count, add, remove);
  if (find)
    std::printf("%8.0f", *find);
  else
    std::printf("%8s", "");
  std::printf(" %8zu\n", memory / count);
}

void measure_registry(std::size_t count) {
  jit::Registry registry;
  std::vector<jit::Region> regions(count);
  const std::size_t before = allocated();
  Clock clock;
  for (std::size_t i = 0; i < count; ++i) // rows of its own for each
    regions[i] =
        registry.add({reinterpret_cast<void*>(first + i * distance), "function"}, make_rows()).value();
  const double add = clock.lap(count);
  const std::size_t memory = allocated() - before;
  std::mt19937_64 random(1);
  std::size_t found = 0;
  constexpr std::size_t lookups = 1'000'000;
  clock.lap(1);
  for (std::size_t i = 0; i < lookups; ++i) {
    SourcedRow row;
    found += jit::Registry::find(first + random() % count * distance + 50, row);
  }
  const double find = clock.lap(lookups);
  if (found != lookups) std::abort();
  for (std::size_t i = 0; i < count; ++i) {
    (void)registry.remove(regions[i]);
    if (i % 64 == 63) registry.collect();
  }
  registry.collect();
  print("sframe::jit::Registry", count, add, clock.lap(count), find, memory);
}

/// A publisher alone.
template <class Publisher> void measure(const char* what, std::size_t count) {
  const jit::Rows rows = make_rows();
  Publisher publisher;
  const std::size_t before = allocated();
  Clock clock;
  for (std::size_t i = 0; i < count; ++i)
    if (!publisher.add({first + i * distance, "function", rows})) std::abort();
  const double add = clock.lap(count);
  const std::size_t memory = allocated() - before;
  clock.lap(1);
  for (std::size_t i = 0; i < count; ++i) publisher.drop({first + i * distance, "function", rows});
  print(what, count, add, clock.lap(count), {}, memory);
}

} // namespace

int main(int argc, char** argv) try {
  std::vector<std::size_t> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::stoul(argv[i]));
  if (counts.empty()) counts = {1000, 10000};
  std::printf("%-24s %8s %10s %10s %8s %8s\n", "", "regions", "add ns", "remove ns", "find ns", "bytes");
  for (const std::size_t count : counts) {
    measure_registry(count);
    measure<jit::GdbInterface>("GDB's JIT interface", count);
    if (count > 100'000) continue; // libgcc 12 searches a list for each removal: this would take an hour
    measure<jit::FrameRegistration>("__register_frame", count);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "jit_bench: %s\n", error.what());
  return 2;
}
