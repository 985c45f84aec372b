// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The speed of lib/code on all functions of a real library (SFRAME_BENCH_ELF, else LLVM's own shared
// library), on one thread: the decoder alone (Zydis, then ours with its effects), the analysis, and the
// analysis with every row compared. Items are instructions, so the rates are comparable.

#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/lsda.h"
#include "sframe/code/analysis.h"
#include "sframe/code/image_environment.h"
#include "sframe/code/row_follower.h"
#include "sframe/elf/file.h"
#include "sframe/generate/cfi_input.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace sframe;
using namespace sframe::code;

/// A function with all that the analysis asks for.
struct Item {
  std::uint64_t start;
  std::span<const std::byte> bytes;
  std::vector<FrameRow> rows;
  std::vector<CallSite> call_sites;
};

struct Input {
  elf::File file;
  elf::Image image;
  std::vector<Item> functions;
};

void add_function(Input& input, const cfi::CfiSection& section, const cfi::Fde& fde) {
  const auto bytes = input.image.read(fde.start, fde.size);
  if (!bytes || !fde.size || !input.image.is_executable(fde.start)) return;
  Item item{.start = fde.start, .bytes = *bytes, .rows = {}, .call_sites = {}};
  cfi::MinimalRowCursor rows(section, fde);
  for (cfi::MinimalRow row; rows.next(row);)
    if (const auto frame_row = cfi::to_frame_row(row, section.abi())) item.rows.push_back(*frame_row);
  if (item.rows.empty()) return;
  std::vector<cfi::LandingPad> pads;
  if (fde.lsda)
    (void)cfi::read_landing_pads(input.image.bytes_at(fde.lsda->value), fde.lsda->value, fde.start,
                                 section.abi(), pads);
  for (const auto& pad : pads) item.call_sites.push_back({pad.begin, pad.end, pad.landing_pad});
  input.functions.push_back(std::move(item));
}

[[noreturn]] void give_up(const char* path) {
  std::fprintf(stderr, "cannot read %s: set SFRAME_BENCH_ELF\n", path);
  std::exit(2);
}

Input load() {
  const char* path = std::getenv("SFRAME_BENCH_ELF");
  if (!path) path = "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1";
  auto file = elf::File::open(path);
  if (!file) give_up(path);
  auto image = elf::Image::parse(file->bytes());
  if (!image) give_up(path);
  Input input{.file = std::move(*file), .image = std::move(*image), .functions = {}};
  const auto cfi = generate::CfiInput::from_image(input.image);
  if (!cfi) give_up(path);
  const char* const each = std::getenv("SFRAME_BENCH_EACH");
  const std::size_t step = each ? std::max(std::strtoul(each, nullptr, 10), 1ul) : 1;
  std::size_t count = 0;
  for (const cfi::CfiSection& section : cfi->sections)
    for (auto fdes = section.fdes();;) {
      const auto fde = fdes.next();
      if (!fde) continue;
      if (!*fde) break;
      if (count++ % step == 0) add_function(input, section, **fde);
    }
  return input;
}

const Input& input() {
  static const Input loaded = load();
  return loaded;
}

/// Zydis, instruction after instruction, with operands; AMD64 only.
void zydis(benchmark::State& state) {
  if (input().image.abi()->id != Abi::amd64) return state.SkipWithError("not AMD64");
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  std::int64_t count = 0;
  for ([[maybe_unused]] auto _ : state)
    for (const Item& item : input().functions)
      for (std::size_t at = 0; at < item.bytes.size(); ++count) {
        const auto rest = item.bytes.subspan(at);
        const bool good =
            ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, rest.data(), rest.size(), &instruction, operands));
        at += good ? instruction.length : 1;
      }
  state.SetItemsProcessed(count);
}

/// Our decoder, the same way.
void decode(benchmark::State& state) {
  const auto decoder = make_decoder(*input().image.abi());
  Instruction instruction;
  std::vector<Effect> effects;
  std::int64_t count = 0;
  for ([[maybe_unused]] auto _ : state)
    for (const Item& item : input().functions)
      for (std::size_t at = 0; at < item.bytes.size(); ++count) {
        effects.clear();
        decoder->decode(item.bytes.subspan(at), item.start + at, instruction, effects);
        at += instruction.length;
      }
  state.SetItemsProcessed(count);
}

template <bool with_rows> void analyse(benchmark::State& state) {
  const AbiTraits& abi = *input().image.abi();
  code::ImageEnvironment environment(input().image);
  Analyzer analyzer(abi);
  std::int64_t count = 0, agreeing = 0;
  for ([[maybe_unused]] auto _ : state)
    for (const Item& item : input().functions) {
      const Results& results = analyzer.run({.start = item.start,
                                             .bytes = item.bytes,
                                             .entry = item.rows.front(),
                                             .call_sites = item.call_sites,
                                             .rows = item.rows,
                                             .environment = &environment});
      count += results.num_instructions();
      if (!with_rows) continue;
      RowFollower follower(abi);
      results.visit([&](const Reached& at) {
        const auto offset = static_cast<std::uint32_t>(at.instruction.address - item.start);
        const auto row = std::ranges::upper_bound(item.rows, offset, {}, &FrameRow::offset) - 1;
        agreeing += follower.agrees(&*row, at);
      });
    }
  benchmark::DoNotOptimize(agreeing);
  state.SetItemsProcessed(count);
}

/// The row for one address in the middle of a function that was not looked at before, as an unwinder asks.
void one_address(benchmark::State& state) {
  const AbiTraits& abi = *input().image.abi();
  code::ImageEnvironment environment(input().image);
  Analyzer analyzer(abi);
  std::size_t i = 0;
  for ([[maybe_unused]] auto _ : state) {
    const Item& item = input().functions[i++ * 7919 % input().functions.size()];
    const Results& results = analyzer.run(
        {.start = item.start, .bytes = item.bytes, .entry = abi.entry_row(), .environment = &environment});
    benchmark::DoNotOptimize(results.row_at(item.start + item.bytes.size() / 2));
  }
}

BENCHMARK(zydis)->Unit(benchmark::kMillisecond);
BENCHMARK(decode)->Unit(benchmark::kMillisecond);
BENCHMARK(analyse<false>)->Name("analyse")->Unit(benchmark::kMillisecond);
BENCHMARK(analyse<true>)->Name("analyse_and_compare")->Unit(benchmark::kMillisecond);
BENCHMARK(one_address);

} // namespace

BENCHMARK_MAIN();
