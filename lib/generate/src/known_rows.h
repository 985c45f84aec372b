// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers converted FDEs by the bytes that their rows come from. FDEs with the same CIE and equal
// instructions have equal rows, at any address, if no instruction names an address: two thirds of a big
// program's FDEs need not be executed.

#pragma once

#include "sframe/builder.h"
#include "sframe/cfi/section.h"

#include <cstdint>
#include <vector>

namespace sframe::generate {

/// The FDEs of one section. The table does not grow: an FDE takes the place of another. So the cost of an FDE
/// is linear in its bytes, whatever the others are.
class KnownRows {
public:
  /// What an FDE became.
  struct Entry {
    Builder::Added function;       ///< has all rows of the FDE
    std::uint32_t last_offset = 0; ///< of the last row, from the FDE's start
  };

  /// For a share of the section's FDEs that take so many bytes.
  KnownRows(const cfi::CfiSection& section, std::uint64_t share);

  /// Where an FDE is in the table, if it is known.
  class Place {
    friend KnownRows;
    std::uint32_t number = 0; ///< in the table
    std::uint32_t cie = 0;    ///< its offset in the section
    std::uint32_t offset = 0; ///< of the instructions in the section
    std::uint16_t size = 0;   ///< of the instructions, in bytes; 0: not to be remembered
    std::uint16_t tag = 0;    ///< of their hash: the bytes are compared only if it is equal
  };

  /// The table and the bytes of other FDEs come from memory, which takes longer than all else here. So ask
  /// for the places of some FDEs, then expect() each, then find() each.
  Place place(const cfi::Fde& fde) const;
  void expect(const Place& place) const;
  /// The FDE with equal rows that was added; nullptr if there is none. Valid until the next add().
  const Entry* find(const Place& place) const;
  void add(const Place& place, const Entry& entry) {
    if (place.size != 0) table_[place.number] = {place.cie, place.offset, place.size, place.tag, entry};
  }

private:
  struct Slot {
    std::uint32_t cie = 0, offset = 0;
    std::uint16_t size = 0, tag = 0;
    Entry entry;
  };

  const std::byte* bytes(std::uint32_t offset) const { return section_.bytes().data() + offset; }

  cfi::CfiSection section_;
  std::vector<Slot> table_;
};

} // namespace sframe::generate
