// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a compressed core or .gnu_debugdata, as a crash report with such a core, and as an ELF
// file with compressed sections. Property: the output does not exceed the limits.

#include "cost.h"

#include "sframe/core/crash_report.h"
#include "sframe/elf/image.h"
#include "sframe/elf/unpack.h"

namespace unpack_fuzzer {

using namespace sframe;

namespace {

constexpr elf::UnpackLimits limits{.size = std::uint64_t(1) << 26, .memory = std::uint64_t(1) << 24};

void unpack(std::span<const std::byte> bytes) {
  const auto unpacked = elf::unpack(bytes, limits);
  if (!unpacked) return;
  fuzz::require(unpacked->bytes().size() <= limits.size, "more than the limit");
  fuzz::require(elf::is_packed(bytes), "unpacked, though not packed");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const fuzz::Cost cost(size,
                        {.seconds = 3, .memory = std::uint64_t(160) << 20}); // windows have up to 128 MiB
  unpack(bytes);
  if (core::is_crash_report(bytes)) {
    fuzz::require(core::report_field(bytes, "ProblemType").size() <= size, "a field that is too long");
    if (const auto core = core::core_in_report(bytes)) {
      fuzz::require(core->size() <= size, "more than there is");
      unpack(*core);
    }
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

} // namespace unpack_fuzzer
