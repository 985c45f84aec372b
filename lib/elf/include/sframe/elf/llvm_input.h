// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that make a file safe for LLVM's DWARF reader. LLVM's object files end the program on a malformed
// relocation section, and unpack each compressed section, whatever its name, to the size in its header.

#pragma once

#include <cstdint>
#include <optional>

namespace sframe::elf {

class Image;
struct Section;

/// The uncompressed size in the header of a compressed section; nothing if the file does not hold that
/// header.
std::optional<std::uint64_t> claimed_size(const Image& image, const Section& section);

/// True if the file can be passed to llvm::DWARFContext: the stated sizes of compressed sections add up to at
/// most 64 MiB and 64 times the file's size, and relocation sections are well-formed. Linear in the number of
/// sections.
bool is_fit_for_llvm_dwarf(const Image& image);

} // namespace sframe::elf
