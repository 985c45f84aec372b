// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One address space for a relocatable object. All its sections start at address 0, so an address alone says
// nothing, and what reads linked files (call frame information, SFrame, lookups by address) cannot be used on
// it. An ObjectLayout does what a linker would: it gives each loaded section a place of its own, so that the
// object reads like a linked file, and takes the addresses back to section and offset at the end.
//
//   auto layout = sframe::elf::ObjectLayout::make(image);
//   auto cfi = layout->image().relocated_contents(eh_frame);   // starts are addresses of the layout
//   auto place = layout->locate(start);                        // .text.foo + 0x0
//
// All addresses are below 2 GiB, as relocations of 32 bits need it, and between two sections there is at
// least one byte that belongs to none, so that no range runs from one into the other. Sections that are not
// loaded stay at 0, as linkers leave them: references into debug sections are offsets.

#pragma once

#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sframe::elf {

class ObjectLayout {
public:
  /// A place in an object: bytes from the start of a section.
  struct Place {
    std::uint32_t section = 0;
    std::uint64_t offset = 0;
  };

  /// Lays out a relocatable object. Its bytes must outlive the result; `object` itself need not. Fails where
  /// a loaded section runs past the end of the file or all together take more than 2 GiB. Linear in the
  /// number of sections.
  static Result<ObjectLayout> make(const Image& object);

  /// The object with the addresses. Still relocatable(): SymbolTable and Relocation speak of sections and
  /// offsets in it, but for Relocation::symbol_value, which is an address.
  const Image& image() const { return image_; }

  /// An address behind all sections, a multiple of 8.
  std::uint64_t end() const { return end_; }

  /// The section that an address is in; its end counts as in it. Nothing for other addresses. Logarithmic.
  std::optional<Place> locate(std::uint64_t address) const;

  /// The bytes of one of image().sframe_tables() as a linker that knows SFrame leaves them: function starts
  /// are addresses of the layout whatever the version. (Assemblers relocate each start relative to its own
  /// field even where the header says that starts count from the section, and leave it to linkers to put that
  /// right.) Fails as Image::contents() does, and for bytes that are no SFrame section. Linear in the number
  /// of functions.
  Result<Contents> sframe_contents(const Table& table) const { return sframe_contents(image_, table); }
  /// The same for an object whose sections have addresses already: a JIT compiler loaded it.
  static Result<Contents> sframe_contents(const Image& object, const Table& table);

private:
  explicit ObjectLayout(Image image) : image_(std::move(image)) {}

  Image image_;
  std::vector<std::uint32_t> placed_; ///< sections with an address, by address
  std::uint64_t end_ = 0;
};

} // namespace sframe::elf
