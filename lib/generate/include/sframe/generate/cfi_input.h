// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information to convert: sections, the most trusted first, and what is known of the
// addresses that they describe.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/elf/image.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sframe::generate {

/// Addresses [start, start + size).
struct Range {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  bool contains(std::uint64_t address) const { return address - start < size; }
};

/// A section of linker-made stubs.
struct Plt {
  Range range;
  std::span<const std::byte> bytes; ///< those of the range; empty if they are not in the file
};

struct CfiInput {
  const AbiTraits* abi = nullptr;
  /// What a section describes, later ones do not describe again. Spans must outlive the conversion; all are
  /// of `abi`.
  std::vector<cfi::Section> sections;
  /// Where code is, by address. An FDE that starts elsewhere is skipped: linkers leave FDEs of discarded
  /// functions behind, at address 0. Empty: not known, everything counts.
  std::vector<Range> code;
  /// What Options::plt switches.
  std::vector<Plt> plts;
  /// Bytes of `sections` that are not in the file as they are.
  std::vector<elf::Contents> storage;

  /// .eh_frame and .debug_frame of an image, as cfi::open_cfi() finds them. Of a relocatable object, which
  /// must be an ObjectLayout's image, relocations are applied. Fails if the ABI is none that SFrame knows,
  /// and for sections that cannot be read. No section at all is no failure. `image` must outlive the result.
  /// Linear in the number of headers, apart from what must be decompressed or relocated.
  static Result<CfiInput> from_image(const elf::Image& image);
};

} // namespace sframe::generate
