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

  explicit KnownRows(const cfi::CfiSection& section);

  /// The FDE with equal rows that was added; nullptr if there is none. Valid until the next add().
  const Entry* find(const cfi::Fde& fde);
  /// Adds the FDE that find() was last called with.
  void add(const Entry& entry) {
    if (key_.size != 0) table_[place_] = {key_, entry};
  }

private:
  struct Key {
    std::uint32_t cie = 0;    ///< its offset in the section
    std::uint32_t offset = 0; ///< of the instructions in the section
    std::uint16_t size = 0;   ///< of the instructions, in bytes
    std::uint16_t tag = 0;    ///< of their hash: the bytes are compared only if it is equal
  };
  struct Slot {
    Key key;
    Entry entry;
  };

  bool is_equal(const Key& other) const;

  cfi::CfiSection section_;
  std::vector<Slot> table_;
  Key key_; ///< of the FDE that was last looked for
  std::size_t place_ = 0;
};

} // namespace sframe::generate
