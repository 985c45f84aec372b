// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The codec: decoding and encoding in rows per second, lookups in nanoseconds, from a thousand to a million
// functions. If GNU libsframe's headers are installed (Debian: binutils-dev), its lookup runs on the same
// section in the same run.

#include "made_section.h"
#include "sframe/index.h"
#include "sframe/section.h"

#include <array>
#include <benchmark/benchmark.h>
#include <map>

#ifdef SFRAME_BENCH_GNU
extern "C" {
#  include <sframe-api.h>
}
#endif

namespace sframe::bench {
namespace {

constexpr std::uint64_t address = 0x300000;

struct Data {
  std::vector<MadeFunction> functions;
  std::vector<std::byte> bytes;
  std::uint64_t rows = 0;
  std::vector<std::uint64_t>
      pcs; ///< random addresses inside functions, a power of two of them: no division in the timed loop
};

/// Made once per size and version.
const Data& data(std::uint32_t count, VersionNumber version) {
  static std::map<std::pair<std::uint32_t, VersionNumber>, Data> made;
  auto [at, added] = made.try_emplace({count, version});
  Data& data = at->second;
  if (!added) return data;
  data.functions = make_functions(count);
  data.bytes = encode(data.functions, {.version = version}, address);
  std::mt19937_64 random(1);
  for (const MadeFunction& function : data.functions) data.rows += function.rows.size();
  for (int i = 0; i < 1 << 20; ++i) {
    const Fde& fde = data.functions[random() % count].fde;
    data.pcs.push_back(fde.start + random() % fde.size);
  }
  return data;
}

void decode_all_rows(benchmark::State& state, VersionNumber version) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), version);
  auto section = Section::parse(d.bytes, address);
  for ([[maybe_unused]] auto _ : state) {
    std::uint64_t sum = 0;
    std::array<FrameRow, 32> rows;
    for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
      RowCursor cursor = section->rows(*section->fde(i));
      while (const std::size_t count = cursor.next(rows))
        for (const FrameRow& row : std::span(rows).first(count))
          sum += static_cast<std::uint64_t>(row.cfa.offset);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * d.rows));
}

void encode_all_rows(benchmark::State& state, bool share) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), VersionNumber::v3);
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(encode(d.functions, {.share_rows = share}, address).data());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * d.rows));
}

void find_in_section(benchmark::State& state, VersionNumber version) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), version);
  auto section = Section::parse(d.bytes, address);
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(section->find(d.pcs[i++ & (d.pcs.size() - 1)]));
}

void find_in_index(benchmark::State& state) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), VersionNumber::v3);
  auto section = Section::parse(d.bytes, address);
  auto index = Index::build({&*section, 1});
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(index->find(d.pcs[i++ & (d.pcs.size() - 1)]));
  state.counters["MiB"] = static_cast<double>(index->memory()) / (1 << 20);
  state.counters["section_MiB"] = static_cast<double>(d.bytes.size()) / (1 << 20);
}

void build_index(benchmark::State& state) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), VersionNumber::v3);
  auto section = Section::parse(d.bytes, address);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(Index::build({&*section, 1}));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * d.rows));
}

#ifdef SFRAME_BENCH_GNU
/// GNU libsframe 2.40 reads version 1; addresses are relative to the section.
void gnu_find_fre(benchmark::State& state) {
  const Data& d = data(static_cast<std::uint32_t>(state.range(0)), VersionNumber::v1);
  int error = 0;
  sframe_decoder_ctx* context =
      sframe_decode(reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size(), &error);
  if (!context) return state.SkipWithError("sframe_decode failed");
  std::size_t i = 0, found = 0;
  for ([[maybe_unused]] auto _ : state) {
    sframe_frame_row_entry fre;
    found += sframe_find_fre(context, static_cast<std::int32_t>(d.pcs[i++ & (d.pcs.size() - 1)] - address),
                             &fre) == 0;
  }
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(i);
  sframe_decoder_free(&context);
}
BENCHMARK(gnu_find_fre)->RangeMultiplier(10)->Range(1000, 100'000);
#endif

BENCHMARK_CAPTURE(decode_all_rows, v1, VersionNumber::v1)->Arg(100'000);
BENCHMARK_CAPTURE(decode_all_rows, v2, VersionNumber::v2)->Arg(100'000);
BENCHMARK_CAPTURE(decode_all_rows, v3, VersionNumber::v3)->RangeMultiplier(10)->Range(1000, 1'000'000);
BENCHMARK_CAPTURE(encode_all_rows, plain, false)->RangeMultiplier(10)->Range(1000, 1'000'000);
BENCHMARK_CAPTURE(encode_all_rows, shared, true)->RangeMultiplier(10)->Range(1000, 1'000'000);
BENCHMARK_CAPTURE(find_in_section, v1, VersionNumber::v1)->Arg(100'000);
BENCHMARK_CAPTURE(find_in_section, v3, VersionNumber::v3)->RangeMultiplier(10)->Range(1000, 1'000'000);
BENCHMARK(find_in_index)->RangeMultiplier(10)->Range(1000, 1'000'000);
BENCHMARK(build_index)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace sframe::bench

BENCHMARK_MAIN();
