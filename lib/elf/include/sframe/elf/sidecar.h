// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sidecar: a small ELF file that carries an .sframe section for an image that lives elsewhere, tied to it
// by the build ID. It is what `sframe-gen --emit=sidecar` writes and `sframe-unwind --sframe-dir` looks up,
// in the folder layout that debuggers use for .debug files.

#pragma once

#include "sframe/elf/image.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sframe::elf {

struct Sidecar {
  std::uint16_t machine = 0;
  ByteOrder byte_order = ByteOrder::little;
  std::uint16_t type = et_dyn;         ///< e_type of the image
  std::uint32_t flags = 0;             ///< e_flags of the image
  std::span<const std::byte> build_id; ///< may be empty: then there is no note
  std::span<const std::byte> section;  ///< the bytes of .sframe
  std::uint64_t section_address = 0;   ///< sh_addr: what the section's PC-relative addresses count from
};

/// The sidecar's bytes: an ELF64 file with .note.gnu.build-id, .sframe (SHT_GNU_SFRAME, SHF_ALLOC, alignment
/// 8) and .shstrtab, no segments. Linear in the section's size.
std::vector<std::byte> make_sidecar(const Sidecar& sidecar);

/// Where a sidecar is looked up below a sidecar folder: ".build-id/xx/yyyy.sframe". Empty for a build ID of
/// less than two bytes.
std::string sidecar_path(std::span<const std::byte> build_id);

} // namespace sframe::elf
