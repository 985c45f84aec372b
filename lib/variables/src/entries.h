// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of debug information with those that they are instances of, whose attributes count as their own
// (DWARF 5, section 2.13 and 3.3.8).

#pragma once

#include "sframe/modules/llvm_debug_info.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::variables {

using modules::DebugEntry;
using modules::DebugReader;

struct FoundAttribute {
  const DebugEntry* entry = nullptr; ///< that has it
  llvm::DWARFFormValue value;
};

inline std::optional<FoundAttribute> find(std::span<const DebugEntry> entries,
                                          llvm::dwarf::Attribute attribute) {
  for (const DebugEntry& entry : entries)
    if (const auto value = entry.die.find(attribute)) return FoundAttribute{&entry, *value};
  return std::nullopt;
}

/// A number in an attribute, signed or not.
inline std::optional<std::uint64_t> number_of(const llvm::DWARFFormValue& value) {
  using namespace llvm::dwarf;
  switch (value.getForm()) {
  case DW_FORM_sdata:
  case DW_FORM_implicit_const: // a signed number, which getAsUnsignedConstant() refuses if it is negative
    if (const auto number = value.getAsSignedConstant()) return static_cast<std::uint64_t>(*number);
    return std::nullopt;
  case DW_FORM_data4: // sections before DWARF 4, too
  case DW_FORM_data8: return value.getRawUValue();
  default: return value.getAsUnsignedConstant();
  }
}

inline std::optional<std::uint64_t> number_of(const llvm::DWARFDie& die, llvm::dwarf::Attribute attribute) {
  const auto value = die.find(attribute);
  return value ? number_of(*value) : std::nullopt;
}

inline bool has_flag(std::span<const DebugEntry> entries, llvm::dwarf::Attribute attribute) {
  const auto found = find(entries, attribute);
  return found && found->value.getAsUnsignedConstant().value_or(0) != 0;
}

/// The bytes of a block or expression; nothing for another form.
inline std::optional<std::span<const std::byte>> block_of(const llvm::DWARFFormValue& value) {
  const auto block = value.getAsBlock();
  if (!block) return std::nullopt;
  return std::as_bytes(std::span(block->data(), block->size()));
}

} // namespace sframe::variables
