// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an .sframe section into an ELF file. In a linked file that is a section of type SHT_GNU_SFRAME that
// is loaded, and the segment PT_GNU_SFRAME of exactly its size, by which unwinders find it; in a relocatable
// object it is the section with its relocations.
//
//   auto edit = sframe::elf::add_section(image, [&](std::uint64_t address) -> ... { return build(address);
//   });
//
// No address and no loaded byte of a linked image changes: the section goes into a new read-only PT_LOAD
// behind the last one. src/rewrite_layout.h says where everything goes and why.

#pragma once

#include "sframe/elf/edit.h"
#include "sframe/elf/image.h"
#include "sframe/elf/object.h"
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

/// What makes the file one with the section in it. The input is only read, and not much of it: what stays
/// need not be looked at.
///
/// A section that is there is replaced. If it has a PT_LOAD of its own behind all others, as this function
/// makes it, the file is first thought back to what it was without it: doing it twice gives the same bytes.
/// That also holds where objcopy left moved program headers in it and only `.moved_phdrs` behind them.
/// Else, where the new section fits into the place of the old one, it goes there (what is left over is
/// filled with zeros), else it goes into a new PT_LOAD and the old bytes become zeros.
///
/// `make` is called once, or twice where there is an old place to try. Its Problem is passed on. Fails for
/// what is no executable or shared object, for damaged headers, for layouts that loaders would not take, and
/// where bytes behind the image belong to no section or segment (an appended archive), which moving the
/// headers would lose. A file without section headers gets only segments. Linear in the number of headers and
/// the section's size.
Result<Edit> add_section(const Image& image, const SectionMaker& make);

/// A relocatable object with `.sframe` and `.rela.sframe` in it, as an assembler makes them: one
/// relocation per function, which linkers that know SFrame merge, and whose functions they drop with their
/// sections.
///
/// `make` is called once, with an address of the object's layout, and gives a section for it: function starts
/// are addresses of the layout. What is written has start fields of 0 and is not marked sorted. The
/// relocations refer to symbols that are there: the section's own, else a local one, else a global one. All
/// other sections keep number, contents and header but for their offset in the file; an `.sframe` that is
/// there is replaced, in its place in the table. Doing it twice gives the same bytes.
///
/// Fails where `make` does, for a function that starts in no code or in a section without symbols, for
/// damaged headers, sections that overlap in the file, more than one `.sframe` or one in a group, and where
/// bytes that no header describes follow (the signature of a kernel module). Linear in the file's size.
Result<Edit> add_section_to_object(const ObjectLayout& object, const SectionMaker& make);

} // namespace sframe::elf
