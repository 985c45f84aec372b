// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an .sframe section into an ELF file. In a linked file that is a section of type SHT_GNU_SFRAME that
// is loaded, and the segment PT_GNU_SFRAME of exactly its size, by which unwinders find it; in a relocatable
// object it is the section with its relocations.
//
//   auto linked = sframe::elf::add_section(image, {.make = convert, .finish = encode});
//
// No address and no byte of the program changes: the section goes into a new read-only PT_LOAD after the last
// one. Two more program headers need room; tables and notes that the linker put next to them may move to make
// it. src/rewrite_layout.h says where everything goes and why.

#pragma once

#include "sframe/elf/edit.h"
#include "sframe/elf/image.h"
#include "sframe/elf/object.h"
#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sframe::elf {

/// Where a section may come to stand.
struct Places {
  std::uint64_t lowest = 0, highest = 0;
};

/// What makes the section, in two steps: its size is known before its place is.
struct SectionMaker {
  /// Does the work, called once: a section that can stand at any of the places. The result is the most bytes that
  /// it may have.
  std::function<Result<std::uint64_t>(Places places)> make;
  /// The section for one of the places, called once, after make(). The bytes must stay valid until the function
  /// that was given the SectionMaker returns.
  std::function<Result<std::span<const std::byte>>(std::uint64_t address)> finish;
};

/// A linked file with a section in it.
struct Linked {
  Edit edit;
  /// The program headers had no room at the start of the file and stand after the last segment now: the file
  /// works, but libelf's tools (eu-strip, eu-elfcompress, find-debuginfo) would write zeros over them.
  bool headers_moved = false;
};

/// What makes the file one with the section in it. The input is only read, and not much of it: what stays
/// need not be looked at.
///
/// A section that is there is replaced. If it has a PT_LOAD of its own behind all others, as this function
/// makes it, the file is first thought back to what it was without it: doing it twice gives the same bytes.
/// That also holds where objcopy removed the section. Program headers that an earlier version of this function
/// moved to the file's end get back to the start if there is room.
/// Else, where the new section fits into the place of the old one, it goes there (what is left over is
/// filled with zeros), else it goes into a new PT_LOAD and the old bytes become zeros.
///
/// `maker` is asked once; its Problems are passed on. Fails for
/// what is no executable or shared object, for damaged headers, for layouts that loaders would not take, and
/// where bytes behind the image belong to no section or segment (an appended archive), which moving the
/// headers would lose. A file without section headers gets only segments. Linear in the number of headers,
/// symbols and the section's size.
Result<Linked> add_section(const Image& image, const SectionMaker& maker);

/// A relocatable object with `.sframe` and `.rela.sframe` in it, as an assembler makes them: one
/// relocation per function, which linkers that know SFrame merge, and whose functions they drop with their
/// sections.
///
/// `maker` is asked once, with an address of the object's layout, for a section there: function starts
/// are addresses of the layout. What is written has start fields of 0 and is not marked sorted. The
/// relocations refer to symbols that are there: the section's own, else a local one, else a global one. All
/// other sections keep number, contents and header but for their offset in the file; an `.sframe` that is
/// there is replaced, in its place in the table. Doing it twice gives the same bytes.
///
/// Fails where `maker` does, for a function that starts in no code or in a section without symbols, for
/// damaged headers, sections that overlap in the file, more than one `.sframe` or one in a group, and where
/// bytes that no header describes follow (the signature of a kernel module). Linear in the file's size.
Result<Edit> add_section_to_object(const ObjectLayout& object, const SectionMaker& maker);

} // namespace sframe::elf
