// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that make a file safe for LLVM's DWARF reader. LLVM's object files end the program on a malformed
// relocation section, and decompress each compressed section, whatever its name, to the size in its header.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::elf {

class Image;

/// True if the file can be passed to llvm::DWARFContext: the stated sizes of compressed sections add up to at
/// most 64 MiB and 64 times the file's size, relocation sections are well-formed, and steps_to_find_unit()
/// has an answer, which is stored in `steps`, if given. Linear in the number of sections, units and rows of
/// indexes.
bool is_fit_for_llvm_dwarf(const Image& image, std::uint64_t* steps = nullptr);

/// How many units LLVM visits at most to find the one with an ID; rows of the index of a .dwp file count as
/// 1/32. Nothing if the debug information is not plausible: sections that overlap, more units than 16,384 and
/// one for 32 bytes of the file, an index that is not sound. LLVM makes an object for each unit, and trusts
/// indexes. Linear in units and rows; decompresses the sections that have them.
std::optional<std::uint64_t> steps_to_find_unit(const Image& image);

/// True if a section has the flag, so that LLVM decompresses it, regardless of its name; or GNU's older
/// compression, which LLVM does not know.
bool has_compressed_sections(const Image& image);

/// An ELF file with the debug sections of `image`, uncompressed. LLVM trusts the decompressed size in the
/// file and ends the program if it cannot allocate it. Its data structures for debug information are many
/// times as large, so the size limit is lower here than elsewhere, unless `unlimited`.
Result<std::vector<std::byte>> without_compression(const Image& image, bool unlimited);

} // namespace sframe::elf
