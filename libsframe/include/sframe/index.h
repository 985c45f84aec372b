// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lookup index for frequent lookups: profilers, unwinders. Built once from one or several sections, it
// finds the rules for an address without decoding rows: one table lookup and a short search, no allocation.
//
// Memory: about 5 bytes per row, and 36 bytes per distinct row, of which a big library has a few thousand.

#pragma once

#include "sframe/expected.h"
#include "sframe/section.h"

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// The rules for an address. row.offset is 0: equal rules of different functions are stored once.
struct IndexedRow {
  FrameRow row;
  bool signal_frame = false;
  PauthKey pauth_key = PauthKey::a;
};

class Index {
public:
  /// Decodes every row of `sections`; fails with the first error. The index keeps no pointer into the
  /// sections' bytes. If functions overlap, the one that starts later ends the earlier one. Addresses are
  /// those of the sections; their span must be below 4 GiB (ErrorKind::too_large).
  static expected<Index, Error> build(std::span<const Section> sections);

  /// The rules at `pc`, or nullptr if no function covers it. Valid as long as the index.
  const IndexedRow* find(std::uint64_t pc) const;

  /// Memory of the index in bytes.
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

  // The covered addresses from base_ on are divided into groups of 2^group_shift_ bytes, and these into
  // buckets of 2^bucket_shift_. Group g has the entries from groups_[g] on: offset in the group << id_bits_ |
  // id, increasing, the first at offset 0, and then as many as find() reads at a time that are above all
  // others. Bucket b's first address has the rules of the group's entry buckets_[b], or of a later one where
  // 16 bits are too few. An id is the number of a row; ids after the rows are masks; a higher one means "not
  // covered". The sign bit of entries is inverted: instruction sets compare signed numbers.
  std::uint64_t base_ = 0;
  std::uint64_t span_ = 0;
  std::uint32_t bucket_shift_ = 0;
  std::uint32_t group_shift_ = 0;
  std::uint32_t id_bits_ = 0;
  std::uint32_t row_count_ = 0; ///< rows_.size()
  std::vector<std::uint32_t> groups_;
  std::vector<std::uint16_t> buckets_;
  std::vector<std::int32_t> entries_;
  std::vector<IndexedRow> rows_;
  std::vector<Mask> masks_;
  std::vector<MaskRow> mask_rows_;

  class [[gnu::visibility("hidden")]] Maker;
};

} // namespace sframe

#pragma GCC visibility pop
