// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The places of the sections: PT_GNU_SFRAME refers to .sframe, PT_GNU_EH_FRAME to the header that refers to
// .eh_frame (Linux Standard Base 5.0, section 10.6). A static program may have neither, because its start
// code registers .eh_frame by a symbol; then the section headers of its file are used (section_headers.h).
//
// Sizes in the program headers are those that the loader has mapped. .eh_frame has none: it ends with its
// segment at the latest; cfi::eh_frame_part() finds its end, where it is needed.

#include "module.h"

#include "host.h"
#include "section_headers.h"
#include "stack_memory.h"

#include "sframe/address.h"
#include "sframe/cfi/index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <dlfcn.h>
#include <sys/auxv.h>

#ifndef PT_GNU_SFRAME
#  define PT_GNU_SFRAME 0x6474e554
#endif

// In glibc 2.35 and later; null in other C libraries.
#ifdef DLFO_EH_SEGMENT_TYPE
#  define HAVE_FIND_OBJECT 1
extern "C" [[gnu::weak]] int _dl_find_object(void*, dl_find_object*) noexcept;
#endif

namespace sframe::here {

namespace {

const std::byte* at(std::uint64_t address) {
  return reinterpret_cast<const std::byte*>(address);
}

/// A module's program headers, with addresses in memory.
class Segments {
public:
  explicit Segments(const dl_phdr_info& info)
      : headers_(info.dlpi_phdr, info.dlpi_phnum), bias_(info.dlpi_addr) {}

  /// The bytes of the segment of that type, if they are mapped; else empty.
  std::span<const std::byte> find(std::uint32_t type) const {
    for (const ElfW(Phdr) & header : headers_)
      if (header.p_type == type) {
        const auto mapped = from(bias_ + header.p_vaddr);
        return mapped.size() < header.p_memsz ? std::span<const std::byte>{} : mapped.first(header.p_memsz);
      }
    return {};
  }

  /// The readable bytes from an address to its segment's end; empty if it is in no segment.
  std::span<const std::byte> from(std::uint64_t address) const {
    for (const ElfW(Phdr) & header : headers_) {
      const std::uint64_t start = bias_ + header.p_vaddr;
      if (header.p_type == PT_LOAD && header.p_flags & PF_R && address - start < header.p_filesz)
        return {at(address), static_cast<std::size_t>(header.p_filesz - (address - start))};
    }
    return {};
  }

private:
  std::span<const ElfW(Phdr)> headers_;
  std::uint64_t bias_;
};

/// The build ID in the module's notes, its first 64 bytes; empty if there is none of at least 8 bytes:
/// shorter ones are set by hand, and may be equal in many files.
std::span<const std::byte> find_build_id(const dl_phdr_info& info, const Segments& segments) {
  constexpr std::size_t least = 8, most = 64;
  constexpr std::string_view name("GNU\0", 4);
  const auto aligned = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type != PT_NOTE) continue;
    auto rest = segments.from(info.dlpi_addr + header.p_vaddr);
    rest = rest.first(std::min<std::size_t>(rest.size(), header.p_filesz));
    ElfW(Nhdr) note;
    while (rest.size() >= sizeof note) {
      std::memcpy(&note, rest.data(), sizeof note);
      rest = rest.subspan(sizeof note);
      const std::size_t name_size = aligned(note.n_namesz);
      if (rest.size() < name_size || rest.size() - name_size < note.n_descsz) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == name.size() && note.n_descsz >= least &&
          std::memcmp(rest.data(), name.data(), name.size()) == 0)
        return rest.subspan(name_size, std::min<std::size_t>(note.n_descsz, most));
      rest = rest.subspan(std::min(rest.size(), name_size + aligned(note.n_descsz)));
    }
  }
  return {};
}

/// The ELF header and the program headers in the module's first page, which is readable in any module.
std::span<const std::byte> find_headers(std::uint64_t start, const Segments& segments) {
  const auto segment = segments.from(start);
  const auto page = segment.first(std::min<std::size_t>(segment.size(), smallest_page));
  ElfW(Ehdr) header;
  if (page.size() < sizeof header) return {};
  std::memcpy(&header, page.data(), sizeof header);
  const std::size_t size = std::size_t{header.e_phnum} * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phoff > page.size() ||
      size > page.size() - header.e_phoff)
    return {};
  return page.first(header.e_phoff + size);
}

SectionBytes section_of(std::span<const std::byte> bytes) {
  return {bytes, reinterpret_cast<std::uint64_t>(bytes.data())};
}

/// `whole_rest`: with all that follows in the segment, at constant cost.
std::span<const std::byte> find_eh_frame(const Segments& segments, const SectionBytes& search_table,
                                         bool whole_rest) {
  const AbiTraits& abi = traits(host::abi);
  const auto header = cfi::EhFrameHdr::parse(search_table.bytes, search_table.address, abi);
  if (!header || !header->eh_frame()) return {};
  const auto rest = segments.from(*header->eh_frame());
  if (whole_rest && header->size()) return rest;
  return cfi::eh_frame_part({cfi::SectionKind::eh_frame, rest, *header->eh_frame(), abi}, *header).bytes();
}

/// The GOT's address, from DT_PLTGOT: the C library has relocated it, unless it does not write to the
/// dynamic segment.
std::uint64_t find_got(const Segments& segments, const ModuleBytes& module, std::uint64_t bias) {
  const auto bytes = segments.find(PT_DYNAMIC);
  for (std::size_t at = 0; bytes.size() - at >= sizeof(ElfW(Dyn)); at += sizeof(ElfW(Dyn))) {
    ElfW(Dyn) entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_PLTGOT)
      return module.contains(entry.d_un.d_ptr) ? entry.d_un.d_ptr : bias + entry.d_un.d_ptr;
  }
  return 0;
}

/// In the loader's list, the program itself has no name.
bool is_program(const dl_phdr_info& info) {
  return !info.dlpi_name || !*info.dlpi_name;
}

/// The C library, the vdso, and the module of this library cannot be unloaded while it runs.
bool cannot_be_unloaded(const ModuleBytes& module, const dl_phdr_info& info) {
  return is_program(info) || module.contains(getauxval(AT_SYSINFO_EHDR)) ||
         module.contains(reinterpret_cast<std::uint64_t>(&dl_iterate_phdr)) ||
         module.contains(reinterpret_cast<std::uint64_t>(&describe_image));
}

} // namespace

bool Identity::available() {
#ifdef HAVE_FIND_OBJECT
  return _dl_find_object != nullptr;
#else
  return false;
#endif
}

Identity Identity::at([[maybe_unused]] std::uint64_t pc) {
#ifdef HAVE_FIND_OBJECT
  dl_find_object found;
  if (available() && _dl_find_object(reinterpret_cast<void*>(pc), &found) == 0)
    return {found.dlfo_link_map, found.dlfo_map_start, found.dlfo_eh_frame};
#endif
  return {};
}

ModuleBytes::ModuleBytes(const dl_phdr_info& info) : low(~std::uint64_t{0}) {
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum))
    if (header.p_type == PT_LOAD) {
      const std::uint64_t start = info.dlpi_addr + header.p_vaddr;
      low = std::min(low, start);
      high = std::max<std::uint64_t>(high, start + header.p_memsz);
    }
  if (low >= high) low = high = 0;
  identity = Identity::at(low);
  stays = cannot_be_unloaded(*this, info);
  permanent = stays || !Identity::available();
}

void ModuleBytes::find_sections(const dl_phdr_info& info) {
  const Segments segments(info);
  sframe = section_of(segments.find(PT_GNU_SFRAME));
  eh_frame_hdr = section_of(segments.find(PT_GNU_EH_FRAME));
  eh_frame = section_of(find_eh_frame(segments, eh_frame_hdr, stays));
  eh_frame.data_base = find_got(segments, *this, info.dlpi_addr);
  if (!stays) {
    headers = section_of(find_headers(low, segments));
    build_id = section_of(find_build_id(info, segments));
  }
  if (!eh_frame.bytes.empty() || !is_program(info)) return;
  const FileSections in_file = unwind_sections_of_program();
  for (const FileSection& section : in_file.found()) {
    const auto mapped = segments.from(info.dlpi_addr + section.address);
    const auto bytes = mapped.first(std::min<std::uint64_t>(mapped.size(), section.size));
    if (section.is_eh_frame)
      eh_frame = section_of(bytes);
    else if (sframe.bytes.empty())
      sframe = section_of(bytes);
  }
}

dl_phdr_info describe_image(const void* header) {
  const auto& elf = *static_cast<const ElfW(Ehdr)*>(header);
  dl_phdr_info info = {};
  info.dlpi_name = "[vdso]";
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(static_cast<const std::byte*>(header) + elf.e_phoff);
  info.dlpi_phnum = elf.e_phnum;
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum))
    if (segment.p_type == PT_LOAD && segment.p_offset == 0)
      info.dlpi_addr = reinterpret_cast<std::uint64_t>(header) - segment.p_vaddr;
  return info;
}

std::optional<dl_phdr_info> describe_module_at([[maybe_unused]] std::uint64_t pc) {
#ifdef HAVE_FIND_OBJECT
  dl_find_object found;
  if (!Identity::available() || _dl_find_object(reinterpret_cast<void*>(pc), &found) != 0)
    return std::nullopt;
  const auto start = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
  const std::uint64_t size = reinterpret_cast<std::uint64_t>(found.dlfo_map_end) - start;
  // If the first segment is not the file's start, this memory may hold anything or be unreadable.
  StackMemory memory(0);
  ElfW(Ehdr) header;
  if (!memory.read(start, std::as_writable_bytes(std::span(&header, 1))) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phoff > size || header.e_phnum > (size - header.e_phoff) / sizeof(ElfW(Phdr)))
    return std::nullopt;
  const auto is_readable = [&](std::uint64_t from, std::uint64_t bytes) {
    std::byte byte;
    for (std::uint64_t at = from; at - from < bytes; at += smallest_page)
      if (!memory.read(at, std::span(&byte, 1))) return false;
    return bytes == 0 || memory.read(from + bytes - 1, std::span(&byte, 1));
  };
  if (!is_readable(start + header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)))) return std::nullopt;
  dl_phdr_info info = describe_image(found.dlfo_map_start);
  const bool is_program = getauxval(AT_PHDR) - start < size;
  info.dlpi_name = is_program ? "" : "a library";
  return info;
#else
  return std::nullopt;
#endif
}

std::optional<ModuleBytes> ModuleBytes::at(std::uint64_t pc, bool stays) {
  const auto info = describe_module_at(pc);
  if (!info) return std::nullopt;
  ModuleBytes bytes(*info);
  if (!bytes.contains(pc)) return std::nullopt;
  bytes.stays |= stays;
  bytes.permanent |= stays;
  bytes.find_sections(*info);
  return bytes;
}

namespace {

/// The headers first: if they are equal, the others are at their addresses.
using Sections = std::array<SectionBytes ModuleBytes::*, 5>;
constexpr Sections sections = {&ModuleBytes::headers, &ModuleBytes::build_id, &ModuleBytes::eh_frame_hdr,
                               &ModuleBytes::eh_frame, &ModuleBytes::sframe};

std::size_t size_of(const ModuleBytes& module) {
  std::size_t size = 0;
  for (const auto section : sections) size += (module.*section).bytes.size();
  return size;
}

/// Bytes in memory are equal to known ones. They must be mapped.
[[gnu::no_sanitize("address", "thread")]] bool is_unchanged(const SectionBytes& known) {
  return known.bytes.empty() || std::memcmp(known.bytes.data(), at(known.address), known.bytes.size()) == 0;
}

} // namespace

bool ModuleBytes::recognisable() const {
  // 64 KiB are compared in a microsecond. Some 2,000 functions have that much.
  constexpr std::size_t most = std::size_t{1} << 16;
  return permanent || (!headers.bytes.empty() && (!build_id.bytes.empty() || size_of(*this) <= most));
}

namespace {

/// A module whose sections stay in place, or refer to `copy` afterwards.
ModuleBytes kept(const ModuleBytes& module, Array<std::byte>& copy) {
  ModuleBytes result = module;
  if (module.stays) return result;
  if (!module.recognisable())
    for (const auto section : sections) (result.*section).bytes = {};
  const bool copied = copy.fill(size_of(result));
  std::size_t place = 0;
  for (const auto section : sections) {
    std::span<const std::byte>& bytes = (result.*section).bytes;
    const std::span to = copied ? std::span(copy).subspan(place, bytes.size()) : std::span<std::byte>{};
    std::ranges::copy(bytes.first(to.size()), to.begin());
    place += to.size();
    bytes = to;
  }
  return result;
}

} // namespace

ModuleTables::ModuleTables(const ModuleBytes& bytes)
    : low_(bytes.low), high_(bytes.high), identity_(bytes.identity), permanent_(bytes.permanent),
      recognisable_(bytes.recognisable()), sections_(kept(bytes, copy_)), sframe_(sections_.sframe),
      cfi_(sections_.eh_frame, sections_.eh_frame_hdr) {}

ModuleTables* ModuleTables::make(const ModuleBytes& bytes) {
  MappedPointer<ModuleTables> made(make_mapped<ModuleTables>(bytes));
  return made && made->complete() ? made.release() : nullptr;
}

void ModuleTables::release() const {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy_mapped(const_cast<ModuleTables*>(this));
}

/// A build ID that is not in the page of the headers is there if the headers are equal.
bool ModuleTables::has_same_bytes() const {
  const SectionBytes& id = sections_.build_id;
  const bool near = id.address - low_ < smallest_page - id.bytes.size();
  if (!id.bytes.empty()) return (near || is_unchanged(sections_.headers)) && is_unchanged(id);
  return std::ranges::all_of(sections, [&](const auto section) { return is_unchanged(sections_.*section); });
}

bool ModuleTables::made_from(const ModuleBytes& bytes) const {
  return same_place(bytes) && std::ranges::all_of(sections, [&](const auto section) {
           return (sections_.*section).address == (bytes.*section).address &&
                  std::ranges::equal((sections_.*section).bytes, (bytes.*section).bytes);
         });
}

std::optional<FrameRule> ModuleTables::find(std::uint64_t pc, bool all_registers, Operations& to,
                                            Scratch& scratch) const {
  if (all_registers)
    if (const auto rule = cfi_.find(pc, to, scratch)) return rule;
  if (const auto rule = sframe_.find(pc, to)) return rule;
  return all_registers ? std::nullopt : cfi_.find(pc, to, scratch);
}

} // namespace sframe::here
