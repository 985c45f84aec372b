// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dynamic segment (System V gABI, chapter 5, "Dynamic Section") and the auxiliary vector (getauxval(3))
// of 64-bit processes: pairs of a tag and a value, ended by tag 0 (DT_NULL, AT_NULL).

#pragma once

#include "sframe/bytes.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::elf {

/// Tags of the dynamic segment.
inline constexpr std::uint64_t dt_pltgot = 3, dt_rela = 7, dt_relasz = 8, dt_debug = 21, dt_textrel = 22,
                               dt_flags = 30;
/// Of the value of dt_flags.
inline constexpr std::uint64_t df_textrel = 4;

/// Tags of the auxiliary vector.
inline constexpr std::uint64_t at_phdr = 3, at_phnum = 5, at_entry = 9, at_random = 25, at_execfn = 31,
                               at_sysinfo_ehdr = 33;

struct TaggedValue {
  std::uint64_t tag = 0;
  std::uint64_t value = 0; ///< an address of the dynamic segment may be relocated in a process

  friend bool operator==(const TaggedValue&, const TaggedValue&) = default;
};

inline constexpr std::uint64_t tagged_value_size = 16;

/// Reads pairs one after another. The bytes must outlive it.
class TaggedValueCursor {
public:
  /// `bytes` starts with the first pair, and may be longer than the table.
  TaggedValueCursor(std::span<const std::byte> bytes, ByteOrder order) : rest_(bytes), order_(order) {}

  /// The next pair; nothing at tag 0, and where the bytes end within a pair.
  std::optional<TaggedValue> next() {
    if (rest_.size() < tagged_value_size) return std::nullopt;
    const TaggedValue pair = {load<std::uint64_t>(rest_.data(), order_),
                              load<std::uint64_t>(rest_.data() + 8, order_)};
    if (pair.tag == 0) return std::nullopt;
    rest_ = rest_.subspan(tagged_value_size);
    return pair;
  }

private:
  std::span<const std::byte> rest_;
  ByteOrder order_;
};

/// The value of the first pair with the tag. Linear in the number of pairs.
inline std::optional<std::uint64_t> find_value(std::span<const std::byte> bytes, ByteOrder order,
                                               std::uint64_t tag) {
  TaggedValueCursor pairs(bytes, order);
  while (const auto pair = pairs.next())
    if (pair->tag == tag) return pair->value;
  return std::nullopt;
}

/// The program among the modules of a process: the one at AT_ENTRY, or else at AT_PHDR. `value_of(tag)` gives
/// the auxiliary vector's value, if any; `module_at(address)` a pointer, or nullptr.
template <class ValueOf, class ModuleAt> auto find_program(ValueOf&& value_of, ModuleAt&& module_at) {
  for (const std::uint64_t tag : {at_entry, at_phdr})
    if (const std::optional<std::uint64_t> address = value_of(tag))
      if (auto module = module_at(*address)) return module;
  return decltype(module_at(std::uint64_t{}))(nullptr);
}

} // namespace sframe::elf
