// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the common interface of the decompressors.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace sframe::elf {

class Decompressor {
public:
  enum class Status {
    more,
    done,
    damaged,
    too_large, ///< the window: more than 2 GiB
  };
  virtual ~Decompressor() = default;
  /// Unpacks from the front of `in` to the front of `out` and advances both. Returns `done` at the end of a
  /// frame.
  virtual Status step(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;
};

using MakeDecompressor = std::unique_ptr<Decompressor> (*)();

/// nullptr if the library was not available at build time.
std::unique_ptr<Decompressor> make_zstd_decompressor();
std::unique_ptr<Decompressor> make_xz_decompressor();
std::unique_ptr<Decompressor> make_lz4_decompressor();
std::unique_ptr<Decompressor> make_gzip_decompressor();

} // namespace sframe::elf
