// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one FDE with its CIE, from any place. In a target's memory they may be megabytes apart; these two
// entries are copied into one small section, which the section reader (cfi/section.h) takes like any other.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/address_space.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sframe::remote {

/// Maximum size of an entry; real ones have less than a thousand bytes.
inline constexpr std::uint64_t max_cfi_entry = std::uint64_t{1} << 16;

struct RemoteCfi {
  std::vector<std::byte> copy; ///< the bytes of `section`; empty if these are the host's
  cfi::CfiSection section;
  cfi::Fde fde;
  /// Addresses in the target; 0 if there is none.
  std::uint64_t lsda = 0, personality = 0;
};

/// Fills `cfi` from `place`. bad_version if the entries are invalid, else the status of the memory accesses.
RemoteStatus load_cfi(unwind::Memory& memory, const CfiLocation& location, RemoteCfi& cfi);

} // namespace sframe::remote
