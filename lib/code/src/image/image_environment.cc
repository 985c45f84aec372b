// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/image_environment.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::code {

ImageEnvironment::ImageEnvironment(const elf::Image& image)
    : image_(&image), code_(image.executable_ranges()), pointers_(image.loaded_pointers()) {}

std::span<const std::byte> ImageEnvironment::constant_data(std::uint64_t address, std::uint64_t size) {
  return image_->read(address, size).value_or(std::span<const std::byte>{});
}

std::span<const std::byte> ImageEnvironment::code(std::uint64_t address, std::uint64_t size) {
  const elf::CodeRange* const range = range_at(code_, address);
  if (!range) return {};
  return constant_data(address, std::min(size, range->size - (address - range->start)));
}

std::optional<std::uint64_t> ImageEnvironment::constant_pointer(std::uint64_t address) {
  const auto at = std::ranges::lower_bound(pointers_, address, {}, &elf::Image::LoadedPointer::address);
  if (at != pointers_.end() && at->address == address) return at->value;
  const auto bytes = image_->read(address, 8);
  if (!bytes) return std::nullopt;
  return load<std::uint64_t>(bytes->data(), image_->byte_order());
}

} // namespace sframe::code
