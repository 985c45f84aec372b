// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one FDE with its CIE, wherever they are. In a target's memory they may be megabytes apart; the two
// entries alone are copied and put next to one another as a section of their own, which the reader of
// sections (cfi/section.h) then takes like any other.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/address_space.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sframe::remote {

/// What an entry may have at most; real ones have less than a thousand bytes.
inline constexpr std::uint64_t max_cfi_entry = std::uint64_t{1} << 16;

struct RemoteCfi {
  std::vector<std::byte> copy; ///< what `section` views; empty where it is the host's
  cfi::Section section;
  cfi::Fde fde;
  /// Addresses; 0 where there is none. They are those that hold in the target.
  std::uint64_t lsda = 0, personality = 0;
};

/// Fills `cfi` from `place`. bad_version where the entries make no sense, else what memory said.
RemoteStatus load_cfi(unwind::Memory& memory, const CfiPlace& place, RemoteCfi& cfi);

} // namespace sframe::remote
