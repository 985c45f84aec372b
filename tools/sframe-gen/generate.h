// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates a section from the input, with the file that will contain it and a report: one function for each
// kind of source.

#pragma once

#include "command_line.h"
#include "shrink.h"

#include <sframe/base/budget.h>
#include <sframe/builder.h>
#include <sframe/edit/edit.h>
#include <sframe/edit/rewrite.h>
#include <sframe/elf/image.h>
#include <sframe/elf/object.h>
#include <sframe/elf/symbols.h>
#include <sframe/expected.h>
#include <sframe/generate/report.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sframe::gen {

/// The input of a conversion: a file or an archive member. A view of its bytes.
struct Input {
  std::span<const std::byte> bytes;
  std::optional<elf::Image> image;            ///< empty for a raw section; laid out if there is an `object`
  std::optional<elf::ObjectLayout> object;    ///< of a relocatable object: addresses are those of the layout
  const elf::Image* debug = nullptr;          ///< of --debug
  const elf::Image* names = nullptr;          ///< a debug file with more symbols than the image
  const elf::Image* sidecar = nullptr;        ///< with the section that the image does not have
  Budget* budget;                             ///< what reading it may cost
  std::function<void(double share)> progress; ///< generate::Options::progress
};

/// The image's executable bytes, and those covered by functions of the section.
struct ExecutableBytes : CoveredBytes {
  std::uint64_t padding = 0; ///< bytes of gaps between functions that have nothing else
};

struct Generated {
  std::vector<std::byte> bytes;        ///< of the section
  edit::Edit image;                    ///< with --emit=elf: the output file, the section in it
  std::optional<ShrinkFigures> shrunk; ///< with --shrink-cfi, of a linked file
  std::vector<std::byte> full_cfi;     ///< for --full-cfi; empty without it
  generate::Report report;
  const AbiTraits* abi = nullptr;
  std::uint64_t num_fdes = 0;
  std::uint64_t num_fres = 0;
  /// Empty for a raw section, and if neither the report nor --min-coverage needs them.
  std::optional<ExecutableBytes> executable;
  std::vector<std::string> warnings; ///< about the input; it was converted nevertheless
};

/// The reason why there is no result.
struct Failure {
  Problem problem;
  /// The input is not an ELF file of an ABI that SFrame has, or has nothing to convert. In an archive, or
  /// with --allow-missing, it is kept unchanged.
  bool nothing_to_convert = false;
};

inline unexpected<Failure> failed(Problem problem) {
  return unexpected(Failure{std::move(problem)});
}

/// Reads the headers of `bytes`. Fails if this is neither a 64-bit ELF file nor, with --from=sframe, a
/// section. Section contents are charged to the budget, which must outlive the result.
expected<Input, Failure> read_input(const CommandLine& line, std::span<const std::byte> bytes,
                                    Budget& budget);

/// The symbol at an address of the input's image.
std::optional<elf::SymbolTable::Match> find_symbol(const Input& input, const elf::SymbolTable& symbols,
                                                   std::uint64_t address);

/// The address of a section that is not in an image: --section-address, else 0 for a raw section, else the
/// first multiple of 8 after the image.
std::uint64_t section_address(const CommandLine& line, const Input& input);

/// True if functions should share rows: never in a relocatable object, else by the command line, else in
/// little-endian sections. GNU ld makes room for the sum of its inputs and writes each function's rows
/// separately, so shared ones run over what follows. GNU's reader byte-swaps shared bytes once for each
/// function if the byte order is not its host's, and its hosts are little-endian.
bool share_rows(const CommandLine& line, const Input& input, const AbiTraits& abi);

/// A section that is converted, but has no address yet.
struct ConvertedSection {
  Builder builder;
  generate::Report report;
  const AbiTraits* abi = nullptr;
  std::vector<std::string> warnings;
};

/// The section and, with --emit=elf, the file that contains it. Converts once.
expected<Generated, Failure> generate(const CommandLine& line, const Input& input);

/// --from=cfi, code or both, for any of `bounds`: functions out of their reach (versions 1 and 2) are left
/// out. Fails if there is nothing to convert.
expected<ConvertedSection, Failure> convert_cfi(const CommandLine& line, const Input& input,
                                                edit::AddressBounds bounds);

/// --from=sframe: merges the contents of the input's sections into one section at any of `bounds`.
expected<ConvertedSection, Failure> convert_sframe(const CommandLine& line, const Input& input,
                                                   edit::AddressBounds bounds);

/// With --from=sframe: counts the bytes of code of the functions that were written.
void count_written(Generated& generated);

} // namespace sframe::gen
