// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lookup index for those who ask often: profilers, unwinders. Built once from one or several sections, it
// answers "which rules hold at this address" without decoding rows: one table lookup and a short search, no
// allocation.
//
// Memory: about 6 bytes per row, and 36 bytes per distinct row, of which a big library has a few thousand.

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
  /// Decodes every row of `sections`; the first fault ends it. The index keeps nothing of the sections'
  /// bytes. Where functions overlap, the one that starts later ends the earlier one. Addresses are those of
  /// the sections; their span must be below 4 GiB (ErrorKind::too_large).
  static std::expected<Index, Error> build(std::span<const Section> sections);

  /// The rules at `pc`, or nullptr where no function covers it. Valid as long as the index.
  const IndexedRow* find(std::uint64_t pc) const;

  /// Bytes that the index holds.
  std::uint64_t memory() const;

private:
  /// A PCMASK function: its rows are looked up by the offset in the block.
  struct Mask {
    std::uint32_t start, rep_size, first, count; ///< rows in mask_rows_
  };
  struct MaskRow {
    std::uint32_t offset, row;
  };

  const IndexedRow* find_in_block(const Mask& mask, std::uint32_t offset) const;

  // The covered addresses from base_ on are cut into buckets of 2^bucket_shift_ bytes. Bucket b has the
  // entries [buckets_[b], buckets_[b + 1]): offset in the bucket << id_bits_ | id, the first at offset 0,
  // increasing. An id is the number of a row, or behind those of a mask; the highest stands for "not
  // covered".
  std::uint64_t base_ = 0;
  std::uint64_t span_ = 0;
  std::uint32_t bucket_shift_ = 0;
  std::uint32_t id_bits_ = 0;
  std::vector<std::uint32_t> buckets_;
  std::vector<std::uint32_t> entries_;
  std::vector<IndexedRow> rows_;
  std::vector<Mask> masks_;
  std::vector<MaskRow> mask_rows_;

  class Maker;
};

} // namespace sframe
