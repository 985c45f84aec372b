// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a sidecar: ELF header, note, section, section names, section headers, in this order.

#include "sframe/elf/sidecar.h"

#include "sframe/elf/llvm_types.h"
#include "sframe/elf/notes.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <cstring>

namespace sframe::elf {

namespace {

/// The note that holds a build ID: sizes and type, "GNU\0", the ID padded to 4.
std::vector<std::byte> build_id_note(std::span<const std::byte> id, ByteOrder order) {
  if (id.empty()) return {};
  std::vector<std::byte> note(align_up(16 + id.size(), 4));
  store<std::uint32_t>(note.data(), 4, order);
  store<std::uint32_t>(note.data() + 4, static_cast<std::uint32_t>(id.size()), order);
  store<std::uint32_t>(note.data() + 8, nt_gnu_build_id, order);
  const auto owner = std::as_bytes(std::span("GNU"));
  std::ranges::copy(owner, note.begin() + 12);
  std::ranges::copy(id, note.begin() + 16);
  return note;
}

/// A section to write; place() sets the offset of its bytes.
struct Part {
  const char* name;
  std::uint32_t type;
  std::uint64_t flags, address, align;
  std::span<const std::byte> bytes;
  std::uint64_t offset = 0;
  std::uint32_t name_offset = 0;
};

template <class Types>
void write_headers(const Sidecar& sidecar, std::span<const Part> parts, std::uint64_t table_offset,
                   std::byte* out) {
  using namespace llvm::ELF;
  auto& header = *reinterpret_cast<typename Types::Ehdr*>(out);
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = sidecar.byte_order == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = sidecar.type;
  header.e_machine = sidecar.machine;
  header.e_version = EV_CURRENT;
  header.e_flags = sidecar.flags;
  header.e_ehsize = sizeof header;
  header.e_shoff = table_offset;
  header.e_shentsize = sizeof(typename Types::Shdr);
  header.e_shnum = static_cast<std::uint16_t>(parts.size() + 1);
  header.e_shstrndx = static_cast<std::uint16_t>(parts.size());
  auto* entry = reinterpret_cast<typename Types::Shdr*>(out + table_offset) + 1; // section 0 is all zeros
  for (const Part& part : parts) {
    entry->sh_name = part.name_offset;
    entry->sh_type = part.type;
    entry->sh_flags = part.flags;
    entry->sh_addr = part.address;
    entry->sh_offset = part.offset;
    entry->sh_size = part.bytes.size();
    entry->sh_addralign = part.align;
    ++entry;
  }
}

} // namespace

std::vector<std::byte> make_sidecar(const Sidecar& sidecar) {
  const std::vector<std::byte> note = build_id_note(sidecar.build_id, sidecar.byte_order);
  std::vector<Part> parts;
  if (!note.empty()) parts.push_back({".note.gnu.build-id", sht_note, 0, 0, 4, note});
  // The address is fixed, so the alignment is lower if it is not a multiple of 8.
  const std::uint64_t align = sidecar.section_address % 8 == 0 ? 8 : 1;
  parts.push_back({".sframe", sht_gnu_sframe, shf_alloc, sidecar.section_address, align, sidecar.section});
  parts.push_back({".shstrtab", sht_strtab, 0, 0, 1, {}});
  std::string names(1, '\0');
  for (Part& part : parts) {
    part.name_offset = static_cast<std::uint32_t>(names.size());
    names.append(part.name).push_back('\0');
  }
  parts.back().bytes = std::as_bytes(std::span(names));

  std::uint64_t end = sizeof(llvm::ELF::Elf64_Ehdr);
  for (Part& part : parts) {
    part.offset = align_up(end, 8);
    end = part.offset + part.bytes.size();
  }
  const std::uint64_t table_offset = align_up(end, 8);
  std::vector<std::byte> out(table_offset + (parts.size() + 1) * sizeof(llvm::ELF::Elf64_Shdr));
  for (const Part& part : parts)
    if (!part.bytes.empty()) std::memcpy(out.data() + part.offset, part.bytes.data(), part.bytes.size());
  with_types(sidecar.byte_order,
             [&]<class Types>(Types) { write_headers<Types>(sidecar, parts, table_offset, out.data()); });
  return out;
}

std::string sidecar_path(std::span<const std::byte> build_id) {
  return build_id_path(build_id, ".sframe");
}

} // namespace sframe::elf
