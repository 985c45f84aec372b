// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an ELF file whose .sframe has the requested number of functions (made_section.h), for timing whole
// commands.
//
//    make-section FUNCTIONS VERSION OUTPUT

#include "made_section.h"
#include "sframe/elf/sidecar.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: make-section FUNCTIONS VERSION OUTPUT\n");
    return 2;
  }
  using namespace sframe;
  constexpr std::uint64_t address = 0x300000;
  const auto count = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const auto version = static_cast<std::uint8_t>(std::strtoul(argv[2], nullptr, 10));
  if (version < 1 || version > 3) return 2;
  const auto section =
      bench::encode(bench::make_functions(count), {.version = VersionNumber{version}}, address);
  const AbiTraits& abi = traits(Abi::amd64);
  elf::Sidecar input;
  input.machine = abi.machine;
  input.byte_order = abi.byte_order;
  input.section = section;
  input.section_address = address;
  const auto file = elf::make_sidecar(input);
  std::ofstream out(argv[3], std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  return out.good() ? 0 : 2;
}
