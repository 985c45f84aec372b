// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encoded pointers: DW_EH_PE_* (Linux Standard Base 5.0, section 10.5.1). The low four bits give the form,
// the next three the base of the value. The highest bit means that the value is the address of the pointer.

#pragma once

#include "sframe/cfi/reader.h"
#include "sframe/cfi/section.h"

#include <cstdint>
#include <optional>

namespace sframe::cfi {

/// The bits of an encoding that give the base.
inline constexpr std::uint8_t relation_mask = 0x70;

/// The possible bases of a pointer.
struct PointerContext {
  std::uint64_t section_address = 0;
  Bases bases;
  std::optional<std::uint64_t> function; ///< start of the FDE's range, if known
  std::uint8_t address_size = 8;
};

/// A pointer before its base is added: the stored number and the base.
struct RawPointer {
  std::uint64_t number = 0;
  std::uint64_t base = 0;
  bool indirect = false;
};

/// `value`, a number of `bytes` bytes, sign-extended.
inline std::uint64_t sign_extended(std::uint64_t value, std::uint32_t bytes) {
  if (bytes >= 8) return value;
  const std::uint32_t shift = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

/// Bytes of a number in the form `encoding` & 15; 0 for LEB128 and undefined forms.
std::uint8_t pointer_width(std::uint8_t encoding, std::uint8_t address_size);

/// True if `encoding` is defined (DW_EH_PE_omit is not a pointer).
bool pointer_encoding_known(std::uint8_t encoding);

/// Reads the number of a pointer. An encoding that is not valid here makes the reader fail.
RawPointer read_raw_pointer(DwarfReader& reader, std::uint8_t encoding, const PointerContext& context);

/// Reads a pointer; the value is truncated to the address size.
Pointer read_pointer(DwarfReader& reader, std::uint8_t encoding, const PointerContext& context);

/// Reads a pointer for which 0 means "none", with any base (language-specific data, personality).
std::optional<Pointer> read_optional_pointer(DwarfReader& reader, std::uint8_t encoding,
                                             const PointerContext& context);

} // namespace sframe::cfi
