// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: one decompressor behind one interface.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace sframe::elf {

class Decoder {
public:
  enum class Status { more, done, damaged };
  virtual ~Decoder() = default;
  /// Unpacks from the front of `in` to the front of `out` and moves both on. `done` at the end of a frame.
  virtual Status step(std::span<const std::byte>& in, std::span<std::byte>& out) = 0;
};

using MakeDecoder = std::unique_ptr<Decoder> (*)();

/// nullptr if the library was not there when this one was built.
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();

} // namespace sframe::elf
