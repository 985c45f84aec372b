// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines which FDE owns an address that several describe (the rule is in sframe/generate/from_cfi.h).
// Most sections have no overlaps, so only FDEs that do not own their whole range are stored.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/cfi/index.h"
#include "sframe/generate/cfi_input.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

/// The ranges of an index's FDEs.
std::vector<AddressRange> ranges_of(std::span<const cfi::FdeIndex::Entry> entries);

class Ownership {
public:
  /// For one section. `entries` is its index; addresses in `covered` belong to other sections. N log N in the
  /// FDEs that overlap, linear in the rest.
  Ownership(std::span<const cfi::FdeIndex::Entry> entries, const AddressSet& covered);

  /// The ranges that an FDE owns, by address; possibly empty. `whole` is storage for the result if the FDE
  /// owns its whole range. Logarithmic in the number of FDEs that overlap.
  std::span<const OwnedRange> pieces(const cfi::Fde& fde, OwnedRange& whole) const;

private:
  void divide(std::span<const cfi::FdeIndex::Entry> cluster);
  void subtract(const AddressSet& covered);

  /// `item` is the FDE's offset; by FDE, then address. An empty range marks each listed FDE.
  std::vector<OwnedRange> exceptions_;
};

} // namespace sframe::generate
