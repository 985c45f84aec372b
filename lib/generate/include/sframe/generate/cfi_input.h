// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information to convert: sections, the most trusted first, and properties of the addresses
// that they describe.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/cfi/section.h"
#include "sframe/elf/image.h"
#include "sframe/elf/linked_object.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

/// A section of linker-generated stubs.
struct Plt {
  AddressRange range;
  std::span<const std::byte> bytes; ///< those of the range; empty if they are not in the file
};

struct CfiInput {
  const AbiTraits* abi = nullptr;
  /// Addresses that a section describes are ignored in later ones. Spans must outlive the conversion; all are
  /// of `abi`.
  std::vector<cfi::CfiSection> sections;
  /// Ranges of code, by address. An FDE that starts elsewhere is skipped: linkers leave FDEs of discarded
  /// functions at address 0. Empty: unknown, no FDE is skipped.
  std::vector<AddressRange> code;
  /// PLT sections; ignored, with their FDEs, if Options::plt is false.
  std::vector<Plt> plts;
  /// The code, for the options that need it; must outlive the conversion. nullptr: not known.
  const elf::Image* image = nullptr;
  /// What `image` refers to, if it is that of a LinkedObject.
  std::span<const elf::ExternalSymbol> externals;
  /// Bytes of `sections` that differ from the file.
  std::vector<elf::Contents> storage;

  /// The addresses of `plts`.
  AddressSet stubs() const;

  /// .eh_frame and .debug_frame of an image, as found by cfi::open_cfi(). The relocations of a relocatable
  /// object, which must be an ObjectLayout's image, are applied. Fails if SFrame does not support the ABI,
  /// and for unreadable sections. An image without these sections is valid. `debug`: the image's separate
  /// debug file, whose sections come after its own. The images must outlive the result.
  /// Linear in the number of headers, apart from what must be decompressed or relocated.
  static Result<CfiInput> from_image(const elf::Image& image, const elf::Image* debug = nullptr);
};

} // namespace sframe::generate
