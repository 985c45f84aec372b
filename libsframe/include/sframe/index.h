// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lookup index for those who ask often: profilers, unwinders. Built once from one or several sections, it answers "which rules hold
// at this address" without decoding rows: one table lookup and a short search, no allocation.
//
// Memory: 8 bytes per row, at most 4 bytes per row for the table, and 32 bytes per distinct row (a few thousand in a big library).

#pragma once

#include "sframe/section.h"

#include <cstdint>
#include <expected>
#include <span>
#include <vector>

namespace sframe {

/// What holds at an address. row.offset is 0: equal rules of different functions are stored once.
struct IndexedRow {
  FrameRow row;
  bool signal_frame = false;
  PauthKey pauth_key = PauthKey::a;
};

class Index {
public:
  /// Decodes every row of `sections`; the first fault ends it. The index keeps nothing of the sections' bytes. Where functions overlap,
  /// the one that starts later ends the earlier one. Addresses are those of the sections; their span must be below 4 GiB (ErrorKind::too_large).
  static std::expected<Index, Error> build(std::span<const Section> sections);

  /// The rules at `pc`, or nullptr where no function covers it. Valid as long as the index.
  const IndexedRow* find(std::uint64_t pc) const;

  /// Bytes that the index holds.
  std::uint64_t memory() const;

private:
  static constexpr std::uint32_t uncovered = 0xffffffff;
  static constexpr std::uint32_t masked = 0x80000000; ///< the entry names a PCMASK function, not a row

  struct Entry {
    std::uint32_t start; ///< from base_
    std::uint32_t row;   ///< in rows_, or masked | number in masks_, or uncovered
  };
  struct Mask {
    std::uint32_t start, rep_size, first, count; ///< rows in mask_entries_, by offset in the block
  };

  std::uint64_t base_ = 0;
  std::uint64_t span_ = 0;
  std::uint32_t bucket_shift_ = 0;
  std::vector<std::uint32_t> buckets_; ///< per 2^bucket_shift_ bytes: the last entry that starts at or before the first of them
  std::vector<Entry> entries_;
  std::vector<IndexedRow> rows_;
  std::vector<Mask> masks_;
  std::vector<Entry> mask_entries_;

  class Maker;
};

} // namespace sframe
