// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis must know about the world around a function.

#pragma once

#include "sframe/elf/image.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

/// The constant data of an ELF image: its bytes as the file has them, and words that dynamic
/// relocations (R_*_RELATIVE; not RELR) give an address, as in .data.rel.ro.
class ImageSurroundings : public Surroundings {
public:
  /// `image` must outlive the object. Linear in the image's relocations.
  explicit ImageSurroundings(const elf::Image& image);

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override;
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override;
  std::span<const std::byte> code(std::uint64_t address, std::uint64_t size) override;

private:
  const elf::Image* image_;
  std::vector<elf::CodeRange> code_; ///< by address
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pointers_; ///< address, value; sorted
};

} // namespace sframe::code
