// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the form of compressed debug sections before SHF_COMPRESSED (binutils' bfd/compress.c): "ZLIB",
// the size of the contents in 8 bytes, big-endian in every file, and zlib's stream.

#pragma once

#include "sframe/bytes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace sframe::elf {

inline constexpr std::size_t gnu_compression_header = 12;

/// The size of the contents; nothing if the bytes are not compressed.
inline std::optional<std::uint64_t> gnu_uncompressed_size(std::span<const std::byte> bytes) {
  if (bytes.size() < gnu_compression_header || std::memcmp(bytes.data(), "ZLIB", 4) != 0) return std::nullopt;
  return load<std::uint64_t>(bytes.data() + 4, ByteOrder::big);
}

} // namespace sframe::elf
