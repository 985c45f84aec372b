// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis must know about the world around a function.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::code {

/// Read-only data (jump tables) and callees. Implemented by the caller; the default knows nothing.
class Surroundings {
public:
  virtual ~Surroundings() = default;

  /// The bytes at [address, address + size) if they are constant data; empty where they are not there. The
  /// view must live until the next call.
  virtual std::span<const std::byte> constant_data(std::uint64_t /*address*/, std::uint64_t /*size*/) {
    return {};
  }
  /// The pointer that the word at `address` holds once the program is loaded (dynamic relocations applied, in
  /// the file's own addresses), where it is constant.
  virtual std::optional<std::uint64_t> constant_pointer(std::uint64_t /*address*/) { return std::nullopt; }
  /// True where the function at `target` is known never to return. A "no" is not believed where the code or
  /// the rows show otherwise.
  virtual bool never_returns(std::uint64_t /*target*/) { return false; }
  /// The code from `address` on, at most `size` bytes of it; empty where there is none. The view must live
  /// until the next call.
  virtual std::span<const std::byte> code(std::uint64_t /*address*/, std::uint64_t /*size*/) { return {}; }
};

} // namespace sframe::code
