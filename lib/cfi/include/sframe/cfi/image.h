// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the call frame information of an ELF image: finds its sections, the bases of their pointers, and the
// end of .eh_frame if only a segment refers to it. All readers of a file's CFI use this, so that they all
// read the same. A separate library (sframe::cfi-image), so that sframe::cfi itself does not depend on ELF.

#pragma once

#include "sframe/cfi/index.h"
#include "sframe/cfi/section.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::cfi {

/// A section of CFI in an image.
struct ImageSection {
  CfiSection section;
  /// Its search table: .eh_frame_hdr, or the segment PT_GNU_EH_FRAME. Not yet validated; FdeFinder does that.
  std::optional<EhFrameHdr> table;
  std::uint32_t index = 0; ///< of the ELF section; 0: found by a segment

  FdeFinder finder() const { return table ? FdeFinder(section, *table) : FdeFinder(section); }
};

struct ImageCfi {
  std::vector<ImageSection> sections; ///< .eh_frame, then .debug_frame; non-empty ones only
  std::vector<elf::Contents> storage; ///< bytes of `sections` that differ from the file
  std::vector<Problem> problems;      ///< sections that cannot be read
};

/// The kinds of CFI to open.
struct CfiKinds {
  bool eh_frame = true;
  bool debug_frame = true;
};

/// Opens the CFI of an image; empty unless the image has one of SFrame's ABIs. .eh_frame is found by its
/// name; in a file without that section, by PT_GNU_EH_FRAME, and eh_frame_part() determines its end. In a
/// relocatable object, which may have several sections of a name, relocations are applied; in a linked file,
/// those that the loader would apply to .eh_frame. `image` must outlive the result. Linear in the number of
/// headers, apart from what must be decompressed, relocated, or searched for its end.
ImageCfi open_cfi(const elf::Image& image, CfiKinds kinds = {});

/// The contiguous bytes of an image from a link address on; empty if there are none.
using BytesAt = std::function<std::span<const std::byte>(std::uint64_t address)>;

/// Same, for an image in a process's memory, loaded with `bias` added to its addresses. Uses segments only,
/// read through `bytes_at`.
ImageCfi open_cfi_in_memory(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at);

} // namespace sframe::cfi

#pragma GCC visibility pop
