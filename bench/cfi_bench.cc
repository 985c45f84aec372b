// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The speed of lib/cfi on a real library (SFRAME_BENCH_ELF, else LLVM's own shared library), compared with
// LLVM's row interpreter on the same bytes. Both stream: no row is stored.

#include "llvm_rows.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/index.h"
#include "sframe/cfi/rows.h"

#include "llvm/Object/ELFObjectFile.h"

#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace sframe;
using namespace sframe::cfi;

struct Input {
  llvm::object::OwningBinary<llvm::object::ObjectFile> file;
  CfiSection eh_frame;
  std::optional<EhFrameHdr> table;
  std::vector<std::uint64_t> addresses; ///< one per FDE, in no order
};

Input load() {
  const char* path = std::getenv("SFRAME_BENCH_ELF");
  if (!path) path = "/usr/lib/x86_64-linux-gnu/libLLVM.so.22.1";
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    std::fprintf(stderr, "cannot read %s: set SFRAME_BENCH_ELF\n", path);
    std::exit(2);
  }
  Input input;
  const auto* elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->getBinary());
  const AbiTraits& abi =
      *find_abi(elf->getEMachine(), elf->isLittleEndian() ? ByteOrder::little : ByteOrder::big);
  for (const auto& part : elf->sections()) {
    const llvm::StringRef name = llvm::cantFail(part.getName());
    if (name != ".eh_frame" && name != ".eh_frame_hdr") continue;
    const llvm::StringRef text = llvm::cantFail(part.getContents());
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    if (name == ".eh_frame")
      input.eh_frame = CfiSection(SectionKind::eh_frame, bytes, part.getAddress(), abi);
    else if (auto table = EhFrameHdr::parse(bytes, part.getAddress(), abi))
      input.table = *table;
  }
  for (auto fdes = input.eh_frame.fdes(); auto fde = fdes.next().value();)
    input.addresses.push_back(fde->start + fde->size / 2);
  for (std::size_t i = input.addresses.size(); i > 1; --i)
    std::swap(input.addresses[i - 1], input.addresses[i * 2654435761u % i]);
  input.file = std::move(*file);
  return input;
}

const Input& input() {
  static const Input loaded = load();
  return loaded;
}

void entries(benchmark::State& state) {
  std::int64_t count = 0;
  for ([[maybe_unused]] auto _ : state)
    for (auto fdes = input().eh_frame.fdes(); auto fde = fdes.next().value();) count += fde->size != 0;
  state.SetItemsProcessed(count);
}

template <class Cursor, class Row> void rows(benchmark::State& state) {
  const CfiSection& section = input().eh_frame;
  std::int64_t count = 0;
  Row row;
  for ([[maybe_unused]] auto _ : state)
    for (auto fdes = section.fdes(); auto fde = fdes.next().value();) {
      Cursor cursor(section, *fde);
      while (cursor.next(row)) ++count;
    }
  state.SetItemsProcessed(count);
}

void projected_rows(benchmark::State& state) {
  const CfiSection& section = input().eh_frame;
  std::int64_t count = 0, representable = 0;
  MinimalRow row;
  for ([[maybe_unused]] auto _ : state)
    for (auto fdes = section.fdes(); auto fde = fdes.next().value();) {
      MinimalRowCursor cursor(section, *fde);
      for (; cursor.next(row); ++count) representable += to_frame_row(row, section.abi()).has_value();
    }
  benchmark::DoNotOptimize(representable);
  state.SetItemsProcessed(count);
}

/// LLVM's interpreter.
void llvm_rows(benchmark::State& state) {
  std::int64_t count = 0;
  for ([[maybe_unused]] auto _ : state) count += bench::count_llvm_rows(input().eh_frame);
  state.SetItemsProcessed(count);
}

void build_index(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(FdeIndex::build(input().eh_frame));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * input().addresses.size()));
}

/// The row for an address, as an unwinder asks for it.
template <bool with_table> void find_row(benchmark::State& state) {
  const Input& in = input();
  if (with_table && !in.table) return state.SkipWithError("no .eh_frame_hdr");
  FdeFinder finder = with_table ? FdeFinder(in.eh_frame, *in.table) : FdeFinder(in.eh_frame);
  std::size_t i = 0;
  FullRow row;
  for ([[maybe_unused]] auto _ : state) {
    const std::uint64_t pc = in.addresses[i++ % in.addresses.size()];
    const auto fde = finder.find(pc);
    FullRowCursor cursor(in.eh_frame, **fde);
    benchmark::DoNotOptimize(cursor.find(pc, row));
  }
}

BENCHMARK(entries)->Unit(benchmark::kMillisecond);
BENCHMARK(rows<MinimalRowCursor, MinimalRow>)->Name("rows/core")->Unit(benchmark::kMillisecond);
BENCHMARK(rows<FullRowCursor, FullRow>)->Name("rows/all_registers")->Unit(benchmark::kMillisecond);
BENCHMARK(projected_rows)->Unit(benchmark::kMillisecond);
BENCHMARK(llvm_rows)->Unit(benchmark::kMillisecond);
BENCHMARK(build_index)->Unit(benchmark::kMillisecond);
BENCHMARK(find_row<true>)->Name("find_row/eh_frame_hdr");
BENCHMARK(find_row<false>)->Name("find_row/index");

} // namespace

BENCHMARK_MAIN();
