// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis of machine code asks about an ELF file.

#pragma once

#include "sframe/code/environment.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::code {

/// The constant data of an ELF image: its bytes as the file has them, and words that dynamic
/// relocations (R_*_RELATIVE; not RELR) give an address, as in .data.rel.ro.
class ImageEnvironment : public Environment {
public:
  /// `image` must outlive the object. Linear in the image's relocations.
  explicit ImageEnvironment(const elf::Image& image);

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override;
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override;
  std::span<const std::byte> code(std::uint64_t address, std::uint64_t size) override;

private:
  const elf::Image* image_;
  std::vector<elf::CodeRange> code_;                ///< by address
  std::vector<elf::Image::LoadedPointer> pointers_; ///< by address
};

} // namespace sframe::code
