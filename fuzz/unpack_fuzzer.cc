// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a compressed core or .gnu_debugdata, and as an ELF file with compressed sections.
// Property: the output does not exceed the limits.

#include "cost.h"

#include "sframe/elf/image.h"
#include "sframe/elf/unpack.h"

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const elf::UnpackLimits limits{.size = std::uint64_t(1) << 26, .memory = std::uint64_t(1) << 24};
  const fuzz::Cost cost(size,
                        {.seconds = 3, .memory = std::uint64_t(160) << 20}); // windows have up to 128 MiB
  if (const auto unpacked = elf::unpack(bytes, limits)) {
    fuzz::require(unpacked->bytes().size() <= limits.size, "more than the limit");
    fuzz::require(elf::is_packed(bytes), "unpacked, though not packed");
  }
  const auto image = elf::Image::parse(bytes);
  if (!image) return 0;
  for (const elf::SectionHeader& section : image->sections())
    if (const auto contents = image->contents(section))
      fuzz::require(contents->size() <= elf::Image::max_decompressed_size &&
                        contents->size() / elf::Image::max_expansion <= section.size,
                    "more than the limit");
  return 0;
}
