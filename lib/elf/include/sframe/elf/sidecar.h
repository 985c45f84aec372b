// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sidecar: a small ELF file with the .sframe section of another image, linked to it by the build ID.
// `sframe-gen --emit=sidecar` writes it and `sframe-unwind --sframe-dir` looks it up, in the folder layout
// that debuggers use for .debug files.

#pragma once

#include "sframe/elf/image.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

struct Sidecar {
  std::uint16_t machine = 0;
  ByteOrder byte_order = ByteOrder::little;
  std::uint16_t type = et_dyn;         ///< e_type of the image
  std::uint32_t flags = 0;             ///< e_flags of the image
  std::span<const std::byte> build_id; ///< may be empty: then no note is written
  std::span<const std::byte> section;  ///< the bytes of .sframe
  std::uint64_t section_address = 0;   ///< sh_addr: the section's PC-relative addresses are relative to it
};

/// The sidecar's bytes: an ELF64 file with .note.gnu.build-id, .sframe (SHT_GNU_SFRAME, SHF_ALLOC, alignment
/// 8) and .shstrtab, no segments. Linear in the section's size.
std::vector<std::byte> make_sidecar(const Sidecar& sidecar);

/// The path of a sidecar below a sidecar folder: ".build-id/xx/yyyy.sframe". Empty for a build ID of less
/// than two bytes.
std::string sidecar_path(std::span<const std::byte> build_id);

} // namespace sframe::elf

#pragma GCC visibility pop
