// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes through all of libsframe's operations on a section: read, look up, convert, write, flip.
// What is read, written and read again must be equal; flipping twice must give the same bytes.

#include "cost.h"

#include "sframe/convert.h"
#include "sframe/index.h"

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
    RowCursor cursor = section.rows(*fde);
    for (FrameRow row; cursor.next(row);) {
      if (++rows > max_rows) return false;
      std::string text = rule_text(row.cfa, section.abi(), true) + rule_text(row.ra, section.abi());
      require(!text.empty());
    }
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
  }
  if (auto flipped = flip_byte_order(bytes)) {
    auto back = flip_byte_order(*flipped);
    require(back && std::equal(back->begin(), back->end(), bytes.begin()));
  }
  return 0;
}
