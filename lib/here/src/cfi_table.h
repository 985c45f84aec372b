// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: rules by address from .eh_frame as it lies in memory: the FDE is found by the linker's search
// table, and its instructions are executed up to the address.

#pragma once

#include "mapped_memory.h"
#include "rule.h"
#include "section_bytes.h"
#include "workspace.h"

#include "sframe/cfi/index.h"
#include "sframe/cfi/section.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sframe::here {

class CfiTable {
public:
  /// A view of the bytes. Constant cost if there is a search table (.eh_frame_hdr); else linear in the
  /// section, whose functions are then sorted here.
  CfiTable(const SectionBytes& section, const SectionBytes& search_table);

  /// False if memory ran out.
  bool complete() const { return !own_.failed(); }

  /// Functions of the search table.
  std::size_t functions() const { return linked_ ? linked_->size() : own_.size(); }
  std::size_t memory() const { return own_.memory(); }
  /// What rules refer to.
  std::span<const std::byte> bytes() const { return section_.bytes(); }

  /// The rule for an address, with all registers and its operations in `to`; nothing if no function contains
  /// it, or tables cannot represent the rule (offsets of more than 32 bits). If functions overlap, the next
  /// one ends this one. Logarithmic in the functions, linear in the function's rows. Async-signal-safe.
  std::optional<FrameRule> find(std::uint64_t pc, Operations& to, Scratch& scratch) const;

private:
  struct Location {
    std::uint64_t start;
    std::uint64_t offset; ///< of the FDE in the section

    friend auto operator<=>(const Location&, const Location&) = default;
  };

  std::optional<Location> locate(std::uint64_t pc) const;

  cfi::CfiSection section_;
  std::optional<cfi::EhFrameHdr> linked_;
  Array<Location> own_; ///< sorted, without those of size 0
};

} // namespace sframe::here
