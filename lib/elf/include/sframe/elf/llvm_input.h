// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must hold of a file before LLVM's DWARF reader gets it. LLVM's object files end the program where a
// relocation section is malformed, and unpack each compressed section, whatever it is called, to the size that it
// claims.

#pragma once

#include <cstdint>
#include <optional>

namespace sframe::elf {

class Image;
struct Section;

/// The size that a compressed section claims to have; nothing where the file does not hold its header.
std::optional<std::uint64_t> claimed_size(const Image& image, const Section& section);

/// True where the file can be given to llvm::DWARFContext: compressed sections claim together no more than 64 MiB and
/// 64 times the file's size, and relocation sections are well-formed. Linear in the number of sections.
bool is_fit_for_llvm_dwarf(const Image& image);

} // namespace sframe::elf
