// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information of an ELF image: which sections there are, what their pointers count from, and
// where .eh_frame ends where only a segment leads to it. Whoever reads the CFI of a file opens it here, so
// that all of them read the same. In a library of its own (sframe::cfi-image): sframe::cfi itself knows
// nothing of ELF files.

#pragma once

#include "sframe/cfi/index.h"
#include "sframe/cfi/section.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sframe::cfi {

/// A section of CFI in an image.
struct ImageSection {
  Section section;
  /// Its search table: .eh_frame_hdr, or the segment PT_GNU_EH_FRAME. Whether it is a sound one, FdeFinder
  /// finds out.
  std::optional<EhFrameHdr> table;
  std::uint32_t index = 0; ///< of the ELF section; 0: a segment led to it

  FdeFinder finder() const { return table ? FdeFinder(section, *table) : FdeFinder(section); }
};

struct ImageCfi {
  std::vector<ImageSection> sections; ///< .eh_frame, then .debug_frame; those that have bytes
  std::vector<elf::Contents> storage; ///< bytes of `sections` that are not in the file as they are
  std::vector<Problem> problems; ///< sections that cannot be read
};

/// Which kinds are wanted.
struct CfiKinds {
  bool eh_frame = true;
  bool debug_frame = true;
};

/// Opens the CFI of an image of one of SFrame's ABIs; of others there is none. .eh_frame is found by its
/// name, else, in a file that has no such section, by PT_GNU_EH_FRAME: then it ends as eh_frame_part() says.
/// In a relocatable object, which may have several sections of a name, relocations are applied. `image` must
/// outlive the result. Linear in the number of headers, apart from what must be decompressed, relocated, or
/// searched for its end.
ImageCfi open_cfi(const elf::Image& image, CfiKinds kinds = {});

/// The bytes of an image from a link address on, as far as they go in a row; empty where there are none.
using BytesAt = std::function<std::span<const std::byte>(std::uint64_t address)>;

/// The same for an image in a process's memory, loaded with `bias` added to its addresses: by segments only,
/// which `bytes_at` reads.
ImageCfi open_cfi_in_memory(const elf::Image& image, std::uint64_t bias, const BytesAt& bytes_at);

} // namespace sframe::cfi
