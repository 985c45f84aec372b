// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompresses files: zstd (RFC 8878), xz, lz4 and gzip (RFC 1952), recognised by their magic numbers.
// systemd-coredump stores cores in the first three formats, and .gnu_debugdata holds a small ELF file in xz.
//
// A core is mostly zeros, and may be much larger than memory: decompressed zeros take address space but no
// memory, and other bytes beyond 64 MiB are in a temporary file (spool.h).

#pragma once

#include "sframe/base/problem.h"
#include "sframe/base/spool.h"

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// Limits on the result of unpack().
struct UnpackLimits {
  std::uint64_t size = std::uint64_t(1) << 36;   ///< bytes in total
  std::uint64_t memory = std::uint64_t(1) << 30; ///< bytes in pages that are not all zeros, and expansion
                                                 ///< times the compressed size
  std::uint64_t expansion = 64;
};

/// Unpacked bytes. Movable; the bytes stay at their address.
class Unpacked {
public:
  std::span<const std::byte> bytes() const { return spool_.bytes(); }

  /// True if the compressed bytes are damaged or end early: bytes() has the part before that.
  bool damaged() const { return damaged_; }

private:
  friend Result<Unpacked> unpack(std::span<const std::byte> packed, UnpackLimits limits);
  Spool spool_;
  bool damaged_ = false;
};

/// True if the bytes start with the magic number of a format that unpack() supports.
bool is_packed(std::span<const std::byte> bytes);

/// Decompresses all consecutive frames. Fails if the bytes are not compressed, in a format that was disabled
/// when this library was built, or beyond the limits. Linear in the decompressed size.
Result<Unpacked> unpack(std::span<const std::byte> packed, UnpackLimits limits = {});

} // namespace sframe::elf

#pragma GCC visibility pop
