// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The versions of the format, as data: every difference between them. One file per version in src/format/,
// one line each in versions.def; nothing else depends on a version's number, except for imitations of
// programs that support only some versions. (Specification of version 3, section 1.3; specifications of
// versions 1 and 2.)

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

/// v1, v2, v3: all known versions.
enum class VersionNumber : std::uint8_t {
#define SFRAME_DEFINE_VERSION(number) v##number = number,
#include "sframe/versions.def"
};

/// The version to write unless another one is requested.
inline constexpr VersionNumber default_version = VersionNumber::v3;

/// Offsets of the header's fields in bytes; the same in all versions (SFrame 3 specification, section 2.2).
namespace header_offset {
constexpr std::uint32_t version = 2, flags = 3, abi = 4, fixed_fp = 5, fixed_ra = 6, aux_size = 7,
                        num_fdes = 8, num_fres = 12, fre_size = 16, fde_offset = 20, fre_offset = 24;
} // namespace header_offset

/// Bytes of the header, without the auxiliary header.
constexpr std::uint32_t header_size = 28;

/// Bits of the header's flags, sfh_flags (SFrame 3 specification, section 2.1.3). VersionTraits::flags has
/// those that a version defines.
enum Flags : std::uint8_t {
  flag_sorted = 0x1,
  flag_frame_pointer = 0x2,    ///< versions 1 and 2
  flag_func_start_pcrel = 0x4, ///< versions 2 (errata 1) and 3
};

/// A flag that a version defines, and its names in dumps.
struct FlagTraits {
  std::uint8_t bit;
  std::string_view name;     ///< in the formats text and json: "func-start-pcrel"
  std::string_view gnu_name; ///< in binutils: "SFRAME_F_FDE_FUNC_START_PCREL"
};

/// Bits of the FDE's info byte (SFrame 3 specification, section 2.3.3). VersionTraits::info_bits has those
/// that a version defines.
namespace info_bits {
constexpr std::uint8_t fre_type = 0x0f, pc_mask = 0x10, pauth_key_b = 0x20, signal = 0x80;
constexpr std::uint8_t fde_type = 0x1f; ///< in the second info byte
} // namespace info_bits

/// The properties of a version. All objects of this type are constants of static duration.
struct VersionTraits {
  std::uint8_t number;                    ///< sfp_version
  std::uint32_t entry_size;               ///< bytes of an index entry
  std::uint32_t start_size;               ///< bytes of its first field, the function's start: 4 or 8
  std::uint32_t attribute_size;           ///< bytes before a function's first row in the FRE sub-section
  std::uint32_t max_fres;                 ///< rows per function
  std::span<const FlagTraits> flag_names; ///< of the defined flags, by increasing bit
  std::uint8_t flags;                     ///< their bits
  std::uint8_t info;                      ///< defined bits of the FDE's info byte
  std::uint8_t info2;                     ///< defined bits of its second info byte
  bool has_rep_size; ///< stores the block size of PCMASK functions; otherwise it is AbiTraits::plt_entry_size
  bool has_signal;   ///< marks signal frames
  bool has_flex;     ///< has flexible FDEs
  bool has_outermost_rows; ///< a row without data words = RA undefined
  bool empty_is_outermost; ///< a function without rows = outermost throughout
  bool register_words;     ///< uses AbiTraits::register_words

  /// True if function starts can be relative to their own field (FUNC_START_PCREL).
  bool has_pcrel() const { return flags & flag_func_start_pcrel; }
};

/// The traits of a version. Constant cost.
const VersionTraits& traits(VersionNumber version);

/// The traits for a number read from a header, or nullptr if it is unknown. Constant cost.
const VersionTraits* find_version(std::uint8_t number);

/// Every version, oldest first.
std::span<const VersionTraits* const> all_versions();

} // namespace sframe

#pragma GCC visibility pop
