// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between a row's data words and its rules: encode_words.h writes, decode_words.h reads.
//
// Default FDE type (SFrame 3 specification, section 3.1): CFA offset from SP or FP; then, if the header fixes
// no offset for it, the RA slot; then the FP slot. s390x scales the CFA offset; in version 2 its odd words
// name registers. An RA word of 0 means that RA is not saved: the specification defines it for s390x only,
// but readers accept it on every ABI. We read it on all ABIs and write it only where it is specified.
//
// Flexible FDE type (SFrame 3 specification, section 3.2): for CFA, RA, FP in this order a control word and
// an offset, or a single 0 for "no rule". s390x scales the CFA's offset word here too (unspecified, but
// producers and readers agree). The base register bit of the info byte is unused and written as 0, as in a
// row without words.

#pragma once

#include "format/version.h"
#include "sframe/builder.h"
#include "sframe/expected.h"
#include "sframe/section.h"

namespace sframe::format {

/// The meaning of words in a section with this header, version and ABI.
inline WordMeaning word_meaning(const Version& version, const AbiTraits& abi, FdeType type,
                                std::int8_t fixed_ra, std::int8_t fixed_fp) {
  return {
      .abi = &abi,
      .flex = type == FdeType::flex,
      .fixed_ra = fixed_ra != 0,
      .fixed_fp = fixed_fp != 0,
      .zero_is_outermost = version.has_outermost_rows,
      .register_words = version.register_words && abi.register_words,
  };
}

/// True if rows have one or two words, the CFA's offset and FP's slot, without further meanings (default FDEs
/// on AMD64). Nearly all rows do, so reading and writing them has code of its own.
inline bool has_plain_words(const WordMeaning& meaning) {
  return !meaning.flex && meaning.fixed_ra && !meaning.fixed_fp && !meaning.register_words &&
         meaning.abi->cfa_scale == 1 && meaning.abi->cfa_bias == 0;
}

/// The FRE info byte.
inline std::uint8_t info_byte(bool sp_based, std::uint32_t count, std::uint32_t size_code, bool ra_signed) {
  return static_cast<std::uint8_t>(static_cast<std::uint32_t>(ra_signed) << 7 | size_code << 5 | count << 1 |
                                   static_cast<std::uint32_t>(sp_based));
}

/// Data words ready to be written.
struct Words {
  std::uint8_t info = 0; ///< the whole FRE info byte
  std::uint8_t count = 0;
  std::uint8_t size = 1; ///< bytes of each
  std::uint32_t values[6] = {};
};

} // namespace sframe::format
