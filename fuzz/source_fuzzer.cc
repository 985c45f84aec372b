// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as an ELF file with DWARF and symbols: source lines and names of addresses in all its code.
// Property: repeating a lookup gives the same result.

#include "memory_file.h"

#include "sframe/elf/image.h"
#include "sframe/modules/source.h"

namespace source_fuzzer {

using namespace sframe;

namespace {

class NoMemory final : public modules::ByteSource {
public:
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto image = elf::Image::parse(bytes);
  if (!image || !image->abi()) return 0;
  // LLVM's DWARF reader keeps tables of some hundred bytes for each unit and line program.
  const fuzz::Cost cost(
      size,
      {.seconds = 3, .seconds_per_byte = 30e-6, .memory = std::uint64_t(32) << 20, .memory_per_byte = 1024});
  const fuzz::MemoryFile file(bytes);
  modules::FileOptions files{.sysroot = "/nowhere", .debug_dir = ""};
  NoMemory memory;
  modules::ModuleInfo info{
      .path = file.path(), .file = file.path(), .start = 0, .end = ~std::uint64_t(0), .bias = 0};
  modules::Module module(std::move(info), *image->abi(), files, memory);
  modules::DwarfSource source;
  std::size_t questions = 0;
  for (const elf::CodeRange& range : image->executable_ranges())
    for (unsigned part = 0; part < 16 && questions < 64; ++part, ++questions) {
      const std::uint64_t address = range.start + range.size / 16 * part;
      const modules::LinkAddress link(address);
      const auto symbol = module.symbols().find(link), same = module.symbols().find(link);
      fuzz::require(symbol.has_value() == same.has_value() && (!symbol || symbol->offset == same->offset),
                    "two names");
      const auto place = source.find(module, address), again = source.find(module, address);
      fuzz::require(place.has_value() == again.has_value(), "two answers");
      if (place)
        fuzz::require(place->at.line == again->at.line && place->at.file == again->at.file &&
                          place->inlined.size() == again->inlined.size(),
                      "two answers");
    }
  (void)module.file().problem();
  return 0;
}

} // namespace source_fuzzer
