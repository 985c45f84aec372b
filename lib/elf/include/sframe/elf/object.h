// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One address space for a relocatable object. All its sections start at address 0, so an address alone is
// ambiguous. Readers of linked files (call frame information, SFrame, lookups by address) cannot be used on
// it. An ObjectLayout acts as a linker: it gives each loaded section its own address range, so that the
// object reads like a linked file. At the end it maps addresses back to section and offset.
//
//   auto layout = sframe::elf::ObjectLayout::make(image);
//   auto cfi = layout->image().relocated_contents(eh_frame);   // starts are addresses of the layout
//   auto place = layout->locate(start);                        // .text.foo + 0x0
//
// All addresses are below 2 GiB, as 32-bit relocations require. Between two sections at least one byte is
// unused, so that no range extends from one into the other. Sections that are not loaded stay at 0, as
// linkers leave them: references into debug sections are offsets.

#pragma once

#include "sframe/elf/image.h"

#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

class ObjectLayout {
public:
  /// A location in an object: bytes from the start of a section.
  struct Location {
    std::uint32_t section = 0;
    std::uint64_t offset = 0;
  };

  /// Lays out a relocatable object. Its bytes must outlive the result; `object` itself need not. Fails if a
  /// loaded section runs past the end of the file or the total exceeds 2 GiB. Linear in the number of
  /// sections.
  static Result<ObjectLayout> make(const Image& object);

  /// The object with the assigned addresses. Still relocatable(): SymbolTable and Relocation use sections and
  /// offsets in it, except for Relocation::symbol_value, which is an address.
  const Image& image() const { return image_; }

  /// An address after all sections, a multiple of 8.
  std::uint64_t end() const { return end_; }

  /// The section that contains the address; its end address is included. Nothing for other addresses.
  /// Logarithmic.
  std::optional<Location> locate(std::uint64_t address) const;

  /// The bytes of one of image().sframe_tables() as a linker that supports SFrame leaves them: function
  /// starts are addresses of the layout in every version. (Assemblers relocate each start relative to its own
  /// field even if the header has section-relative starts; linkers correct that.) Fails as Image::contents()
  /// does, and for bytes that are not an SFrame section. Linear in the number of functions.
  Result<Contents> sframe_contents(const SframeLocation& table) const {
    return sframe_contents(image_, table);
  }
  /// Same, for an object whose sections already have addresses: one loaded by a JIT compiler.
  static Result<Contents> sframe_contents(const Image& object, const SframeLocation& table);

private:
  explicit ObjectLayout(Image image) : image_(std::move(image)) {}

  Image image_;
  std::vector<std::uint32_t> placed_; ///< sections with an address, by address
  std::uint64_t end_ = 0;
};

} // namespace sframe::elf

#pragma GCC visibility pop
