// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes through all of libsframe's operations on a section: read, look up, convert, write, flip,
// optimize. What is read, written and read again must be equal; flipping twice must give the same bytes; an
// optimized section is not larger, has the same rules, and is not changed by optimizing it again.

#include "cost.h"

#include "sframe/convert.h"
#include "sframe/index.h"
#include "sframe/optimize.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <source_location>

using namespace sframe;

namespace {

/// Shared rows let a few bytes name very many rows, which is right but slow to walk again and again.
constexpr std::uint64_t max_rows = 100'000;

void require(bool condition, std::source_location where = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "codec_fuzzer.cc:%u: a property does not hold\n", static_cast<unsigned>(where.line()));
  std::abort();
}

/// Walks all rows; nothing if the section is malformed or names too many rows.
bool walk(const Section& section) {
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    auto fde = section.fde(i);
    if (!fde) {
      require(*message(fde.error().kind));
      return false;
    }
    RowCursor cursor = section.rows(*fde), several = cursor;
    std::array<FrameRow, 5> ahead;
    std::size_t count = 0, used = 0;
    for (FrameRow row; cursor.next(row);) {
      if (++rows > max_rows) return false;
      if (used == count) count = several.next(ahead), used = 0;
      require(used < count && ahead[used++] == row);
      std::string text = rule_text(row.cfa, section.abi(), true) + rule_text(row.ra, section.abi());
      require(!text.empty());
    }
    require(used == count && several.next(ahead) == 0 && several.error() == cursor.error());
    if (cursor.error()) {
      require(cursor.error()->offset <= section.bytes().size() && *message(cursor.error()->kind));
      return false;
    }
  }
  return true;
}

/// The index agrees with the section at the edges of every function.
void compare_lookups(const Section& section) {
  auto index = Index::build({&section, 1});
  if (!index) return;
  for (std::uint32_t i = 0; i < std::min(section.num_fdes(), 64u); ++i) {
    const Fde fde = *section.fde(i);
    for (std::uint64_t pc : {fde.start - 1, fde.start, fde.start + fde.size / 2, fde.start + fde.size}) {
      (void)index->find(pc);
      (void)section.find(pc);
    }
  }
}

void reencode(const Section& section) {
  for (std::uint8_t version = 1; version <= 3; ++version)
    for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      BuildOptions options{.version = VersionNumber{version}, .abi = section.abi().id, .byte_order = order};
      options.share_rows = version != 2;
      auto converted = convert({&section, 1}, options, section.address());
      if (!converted) continue;
      auto again = Section::parse(converted->bytes, section.address());
      require(again.has_value());
      require(walk(*again) || converted->num_fdes > 0);
      auto flipped = flip_byte_order(converted->bytes);
      require(flipped.has_value());
      auto back = flip_byte_order(*flipped);
      require(back && *back == converted->bytes);
    }
}

bool equal_rules(const expected<std::optional<Match>, Error>& a,
                 const expected<std::optional<Match>, Error>& b, const Header& header) {
  if (!a || !b || !*a || !*b) return a && b && !*a == !*b;
  const auto resolved = [&](const Match& match) {
    FrameRow row = resolve_fixed(match.row, header.fixed_ra_offset, header.fixed_fp_offset);
    row.offset = 0;
    return row;
  };
  return (*a)->fde.signal_frame == (*b)->fde.signal_frame && resolved(**a) == resolved(**b);
}

/// Lookups are defined only where functions are sorted by their distance from the section, and neither empty
/// nor over each other.
bool is_ordered(const Section& section) {
  constexpr std::int64_t far = std::int64_t{1} << 62; // where distances do not wrap
  std::int64_t end = -far;
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const Fde fde = *section.fde(i);
    const auto distance = static_cast<std::int64_t>(fde.start - section.address());
    if (distance < end || distance > far || fde.size == 0) return false;
    end = distance + fde.size;
  }
  return section.header().flags & flag_sorted;
}

void optimize_section(const Section& section) {
  for (const auto goal :
       {OptimizeOptions::Goal::size, OptimizeOptions::Goal::smallest, OptimizeOptions::Goal::lookup}) {
    const OptimizeOptions options{.goal = goal, .max_rows = 7};
    const auto bytes = optimize(section, options);
    if (!bytes) continue; // rows that cannot be read
    require(goal == OptimizeOptions::Goal::lookup || bytes->size() <= section.bytes().size());
    const auto optimized = Section::parse(*bytes, section.address());
    require(optimized.has_value());
    const auto again = optimize(*optimized, options);
    require(again && *again == *bytes);
    if (!is_ordered(section)) continue;
    for (std::uint32_t i = 0; i < std::min(section.num_fdes(), 64u); ++i) {
      const Fde fde = *section.fde(i);
      for (const std::uint64_t pc : {fde.start, fde.start + fde.size / 2, fde.start + fde.size - 1})
        require(equal_rules(optimized->find(pc), section.find(pc), section.header()));
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  Concatenated sections(bytes, 0x400000);
  for (int i = 0; i < 8; ++i) {
    auto section = sections.next();
    if (!section || !*section) break;
    (void)(*section)->check_index();
    if (!walk(**section)) continue;
    compare_lookups(**section);
    reencode(**section);
    optimize_section(**section);
  }
  if (auto flipped = flip_byte_order(bytes)) {
    auto back = flip_byte_order(*flipped);
    require(back && std::equal(back->begin(), back->end(), bytes.begin()));
  }
  return 0;
}
