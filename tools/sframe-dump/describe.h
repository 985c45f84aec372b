// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for the values of headers, index entries and rows, shared by the output formats.

#pragma once

#include <sframe/section.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::dump {

/// The header's flags that the section's version does not define.
std::uint8_t unknown_flags(const Section& section);

/// The names of the flags that are set: "sorted", "frame-pointer", "func-start-pcrel". Bits that the version
/// does not define are one number, "0xf8".
std::vector<std::string> flag_names(const Section& section);

/// "CFA sp+16, RA fixed, FP [cfa-16]".
std::string rules_text(const FrameRow& row, const AbiTraits& abi);

std::string_view byte_order_name(ByteOrder order); ///< "little", "big"
std::string_view name_of(FreType type);            ///< "addr1", "addr2", "addr4"
std::string_view name_of(FdeType type);            ///< "default", "flex"
std::string_view name_of(PcType type);             ///< "inc", "mask"
std::string_view name_of(PauthKey key);            ///< "a", "b"

} // namespace sframe::dump
