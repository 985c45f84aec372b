// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an .sframe section into a linked ELF file: a section of type SHT_GNU_SFRAME that is loaded, and the
// segment PT_GNU_SFRAME of exactly its size, by which unwinders find it.
//
//   auto bytes = sframe::elf::add_section(image, [&](std::uint64_t address) -> ... { return build(address);
//   });
//
// No address and no loaded byte of the image changes: the section goes into a new read-only PT_LOAD behind
// the last one. src/rewrite_layout.h says where everything goes and why.

#pragma once

#include "sframe/elf/image.h"
#include "sframe/elf/problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sframe::elf {

/// Makes the section for the address at which it is to stand. The bytes must stay valid until the next call
/// or until add_section() returns, whichever is first; their number must not depend on the address.
using SectionMaker = std::function<Result<std::span<const std::byte>>(std::uint64_t address)>;

/// The bytes of the file with the section in it. The input is only read.
///
/// A section that is there is replaced. If it has a PT_LOAD of its own behind all others, as this function
/// makes it, the file is first thought back to what it was without it: doing it twice gives the same bytes.
/// Else, where the new section fits into the place of the old one, it goes there (what is left over is filled
/// with zeros), else it goes into a new PT_LOAD and the old bytes stay where they are, unused.
///
/// `make` is called once, or twice where there is an old place to try. Its Problem is passed on. Fails for
/// what is no executable or shared object, for damaged headers, for layouts that loaders would not take, and
/// where bytes behind the image belong to no section or segment (an appended archive), which moving the
/// headers would lose. A file without section headers gets only segments. Linear in the file's size.
Result<std::vector<std::byte>> add_section(const Image& image, const SectionMaker& make);

} // namespace sframe::elf
