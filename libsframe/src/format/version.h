// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout that differs between the versions: one constant each (v1.cc, v2.cc, v3.cc), listed in
// versions.def. The header and the rows have the same layout in all versions; the index entries and the
// attributes differ.

#pragma once

#include "format/on_disk.h"
#include "sframe/error.h"
#include "sframe/fde.h"
#include "sframe/version.h"

#include <span>

namespace sframe::format {

/// The stored fields of a function entry to be written.
struct FdeFields {
  std::int64_t start = 0; ///< as stored: relative to the field or to the section
  EncodedFde fde;
};

/// How a version encodes index entries and attributes.
struct EntryCodec {
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

struct Version : VersionTraits {
  EntryCodec codec;
};

#define SFRAME_DEFINE_VERSION(number) extern const Version version##number;
#include "sframe/versions.def"

/// nullptr for an unknown version number.
const Version* find_version(std::uint8_t number);

/// The flags, under their names in dumps. A version lists those that it defines.
inline constexpr FlagTraits sorted{flag_sorted, "sorted", "SFRAME_F_FDE_SORTED"};
inline constexpr FlagTraits frame_pointer{flag_frame_pointer, "frame-pointer", "SFRAME_F_FRAME_POINTER"};
inline constexpr FlagTraits func_start_pcrel{flag_func_start_pcrel, "func-start-pcrel",
                                             "SFRAME_F_FDE_FUNC_START_PCREL"};

/// The bits of these flags.
constexpr std::uint8_t bits_of(std::span<const FlagTraits> flags) {
  std::uint8_t bits = 0;
  for (const FlagTraits& flag : flags) bits |= flag.bit;
  return bits;
}

/// The first 17 bytes of an index entry, which versions 1 and 2 have in common:
///   0 int32 start   4 uint32 size   8 uint32 first row, from the FRE sub-section   12 uint32 number of rows
///   16 uint8 info
void read_narrow_entry(const std::byte* entry, ByteOrder order, EncodedFde& out);
void write_narrow_entry(std::byte* entry, ByteOrder order, const FdeFields& fields);
void swap_narrow_entry(std::byte* entry);

/// The narrowest offsets for rows the last of which has this one.
constexpr FreType fre_type_for(std::uint32_t last_offset) {
  return last_offset <= 0xff ? FreType::addr1 : last_offset <= 0xffff ? FreType::addr2 : FreType::addr4;
}

/// Decodes and encodes an info byte. The FRE type is not checked here; the reader checks it.
void read_info(std::uint8_t info, EncodedFde& fde);
std::uint8_t make_info(const EncodedFde& fde);

} // namespace sframe::format
