// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A relocatable object as a linker would leave it at the addresses of an ObjectLayout, for what reads machine
// code: branches lead to their targets, addresses that instructions compute are those of the symbols. What
// other files define gets addresses where there are no bytes, and so do entries of the global offset table
// and thread-local storage.
//
//   auto layout = sframe::elf::ObjectLayout::make(object);
//   auto linked = sframe::elf::LinkedObject::make(*layout);
//   auto code = linked->image().read(address, size);

#pragma once

#include "sframe/elf/object.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// A symbol that another file defines.
struct ExternalSymbol {
  std::uint64_t address = 0; ///< where LinkedObject puts it
  std::string_view name;     ///< in the object's bytes
};

class LinkedObject {
public:
  /// Copies the object and applies the relocations of all sections that are loaded. Fails for a relocation
  /// type that is not supported, for a place outside its section and for a value that does not fit (code of
  /// large models, more than 128 MiB for AArch64). The layout's bytes, and its budget, must outlive the
  /// result. Linear in the bytes and relocations.
  static Result<LinkedObject> make(const ObjectLayout& layout);

  /// Not relocatable(): symbols' values are addresses. Its bytes are those of this object, which may be
  /// moved.
  const Image& image() const { return image_; }

  /// What the relocations refer to and the object does not define, by address.
  std::span<const ExternalSymbol> externals() const { return externals_; }

private:
  LinkedObject(std::vector<std::byte> bytes, Image image, std::vector<ExternalSymbol> externals)
      : bytes_(std::move(bytes)), image_(std::move(image)), externals_(std::move(externals)) {}

  std::vector<std::byte> bytes_;
  Image image_;
  std::vector<ExternalSymbol> externals_;
};

} // namespace sframe::elf

#pragma GCC visibility pop
