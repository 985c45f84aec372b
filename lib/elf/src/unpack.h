// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the common interface of the decompressors.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace sframe::elf {

class Decoder {
public:
  enum class Status { more, done, damaged };
  virtual ~Decoder() = default;
  /// Unpacks from the front of `in` to the front of `out` and advances both. Returns `done` at the end of a
  /// frame.
  virtual Status step(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;
};

using MakeDecoder = std::unique_ptr<Decoder> (*)();

/// nullptr if the library was not available at build time.
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();

} // namespace sframe::elf
