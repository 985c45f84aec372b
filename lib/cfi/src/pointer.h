// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encoded pointers: DW_EH_PE_* (Linux Standard Base 5.0, section 10.5.1). The low four bits give the form,
// the next three what the value is relative to, the highest bit that it is the address of the pointer.

#pragma once

#include "reader.h"
#include "sframe/cfi/section.h"

#include <cstdint>
#include <optional>

namespace sframe::cfi {

/// What a pointer can be relative to.
struct PointerPlace {
  std::uint64_t section_address = 0;
  Bases bases;
  std::optional<std::uint64_t> function; ///< start of the FDE's range, where it is known
  std::uint8_t address_size = 8;
};

/// A pointer before anything is added: the number as it stands there, and what to add.
struct RawPointer {
  std::uint64_t number = 0;
  std::uint64_t base = 0;
  bool indirect = false;
};

/// `value`, a number of `bytes` bytes, as a signed one.
inline std::uint64_t sign_extended(std::uint64_t value, std::uint32_t bytes) {
  if (bytes >= 8) return value;
  const std::uint32_t shift = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

/// Bytes of a number in the form `encoding` & 15; 0 for LEB128 and for forms that do not exist.
std::uint8_t pointer_width(std::uint8_t encoding, std::uint8_t address_size);

/// True if `encoding` has a meaning (DW_EH_PE_omit has none as a pointer).
bool pointer_encoding_known(std::uint8_t encoding);

/// Reads the number of a pointer. Marks the reader failed on an encoding that has no meaning in this place.
RawPointer read_raw_pointer(Reader& reader, std::uint8_t encoding, const PointerPlace& place);

/// Reads a pointer, within the address size.
Pointer read_pointer(Reader& reader, std::uint8_t encoding, const PointerPlace& place);

/// Reads a pointer of which 0 says that there is none, whatever it is relative to (language-specific data,
/// personality).
std::optional<Pointer> read_optional_pointer(Reader& reader, std::uint8_t encoding,
                                             const PointerPlace& place);

} // namespace sframe::cfi
