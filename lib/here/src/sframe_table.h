// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: rules by address from .sframe as it lies in memory.

#pragma once

#include "mapped_memory.h"
#include "rule.h"
#include "section_bytes.h"

#include "sframe/section.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sframe::here {

class SframeTable {
public:
  /// A view of the bytes. Constant cost for one section whose functions are sorted, as linkers write it; else
  /// linear, and functions are sorted here. Ends at the first invalid one of concatenated sections.
  explicit SframeTable(const SectionBytes& bytes);

  /// False if memory ran out.
  bool complete() const { return !sections_.failed() && !functions_.failed(); }

  std::size_t functions() const;
  std::size_t memory() const { return sections_.memory() + functions_.memory(); }

  /// The rule for an address: CFA, RA and FP, with its operations in `to`; nothing if no function contains it
  /// or its row is invalid. If functions overlap, the next one ends this one. Logarithmic in the functions,
  /// linear in the function's rows. Async-signal-safe.
  std::optional<FrameRule> find(std::uint64_t pc, Operations& to) const;

private:
  /// The place of a function's description.
  struct Function {
    std::uint64_t start;
    std::uint32_t section, number;

    friend auto operator<=>(const Function&, const Function&) = default;
  };
  struct Located {
    const Section* section;
    EncodedFde fde;
  };

  std::optional<Located> locate(std::uint64_t pc) const;

  Array<Section> sections_;
  Array<Function> functions_; ///< of all sections, sorted; unused for one that is sorted
};

/// The rule of a row without `fixed` rules, with its operations in `to`.
FrameRule rule_of(const FrameRow& row, bool signal_frame, Operations& to);

/// The operations of the rule at a function's first instruction.
std::array<Operation, 2> entry_operations();

} // namespace sframe::here
