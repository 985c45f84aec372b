// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values as text, by their types (DWARF 5, chapter 5), in one line as gdb prints them.

#pragma once

#include "frame_values.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::variables {

class Formatter {
public:
  Formatter(FrameValues& values, const Settings& settings) : values_(values), settings_(settings) {}

  /// The value of the variable that the entries describe. Its name is left empty.
  Variable variable(std::span<const DebugEntry> entries);

private:
  static constexpr std::uint64_t most_size = std::uint64_t{1} << 40;

  DebugEntry type_of(const DebugEntry& entry);
  DebugEntry plain(DebugEntry type);
  bool is_wide_character(DebugEntry type);
  std::optional<std::uint64_t> size_of(const DebugEntry& type, unsigned depth = 0);
  bool step() { return values_.reader().take(Resource::debug_steps, 1); }

  void print(const DebugEntry& type, const Place& place, unsigned depth);
  std::uint64_t count_of(const DebugEntry& range);
  void print_base(const DebugEntry& type, const DebugEntry& named, std::span<const std::byte> bytes);
  void print_pointer(const DebugEntry& type, std::uint64_t value);
  void print_reference(const DebugEntry& type, std::uint64_t value, unsigned depth);
  void print_number(std::uint64_t encoding, std::string_view name, std::uint64_t value, std::size_t size);
  void print_large(std::uint64_t encoding, std::string_view name, std::span<const std::byte> bytes);
  void print_enumeration(const DebugEntry& type, std::span<const std::byte> bytes);
  void print_enumerator(const DebugEntry& type, std::uint64_t value, std::uint64_t bits);
  void print_structure(const DebugEntry& type, const Place& place, unsigned depth);
  void print_variant(const DebugEntry& part, const Place& place, unsigned depth);
  void print_member(const DebugEntry& member, const Place& place, unsigned depth);
  void print_bits(const DebugEntry& member, const DebugEntry& type, const Place& place, std::uint64_t bits);
  void print_array(const DebugEntry& type, const Place& place, unsigned depth);
  struct Dimensions;
  void print_elements(const Dimensions& dimensions, std::size_t level, const Place& place, unsigned depth);
  std::uint64_t repeats(const Place& first, std::uint64_t size, std::uint64_t most);
  bool print_characters(const Place& place, std::uint64_t count);
  bool print_go_string(const DebugEntry& type, const Place& place);
  bool print_string_at(std::uint64_t address);
  void print_quoted(std::span<const std::byte> bytes, bool more);
  void print_missing(const Absence& absence);
  void print_symbol(std::uint64_t address);
  bool is_character(const DebugEntry& type);

  void put(std::string_view text);
  void put_name(const DebugEntry& entry, std::string_view otherwise);
  bool is_full() const { return full_ || elements_ >= settings_.elements; }
  std::uint64_t number(std::span<const std::byte> bytes, bool is_signed) const;

  FrameValues& values_;
  const Settings& settings_;
  std::string text_;
  bool full_ = false;
  std::uint32_t elements_ = 0;
};

} // namespace sframe::variables
