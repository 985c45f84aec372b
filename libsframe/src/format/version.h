// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the versions, one table entry each (v1.cc, v2.cc, v3.cc). The header and the rows
// have the same layout in all versions; the index entries, the attributes, and the meaning of some values
// differ.

#pragma once

#include "format/on_disk.h"
#include "sframe/error.h"
#include "sframe/fde.h"

#include <expected>

namespace sframe::format {

/// The stored fields of a function entry to be written.
struct FdeFields {
  std::int64_t start = 0; ///< as stored: relative to the field or to the section
  EncodedFde fde;
};

struct Version {
  std::uint8_t number;
  std::uint32_t entry_size;     ///< bytes of an index entry
  std::uint32_t start_size;     ///< bytes of its first field, the function's start
  std::uint32_t attribute_size; ///< bytes between fre_offset and the first row
  std::uint32_t max_fres;       ///< rows per function
  std::uint8_t flags;           ///< defined bits of the header's flags
  bool pcrel;                   ///< FUNC_START_PCREL exists
  bool has_rep_size;
  bool has_signal;
  bool has_flex;
  bool has_outermost_rows; ///< a row without data words = RA undefined
  bool empty_is_outermost; ///< a function without rows = outermost throughout
  bool register_words;     ///< uses AbiTraits::v2_register_words

  /// Reads an index entry of entry_size bytes except for the start, which a search reads alone
  /// (Section::fde_start). The attributes are read separately, since the entry gives their position.
  void (*read_entry)(const std::byte* entry, ByteOrder order, EncodedFde& out);
  /// Reads attribute_size bytes.
  void (*read_attributes)(const std::byte* attributes, ByteOrder order, EncodedFde& out);
  void (*write_entry)(std::byte* entry, ByteOrder order, const FdeFields& fields);
  void (*write_attributes)(std::byte* attributes, ByteOrder order, const EncodedFde& fde);
  /// Reverses the bytes of each integer of an entry and of the attributes, in place.
  void (*swap_entry)(std::byte* entry);
  void (*swap_attributes)(std::byte* attributes);
};

extern const Version version1, version2, version3;

/// nullptr for an unknown version number.
const Version* find_version(std::uint8_t number);

/// The first 17 bytes of an index entry, which versions 1 and 2 have in common:
///   0 int32 start   4 uint32 size   8 uint32 first row, from the FRE sub-section   12 uint32 number of rows
///   16 uint8 info
void read_narrow_entry(const std::byte* entry, ByteOrder order, EncodedFde& out);
void write_narrow_entry(std::byte* entry, ByteOrder order, const FdeFields& fields);
void swap_narrow_entry(std::byte* entry);

/// Decodes and encodes an info byte. The FRE type is not checked here; the reader checks it.
void read_info(std::uint8_t info, EncodedFde& fde);
std::uint8_t make_info(const EncodedFde& fde);

} // namespace sframe::format
