// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/against_code.h"

#include "cfi_rows.h"
#include "code_checker.h"
#include "padding.h"
#include "sframe/base/budget_shares.h"
#include "sframe/code/callees.h"
#include "sframe/verify/parallel.h"

#include <algorithm>
#include <functional>
#include <ranges>

namespace sframe::verify {

namespace {

constexpr std::size_t chunk_size = 64; ///< functions per work item of a thread

/// The pieces, divided where FDEs of the CFI start: an FDE of SFrame may have several functions. Both are
/// disjoint and by address. Linear.
std::vector<OwnedRange> divided_at_starts(std::span<const OwnedRange> sframe,
                                          std::span<const OwnedRange> cfi) {
  std::vector<OwnedRange> pieces;
  pieces.reserve(sframe.size());
  auto fde = cfi.begin();
  for (OwnedRange piece : sframe) {
    for (; fde != cfi.end() && fde->begin < piece.end; ++fde) {
      if (fde->begin <= piece.begin) continue;
      pieces.push_back(piece);
      pieces.back().end = fde->begin;
      piece.begin = fde->begin;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

/// Units by address, disjoint. `sframe` and `cfi` are disjoint and by address, and must outlive the result. A
/// piece that extends past the FDE in which it starts, over more than padding, is a separate unit. Linear.
std::vector<CodeUnit> code_units(const Input& input, std::span<const OwnedRange> sframe,
                                 std::span<const OwnedRange> cfi) {
  Padding padding(input);
  const auto ends_in = [&](const OwnedRange& piece, std::uint64_t end) {
    return piece.end <= end || (piece.begin < end && padding.holds(end, piece.end));
  };
  std::vector<CodeUnit> units;
  std::size_t fde = 0;
  for (std::size_t piece = 0; piece < sframe.size();) {
    const OwnedRange& first = sframe[piece];
    while (fde < cfi.size() && cfi[fde].end <= first.begin) ++fde;
    const bool inside = fde < cfi.size() && cfi[fde].begin <= first.begin && ends_in(first, cfi[fde].end);
    CodeUnit unit{first.begin, first.end, {}, {}};
    if (inside) unit = {cfi[fde].begin, cfi[fde].end, {}, cfi[fde]};
    std::size_t next = piece + 1;
    while (inside && next < sframe.size() && ends_in(sframe[next], unit.end)) ++next;
    unit.sframe = sframe.subspan(piece, next - piece);
    units.push_back(unit);
    piece = next;
  }
  return units;
}

/// The bytes of a unit that are analysed.
std::uint64_t size_of(const CodeUnit& unit) {
  return std::min<std::uint64_t>(unit.end - unit.begin, code::Analyzer::max_function_size);
}

/// A thread needs about 100 bytes of memory per byte of the largest unit that it analyses, and no two threads
/// analyse the same one. So many that this is at most 100 MiB, and a few times the size of a large file.
unsigned threads_for(const elf::Image& image, std::span<const CodeUnit> units, unsigned threads) {
  const std::uint64_t most = (std::uint64_t{1} << 20) + image.bytes().size() / 16;
  std::vector<std::uint64_t> largest(std::clamp<std::size_t>(units.size(), 1, std::max(threads, 1u)));
  std::ranges::partial_sort_copy(units | std::views::transform(size_of), largest, std::greater());
  std::uint64_t sum = 0;
  const auto end = std::ranges::find_if(largest, [&](std::uint64_t size) { return (sum += size) > most; });
  return static_cast<unsigned>(std::max<std::ptrdiff_t>(1, end - largest.begin()));
}

/// The sizes of chunks, as far as costs follow from them: of their code, and something for each function.
std::vector<std::uint64_t> chunk_sizes(std::span<const CodeUnit> units) {
  constexpr std::uint64_t per_unit = 64;
  std::vector<std::uint64_t> sizes((units.size() + chunk_size - 1) / chunk_size);
  for (std::size_t i = 0; i < units.size(); ++i) sizes[i / chunk_size] += per_unit + size_of(units[i]);
  return sizes;
}

} // namespace

bool has_code(const Input& input) {
  const elf::Image* image = input.image();
  return image && !image->relocatable() && image->abi() && !input.code().empty() && !input.parts().empty() &&
         &input.parts().front().section.abi() == image->abi();
}

void check_against_code(const Input& input, Workers& workers, Verdicts& verdicts, Sink& sink) {
  if (!has_code(input)) return;
  const std::span<const OwnedRange> cfi = input.all_cfi();
  const std::vector<OwnedRange> sframe = divided_at_starts(input.pieces(), cfi);
  const std::vector<CodeUnit> units = code_units(input, sframe, cfi);
  code::Callees callees(*input.image(), cfi);
  const GoRows go(input.image());
  BudgetShares shares(input.budget(), chunk_sizes(units));
  const auto make_analyzer = [&] { return code::Analyzer(*input.image()->abi()); };
  const unsigned most = threads_for(*input.image(), units, workers.all());
  check_in_chunks(workers, most, units.size(), chunk_size, sink, make_analyzer,
                  [&](std::size_t begin, std::size_t end, code::Analyzer& analyzer, Sink& chunk_sink) {
                    const auto chunk = std::span(units).subspan(begin, end - begin);
                    BudgetShares::Share budget(shares, begin / chunk_size);
                    CodeChecker checker(input, budget, sframe, chunk, analyzer, callees, go, verdicts,
                                        chunk_sink);
                    for (const CodeUnit& unit : chunk) checker.check(unit);
                    input.advance(static_cast<double>(chunk.size()) / static_cast<double>(units.size()));
                  });
}

} // namespace sframe::verify
