// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the input to the bytes of a section and the file it goes into, with a report: one function per source.

#pragma once

#include "command_line.h"

#include <sframe/builder.h>
#include <sframe/generate/report.h>
#include <sframe/base/budget.h>
#include <sframe/elf/edit.h>
#include <sframe/elf/image.h>
#include <sframe/elf/object.h>
#include <sframe/elf/rewrite.h>
#include <sframe/elf/symbols.h>

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <vector>

namespace sframe::gen {

/// What is converted: a file, or a member of an archive. A view of its bytes.
struct Input {
  std::span<const std::byte> bytes;
  std::optional<elf::Image> image;         ///< nothing for a raw section; laid out where there is an `object`
  std::optional<elf::ObjectLayout> object; ///< of a relocatable object: addresses are those of the layout
};

struct Generated {
  std::vector<std::byte> bytes; ///< of the section
  elf::Edit image;              ///< with --emit=elf: the output file, the section in it
  generate::Report report;
  const AbiTraits* abi = nullptr;
  std::uint64_t num_fdes = 0;
  std::uint64_t num_fres = 0;
  /// The image's executable bytes, and those in functions of the section; nothing for a raw section.
  std::optional<generate::Report::PcBytes> executable;
  std::vector<std::string> warnings; ///< about the input; it was converted all the same
};

/// Why there is no result.
struct Failure {
  Problem problem;
  /// The input is no ELF file that SFrame has an ABI for, or has nothing to convert: in an archive, or with
  /// --allow-missing, it stays as it is.
  bool nothing_to_convert = false;
};

/// Reads the headers of what `bytes` are. Fails where that is neither a 64-bit ELF file nor, with
/// --from=sframe, a section. What is read of sections is taken from the budget, which must outlive the result.
std::expected<Input, Failure> read_input(const CommandLine& line, std::span<const std::byte> bytes,
                                         Budget& budget);

/// The symbol at an address of the input's image.
std::optional<elf::SymbolTable::Match> find_symbol(const Input& input, const elf::SymbolTable& symbols,
                                                   std::uint64_t address);

/// Where a section in no image is to stand: --section-address, else 0 for a bare section, else the first
/// multiple of 8 behind the image.
std::uint64_t section_address(const CommandLine& line, const Input& input);

/// True where functions are to share rows: as the command line says, else in little-endian sections. GNU's
/// reader for the other byte order turns shared bytes once for each function, and its hosts are
/// little-endian; so big-endian sections do without.
bool share_rows(const CommandLine& line, const AbiTraits& abi);

/// A section that is converted, but has no address yet.
struct Unplaced {
  Builder builder;
  generate::Report report;
  const AbiTraits* abi = nullptr;
  std::vector<std::string> warnings;
};

/// The section and, with --emit=elf, the file that it stands in. Converts once.
std::expected<Generated, Failure> generate(const CommandLine& line, const Input& input);

/// --from=cfi, for any of `places`: what is out of their reach (versions 1 and 2) is left out. Fails where there is
/// no call frame information.
std::expected<Unplaced, Failure> convert_cfi(const CommandLine& line, const Input& input, elf::Places places);

/// --from=sframe: everything that is in the input's sections, as one at any of `places`.
std::expected<Unplaced, Failure> convert_sframe(const CommandLine& line, const Input& input, elf::Places places);

/// With --from=sframe: counts the bytes of code of the functions that were written.
void count_written(Generated& generated);

} // namespace sframe::gen
