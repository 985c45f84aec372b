// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the input to the bytes of a section, with a report: one function per source.

#pragma once

#include "command_line.h"

#include <sframe/convert/report.h>
#include <sframe/elf/file.h>
#include <sframe/elf/image.h>
#include <sframe/elf/symbols.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace sframe::gen {

/// The input file. `image` is empty for a raw section.
struct Input {
  elf::File file;
  std::optional<elf::Image> image;
};

struct Generated {
  std::vector<std::byte> bytes; ///< of the section
  std::vector<std::byte> image; ///< with --emit=elf: the whole output file, the section in it
  conversion::Report report;
  const AbiTraits* abi = nullptr;
  std::uint64_t num_fdes = 0;
  std::uint64_t num_fres = 0;
};

/// Opens the input that the command line names. Fails where it is neither a 64-bit ELF file nor, with
/// --from=sframe, a section.
elf::Result<Input> open_input(const CommandLine& line);

/// Where a section in no image is to stand: --section-address, else 0 for a bare section, else the first
/// multiple of 8 behind the image.
std::uint64_t section_address(const CommandLine& line, const Input& input);

/// The section and, with --emit=elf, the file that it stands in.
elf::Result<Generated> generate(const CommandLine& line, const Input& input);

/// --from=cfi, for a section at `address`. Fails where there is no call frame information or the section
/// cannot be laid out.
elf::Result<Generated> generate_from_cfi(const CommandLine& line, const Input& input, std::uint64_t address);

/// --from=sframe: everything that is in the input's sections, as one at `address`.
elf::Result<Generated> generate_from_sframe(const CommandLine& line, const Input& input,
                                            std::uint64_t address);

} // namespace sframe::gen
