// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines which FDE owns an address that several describe (the rule is in sframe/generate/from_cfi.h).
// Most sections have no overlaps, so only FDEs that do not own their whole range are stored.

#pragma once

#include "sframe/cfi/index.h"
#include "sframe/generate/cfi_input.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

/// Addresses [begin, end) that belong to the FDE at `fde` in its section.
struct Piece {
  std::uint64_t fde = 0;
  std::uint64_t begin = 0, end = 0;
};

/// The addresses that some sections describe: disjoint intervals by address.
class Covered {
public:
  struct Interval {
    std::uint64_t begin, end;
  };
  /// Adds the ranges of an index's FDEs. Linear.
  void add(std::span<const cfi::Index::Entry> entries);
  bool empty() const { return intervals_.empty(); }
  /// The intervals that end after `address`.
  std::span<const Interval> from(std::uint64_t address) const;

private:
  std::vector<Interval> intervals_;
};

class Ownership {
public:
  /// For one section. `entries` is its index; addresses in `covered` belong to other sections. N log N in the
  /// FDEs that overlap, linear in the rest.
  Ownership(std::span<const cfi::Index::Entry> entries, const Covered& covered);

  /// The ranges that an FDE owns, by address; possibly empty. `whole` is storage for the result if the FDE
  /// owns its whole range. Logarithmic in the number of FDEs that overlap.
  std::span<const Piece> pieces(const cfi::Fde& fde, Piece& whole) const;

private:
  void divide(std::span<const cfi::Index::Entry> cluster);
  void subtract(const Covered& covered);

  std::vector<Piece> exceptions_; ///< by FDE, then address; an empty piece marks each listed FDE
};

} // namespace sframe::generate
