// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF file (64-bit, either byte order) as tables of plain numbers in host byte order: header, segments,
// sections, and their bytes, with every access checked against the file's size. An Image is a view: it does
// not own the file's bytes. Specified in the System V ABI, chapters 4 and 5; PT_GNU_SFRAME and SHT_GNU_SFRAME
// in GNU binutils' SFrame documents.
//
//   auto file = sframe::elf::File::open(path);
//   auto image = sframe::elf::Image::parse(file->bytes());
//   for (const auto& table : image->sframe_tables())
//     if (auto bytes = image->contents(table)) ... sframe::Section::parse(bytes->bytes(), table.address) ...
//
// A file whose section headers are missing or damaged is still usable through its segments; problems()
// reports what could not be read.

#pragma once

#include "sframe/abi.h"
#include "sframe/base/address_ranges.h"
#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {
class Budget;
}

namespace sframe::elf { // private
enum class BuildIdNote : std::uint8_t;
}

namespace sframe::elf {

/// Numbers of the ELF specification that the tools use by name.
inline constexpr std::uint16_t et_rel = 1, et_exec = 2, et_dyn = 3, et_core = 4;
inline constexpr std::uint32_t pt_load = 1, pt_dynamic = 2, pt_interp = 3, pt_note = 4,
                               pt_gnu_eh_frame = 0x6474e550, pt_gnu_relro = 0x6474e552,
                               pt_gnu_sframe = 0x6474e554;
inline constexpr std::uint32_t pf_x = 1, pf_w = 2, pf_r = 4;
inline constexpr std::uint32_t sht_null = 0, sht_progbits = 1, sht_symtab = 2, sht_strtab = 3, sht_rela = 4,
                               sht_note = 7, sht_nobits = 8, sht_rel = 9, sht_dynsym = 11,
                               sht_symtab_shndx = 18, sht_gnu_sframe = 0x6ffffff4,
                               sht_x86_64_unwind = 0x70000001;
inline constexpr std::uint64_t shf_write = 1, shf_alloc = 2, shf_execinstr = 4, shf_compressed = 0x800;

/// A section header. `name` points into the file.
struct SectionHeader {
  std::uint32_t index = 0;
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t align = 0;
  std::uint64_t entsize = 0;

  /// The addresses of its bytes, if allocated().
  AddressRange memory() const { return {address, size}; }
  bool allocated() const { return flags & shf_alloc; }
  bool executable() const { return flags & shf_execinstr; }
  /// True for a debug section as GNU tools compressed it before there was SHF_COMPRESSED (and the Go linker
  /// up to 1.18): ".zdebug_line" for ".debug_line". The contents begin with "ZLIB" and their size.
  bool gnu_compressed() const { return name.starts_with(".zdebug_"); }
  /// True if this is the section `wanted`, also if its name is the one of that compression.
  bool is_named(std::string_view wanted) const {
    return name == wanted ||
           (gnu_compressed() && wanted.starts_with(".debug_") && name.substr(2) == wanted.substr(1));
  }
};

/// A program header.
struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0; ///< p_vaddr
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t align = 0;

  /// The addresses of its bytes in memory, zeros after the file's bytes included.
  AddressRange memory() const { return {address, memory_size}; }
};

/// Bytes that are a view into the file or, if they were changed (decompressed, relocated), owned. Movable.
class Contents {
public:
  Contents() = default;
  explicit Contents(std::span<const std::byte> view) : view_(view) {}
  explicit Contents(std::vector<std::byte> owned) : owned_(std::move(owned)), is_owner_(true) {}

  /// The bytes. A view lives as long as the file, owned bytes as long as this object; moving the object does
  /// not move them.
  std::span<const std::byte> bytes() const { return is_owner_ ? std::span<const std::byte>(owned_) : view_; }

  bool empty() const { return bytes().empty(); }
  std::size_t size() const { return bytes().size(); }

private:
  std::span<const std::byte> view_;
  std::vector<std::byte> owned_;
  bool is_owner_ = false;
};

/// One relocation of a relocatable object, with its symbol resolved.
struct Relocation {
  std::uint64_t offset = 0;     ///< from the start of the section it applies to
  std::uint32_t type = 0;       ///< R_X86_64_..., R_AARCH64_..., R_390_...
  std::uint32_t symbol = 0;     ///< index in the symbol table; 0 = none
  std::string_view symbol_name; ///< the section's name for a section symbol
  std::uint32_t section = 0;    ///< section in which the symbol is defined; 0 = undefined, absolute or common
  std::uint64_t symbol_value = 0; ///< st_value plus the defining section's address (normally 0)
  std::int64_t addend = 0;        ///< of a REL relocation: read from the place, 0 if the type is unknown
};

/// A table in the image, by section or, without section headers, by segment.
struct SframeLocation {
  std::string_view name;                  ///< the section's name, or the segment's: "PT_GNU_SFRAME"
  std::uint64_t address = 0;              ///< where its first byte is loaded
  const SectionHeader* section = nullptr; ///< exactly one of the two is set; both live as long as the Image
  const Segment* segment = nullptr;
};

/// A range of code: an executable section or, without section headers, an executable segment.
struct CodeRange : AddressRange {
  std::uint32_t section = 0; ///< 0 = from a segment
};

class Image {
public:
  /// Decompressed contents never exceed this many bytes, nor max_expansion times the compressed size.
  static constexpr std::uint64_t max_decompressed_size = std::uint64_t(1) << 30;
  static constexpr std::uint64_t max_expansion = 2048;

  /// True if the bytes start with ELF's magic number.
  static bool is_elf(std::span<const std::byte> bytes);

  /// True for an ELF file that parse() fails for with the message `is_32_bit_text`.
  static bool is_32_bit(std::span<const std::byte> bytes);
  static constexpr const char* is_32_bit_text = "32-bit ELF file; only 64-bit files are supported";

  /// Reads the headers. Fails if the ELF header is not that of a 64-bit file; damage in the program or
  /// section header table leaves that table empty and is reported by problems(). `bytes` must outlive the
  /// Image and everything obtained from it. Section reads are taken from the budget, if given; it must
  /// outlive the Image too. Linear in the number of headers, time and memory.
  static Result<Image> parse(std::span<const std::byte> bytes, Budget* budget = nullptr);

  /// As passed to parse().
  Budget* budget() const { return budget_; }

  std::span<const std::byte> bytes() const { return bytes_; }
  ByteOrder byte_order() const { return order_; }
  std::uint16_t machine() const { return machine_; }
  std::uint16_t type() const { return type_; }   ///< et_rel, ...
  std::uint32_t flags() const { return flags_; } ///< e_flags
  std::uint64_t entry() const { return entry_; }
  bool relocatable() const { return type_ == et_rel; }

  /// The SFrame ABI of machine and byte order, or nullptr if SFrame has none.
  const AbiTraits* abi() const { return find_abi(machine_, order_); }

  /// All sections, including the null section 0, so that a section's index is its position here. Empty
  /// without section headers.
  std::span<const SectionHeader> sections() const { return sections_; }
  std::span<const Segment> segments() const { return segments_; }

  /// What is damaged in the headers, in the order found; usually empty.
  std::span<const Problem> problems() const { return problems_; }

  /// The first section (SectionHeader::is_named()) or segment of that name or type, or nullptr. Linear in
  /// their number.
  const SectionHeader* find_section(std::string_view name) const;

  /// The sections of linker-generated stubs for calls to other files (.plt, .plt.sec, .iplt and others), by
  /// name, in the order of the headers. Linear in the number of sections.
  std::vector<SectionHeader> plt_sections() const;
  const Segment* find_segment(std::uint32_t type) const;

  /// The section's bytes: empty for SHT_NOBITS, decompressed if SHF_COMPRESSED is set (zlib, zstd) or if they
  /// have GNU's older compression, else a view. Takes section_bytes and unpacked_bytes from the budget, and
  /// fails if it is exhausted.
  Result<Contents> contents(const SectionHeader& section) const;

  /// The segment's bytes that are in the file.
  Result<Contents> contents(const Segment& segment) const;

  /// The section's bytes as a linker that keeps all addresses would leave them: in a relocatable object, a
  /// copy with the relocations applied (RELA and REL; absolute and PC-relative data of 16, 32 and 64 bits);
  /// else as contents(). Fails for an unknown type or a place outside the section, with the relocation's
  /// offset. Linear in the relocations.
  Result<Contents> relocated_contents(const SectionHeader& section) const;

  /// The table's bytes, relocated in a relocatable object.
  Result<Contents> contents(const SframeLocation& table) const;

  /// The relocations that apply to the section, in file order. Empty unless relocatable(). Linear in their
  /// number.
  Result<std::vector<Relocation>> relocations(const SectionHeader& section) const;

  /// A word that the dynamic loader fills in, and the address that it gets (link addresses).
  struct LoadedPointer {
    std::uint64_t address = 0, value = 0;
    friend auto operator<=>(const LoadedPointer&, const LoadedPointer&) = default;
  };
  /// The words of a linked image for which it has an R_*_RELATIVE relocation with addend (not RELR), by
  /// address. Without section headers, the dynamic segment names the relocations. Takes section_bytes from
  /// the budget, and ends if it is exhausted. Linear in the relocations.
  std::vector<LoadedPointer> loaded_pointers() const;

  /// A place that a dynamic relocation changes.
  struct RelocatedPlace {
    std::uint64_t address = 0;
    std::string_view symbol; ///< its name, a view into the file; empty if there is none
  };
  /// The places of an allocated SHT_RELA section, in the order of its entries. Names are cut after
  /// `max_length` bytes. Takes section_bytes from the budget, and is empty if it is exhausted. Linear in the
  /// entries times `max_length`.
  std::vector<RelocatedPlace> relocated_places(const SectionHeader& relocations,
                                               std::size_t max_length) const;

  /// Bytes that a relocation of this type changes and whether the place is subtracted; nothing for a type
  /// that does not relocate plain data.
  struct RelocationKind {
    std::uint8_t size = 0; ///< 0 (no change), 2, 4 or 8
    bool pc_relative = false;
  };
  std::optional<RelocationKind> relocation_kind(std::uint32_t type) const;

  /// The SHT_SYMTAB_SHNDX section of the symbol table with that section number; the first if there are
  /// several; nullptr if there is none. Logarithmic in their number.
  const SectionHeader* section_numbers_of(std::uint32_t symbol_table) const;

  /// The SFrame sections: all sections of the given name (and, for ".sframe", of type SHT_GNU_SFRAME) that
  /// have bytes in the file or are empty; if there is none, the segment PT_GNU_SFRAME unless that is empty
  /// too.
  std::vector<SframeLocation> sframe_tables(std::string_view name = ".sframe") const;

  /// The GNU build ID, else that of Go, a view into the file; empty if there is none.
  std::span<const std::byte> build_id() const { return build_id_; }
  /// Go's build ID, if there is one. A core may have no other: that of the linker is in no segment PT_NOTE.
  std::span<const std::byte> go_build_id() const { return go_build_id_; }

  /// The bytes of [address, address + size) in the file: from PT_LOAD segments, or from allocated sections if
  /// there are no segments (in a relocatable object, sections share addresses: the first that fits). Nothing
  /// if any byte is not in the file. Logarithmic in the number of segments.
  std::optional<std::span<const std::byte>> read(std::uint64_t address, std::uint64_t size) const;

  /// The bytes in the file from `address` to the end of its segment or section; empty if there are none.
  std::span<const std::byte> bytes_at(std::uint64_t address) const;

  /// The same file with other section addresses, one per section. ObjectLayout uses it to give a relocatable
  /// object an address space. Linear in the number of headers.
  Image with_addresses(std::span<const std::uint64_t> addresses) const;

  /// Executable sections with their sizes, else executable PT_LOAD segments; by address.
  std::vector<CodeRange> executable_ranges() const;

  /// The addresses of executable_ranges().
  AddressSet executable_addresses() const;

  /// True if the address is in an executable segment (a section, in a file without segments).
  bool is_executable(std::uint64_t address) const;

private:
  struct Extent : AddressRange {
    std::uint64_t offset;
    bool executable;
  };
  /// Maps a section to the one that refers to it.
  struct SectionLink {
    std::uint32_t target, index;
  };
  Image() = default;
  unexpected<Problem> used_up(const SectionHeader& section) const;
  Result<void> may_unpack(const SectionHeader& section, std::uint64_t size) const;
  Result<Contents> unpack_gnu(const SectionHeader& section, std::span<const std::byte> bytes,
                              std::uint64_t size) const;
  void index_extents();
  std::span<const std::byte> find_build_id(BuildIdNote kind) const;
  void index_relocations();
  void index_section_numbers();
  const Extent* extent_at(std::uint64_t address) const;
  template <class Types, class F> Result<void> each_relocation(const SectionHeader& section, F&& f) const;
  Result<std::span<const std::byte>> raw(std::uint64_t offset, std::uint64_t size,
                                         std::string_view name) const;

  std::span<const std::byte> bytes_;
  Budget* budget_ = nullptr;
  ByteOrder order_ = ByteOrder::little;
  std::uint16_t machine_ = 0;
  std::uint16_t type_ = 0;
  std::uint32_t flags_ = 0;
  std::uint64_t entry_ = 0;
  std::vector<SectionHeader> sections_;
  std::vector<Segment> segments_;
  std::vector<Problem> problems_;
  std::vector<Extent> extents_;                  ///< by address
  bool by_segments_ = false;                     ///< extents_ are segments, not sections
  std::vector<SectionLink> relocation_sections_; ///< by target, then index
  std::vector<SectionLink> section_numbers_;     ///< SHT_SYMTAB_SHNDX, by symbol table, then index
  std::span<const std::byte> build_id_, go_build_id_;
};

/// Bytes as lower-case hexadecimal digits, the notation of build IDs.
std::string to_hex(std::span<const std::byte> bytes);

/// True if the Go linker has made the file, or a part of it: it has a section that all Go programs have, also
/// stripped ones (cmd/link/internal/ld/data.go). Linear in the number of sections.
bool has_go_code(const Image& image);

/// The name, relative to a folder of debug files, of a file for that build ID: ".build-id/xx/yyyy" and the
/// extension. Empty for an ID of less than 2 bytes.
std::string build_id_path(std::span<const std::byte> build_id, std::string_view extension);

} // namespace sframe::elf

#pragma GCC visibility pop
