// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes `.sframe` and `.rela.sframe` into a relocatable object.
//
// A linker needs a relocation for each function start and finds the function's section through its symbol.
// Symbols are never added: an inserted local symbol would renumber all later ones, in every relocation, group
// signature and index table of the file. None is needed, since the call frame information already refers to
// each function's section by some symbol.
//
// The file is rewritten: the sections in their old order, then the two sections, the section names and the
// headers, which assemblers put last too. So an old `.sframe` leaves no gap, and doing it twice gives the
// same bytes. In an object, only section headers refer to file offsets.
//
// LLVM's objcopy library cannot do this: it adds sections only without relocations, and rewrites the symbol
// table.

#include "sframe/edit/rewrite.h"

#include "sframe/address.h"
#include "sframe/base/text.h"
#include "sframe/elf/llvm_types.h"
#include "sframe/elf/machine.h"
#include "sframe/section.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace sframe::edit {

using namespace elf;

namespace {

constexpr std::string_view sframe_name = ".sframe", rela_name = ".rela.sframe";
constexpr std::uint64_t sframe_align = 8;
constexpr std::uint64_t shf_info_link = llvm::ELF::SHF_INFO_LINK, shf_group = llvm::ELF::SHF_GROUP;

/// Sufficient for any section of an object file, which is not mapped; bounds the cost of hostile headers.
constexpr std::uint64_t max_file_align = 64;

bool has_bytes(const SectionHeader& section) {
  return section.type != sht_nobits && section.size != 0;
}

/// Unchecked: find_parts() has checked the bounds.
std::span<const std::byte> bytes_of(const Image& image, const SectionHeader& section) {
  if (!has_bytes(section)) return {};
  return image.bytes().subspan(section.offset, section.size);
}

/// The relevant existing sections. Section numbers; 0 = none.
struct Parts {
  std::uint32_t sframe = 0;
  std::uint32_t rela = 0;
  std::uint32_t symbols = 0;
  std::uint32_t names = 0;
  std::vector<std::uint32_t> kept; ///< sections that stay unchanged, by offset
};

bool is_replaced(const Parts& parts, std::uint32_t index) {
  return index == parts.sframe || index == parts.rela || index == parts.names;
}

/// Finds the one section that `matches`; 0 if there is none.
template <class F> Result<std::uint32_t> find_only(const Image& image, std::string_view what, F&& matches) {
  std::uint32_t found = 0;
  for (const SectionHeader& section : image.sections().subspan(1)) {
    if (!matches(section)) continue;
    if (found) return fail("more than one " + std::string(what), section.name);
    found = section.index;
  }
  return found;
}

Result<std::uint32_t> find_names(const Image& image) {
  return with_types(image.byte_order(), [&]<class Types>(Types) -> Result<std::uint32_t> {
    std::uint32_t index = table_at<typename Types::Ehdr>(image.bytes(), 0, 1)->front().e_shstrndx;
    if (index == llvm::ELF::SHN_XINDEX) index = image.sections()[0].link;
    if (index == 0 || index >= image.sections().size() || image.sections()[index].type != sht_strtab)
      return fail("no section name table");
    return index;
  });
}

/// Checks that sections do not overlap in the file, and that only padding follows them.
Result<void> check_extents(const Image& image, std::span<const std::uint32_t> by_offset) {
  const auto bytes = image.bytes();
  const std::uint64_t headers = image.sections().size() * sizeof(llvm::ELF::Elf64_Shdr);
  const std::uint64_t headers_offset = with_types(image.byte_order(), [&]<class Types>(Types) {
    return std::uint64_t(table_at<typename Types::Ehdr>(bytes, 0, 1)->front().e_shoff);
  });
  std::uint64_t end = sizeof(llvm::ELF::Elf64_Ehdr);
  for (const std::uint32_t index : by_offset) {
    const SectionHeader& section = image.sections()[index];
    if (!has_bytes(section)) continue;
    if (section.offset > bytes.size() || section.size > bytes.size() - section.offset)
      return fail("section runs past the end of the file", section.name);
    if (section.offset < end) return fail("section overlaps another one in the file", section.name);
    end = section.offset + section.size;
  }
  end = std::max(end, headers_offset + headers); // the headers are in the file, or there would be no sections
  const auto is_padding = [](std::byte byte) { return byte == std::byte(0) || byte == std::byte('\n'); };
  if (as_text(bytes).ends_with("~Module signature appended~\n"))
    return fail(
        "the kernel module is signed: convert it before it is signed, or remove the signature and sign the "
        "result (sign-file of Linux)",
        {}, end);
  if (!std::ranges::all_of(bytes.subspan(end), is_padding))
    return fail("data after the last section would be lost", {}, end);
  return {};
}

Result<Parts> find_parts(const Image& image) {
  if (!image.problems().empty()) return unexpected(image.problems().front());
  if (image.sections().empty()) return fail("no section headers");
  if (!image.segments().empty()) return fail("relocatable object with program headers");
  Parts parts;
  const auto names = find_names(image);
  const auto sframe = find_only(image, "section .sframe", [](const SectionHeader& s) {
    return s.name == sframe_name || s.type == sht_gnu_sframe;
  });
  const auto symbols =
      find_only(image, "symbol table", [](const SectionHeader& s) { return s.type == sht_symtab; });
  for (const auto* found : {&names, &sframe, &symbols})
    if (!*found) return unexpected(found->error());
  parts.names = *names;
  parts.sframe = *sframe;
  parts.symbols = *symbols;
  if (!parts.symbols) return fail("no symbol table for the relocations");
  if (parts.sframe) {
    const std::uint32_t type = image.sections()[parts.sframe].type;
    if (type != sht_gnu_sframe && type != sht_progbits && type != sht_nobits)
      return fail("section has the name .sframe but another type", sframe_name);
    const auto rela = find_only(image, "relocation section of .sframe", [&](const SectionHeader& s) {
      return (s.type == sht_rela || s.type == sht_rel) && s.info == parts.sframe;
    });
    if (!rela) return unexpected(rela.error());
    parts.rela = *rela;
    if (image.sections()[parts.sframe].flags & shf_group)
      return fail("section belongs to a section group", sframe_name);
  }
  std::vector<std::uint32_t> by_offset;
  for (const SectionHeader& section : image.sections().subspan(1))
    if (section.type != sht_null) by_offset.push_back(section.index);
  // Sections without bytes come before the section with the same offset.
  std::ranges::stable_sort(by_offset, {}, [&](std::uint32_t i) {
    const SectionHeader& section = image.sections()[i];
    return std::pair(section.offset, has_bytes(section));
  });
  if (const auto checked = check_extents(image, by_offset); !checked) return unexpected(checked.error());
  for (const std::uint32_t index : by_offset)
    if (!is_replaced(parts, index)) parts.kept.push_back(index);
  return parts;
}

/// The symbol that represents each section.
template <class Types> class SectionSymbols {
public:
  SectionSymbols(const Image& image, std::uint32_t table);

  struct Reference {
    std::uint32_t symbol = 0; ///< 0 = none
    std::uint64_t value = 0;  ///< its offset in the section
  };
  Reference of(std::uint32_t section) const { return references_[section]; }

private:
  using Sym = typename Types::Sym;
  static unsigned rank(const Sym& symbol);

  std::vector<Reference> references_; ///< by section
  std::vector<unsigned> ranks_;       ///< of references_; 0 = none
};

/// A linker may take a global symbol, and even more so a weak one, from another object: the function would be
/// a different one.
template <class Types> unsigned SectionSymbols<Types>::rank(const Sym& symbol) {
  if (symbol.getType() == llvm::ELF::STT_SECTION) return 4;
  if (symbol.getType() == llvm::ELF::STT_TLS || symbol.getType() == llvm::ELF::STT_FILE) return 0;
  switch (symbol.getBinding()) {
  case llvm::ELF::STB_LOCAL: return 3;
  case llvm::ELF::STB_GLOBAL: return 2;
  default: return 1;
  }
}

template <class Types>
SectionSymbols<Types>::SectionSymbols(const Image& image, std::uint32_t table)
    : references_(image.sections().size()), ranks_(image.sections().size()) {
  const auto symbols = whole_table<Sym>(bytes_of(image, image.sections()[table]));
  std::span<const typename Types::Word> extended;
  for (const SectionHeader& section : image.sections())
    if (section.type == sht_symtab_shndx && section.link == table)
      extended = whole_table<typename Types::Word>(bytes_of(image, section));
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    std::uint32_t section = symbols[i].st_shndx;
    if (section == llvm::ELF::SHN_XINDEX)
      section = i < extended.size() ? std::uint32_t(extended[i]) : 0;
    else if (section >= llvm::ELF::SHN_LORESERVE)
      continue;
    if (section == 0 || section >= references_.size() || rank(symbols[i]) <= ranks_[section]) continue;
    ranks_[section] = rank(symbols[i]);
    references_[section] = {static_cast<std::uint32_t>(i), std::uint64_t(symbols[i].st_value)};
  }
}

/// The relocation type for the distance from its place to a function.
Result<std::uint32_t> distance_type(std::uint16_t machine, unsigned size) {
  const MachineTraits* known = find_machine(machine);
  if (!known) return fail("relocations of this machine are not supported");
  for (const RelocationType& type : known->relocations)
    if (type.kind.pc_relative && type.kind.size == size) return type.type;
  return fail("this machine has no PC-relative relocation of the needed size");
}

/// The section and its relocations as written to the file.
struct Written {
  std::vector<std::byte> section, relocations;
};

/// Replaces function starts in the section by relocations.
template <class Types>
Result<Written> relocate(const ObjectLayout& object, const Parts& parts, std::span<const std::byte> bytes,
                         std::uint64_t address) {
  using Rela = typename Types::Rela;
  const auto section = sframe::Section::parse(bytes, address);
  if (!section) return unexpected(to_problem(section.error()));
  const unsigned size = section->version().start_size;
  const auto type = distance_type(object.image().machine(), size);
  if (!type) return unexpected(type.error());

  Written out{{bytes.begin(), bytes.end()}, std::vector<std::byte>(section->num_fdes() * sizeof(Rela))};
  // The final function addresses are not known yet. Relocated starts are relative to their field whether or
  // not the flag FUNC_START_PCREL is set: GNU ld 2.44 does not know it.
  out.section[header_offset::flags] &= ~std::byte{flag_sorted};
  const SectionSymbols<Types> symbols(object.image(), parts.symbols);
  auto* relocation = reinterpret_cast<Rela*>(out.relocations.data());
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i, ++relocation) {
    const auto fde = section->fde(i);
    if (!fde) return unexpected(to_problem(fde.error()));
    const auto location = object.locate(fde->start);
    if (!location || !object.image().sections()[location->section].executable() ||
        location->section == parts.sframe) // which will not be executable
      return fail("function does not start in an executable section", sframe_name, fde->index_offset);
    const auto reference = symbols.of(location->section);
    if (!reference.symbol)
      return fail("no symbol for relocations that refer to this section",
                  object.image().sections()[location->section].name);
    relocation->r_offset = fde->index_offset;
    relocation->setSymbolAndType(reference.symbol, *type, false);
    relocation->r_addend = static_cast<std::int64_t>(location->offset - reference.value);
    std::ranges::fill(std::span(out.section).subspan(fde->index_offset, size), std::byte(0));
  }
  return out;
}

/// The section names, including ".rela.sframe"; ".sframe" is the end of that name.
struct SectionNames {
  std::vector<std::byte> bytes;
  std::uint32_t rela = 0, sframe = 0; ///< offsets
};

SectionNames make_names(std::span<const std::byte> old) {
  const std::string_view text = as_text(old);
  const std::string wanted = std::string(rela_name) + '\0';
  SectionNames names{{old.begin(), old.end()}, 0, 0};
  std::size_t at = text.find(wanted);
  if (at == std::string_view::npos) {
    if (names.bytes.empty() || names.bytes.back() != std::byte(0)) names.bytes.push_back(std::byte(0));
    at = names.bytes.size();
    std::ranges::copy(std::as_bytes(std::span(wanted)), std::back_inserter(names.bytes));
  }
  names.rela = static_cast<std::uint32_t>(at);
  names.sframe = static_cast<std::uint32_t>(at + rela_name.size() - sframe_name.size());
  return names;
}

/// The file being written: bytes are appended, headers are changed on the way and written at the end.
template <class Types> class ObjectWriter {
public:
  ObjectWriter(const Image& image, const Parts& parts);

  std::vector<std::byte> write(const Written& written);

private:
  using Shdr = typename Types::Shdr;
  void append(std::uint32_t index, std::span<const std::byte> bytes, std::uint64_t align);
  void set_headers(std::uint32_t sframe, std::uint32_t rela, const SectionNames& names);
  void write_headers();

  const Image& image_;
  const Parts& parts_;
  std::vector<Shdr> headers_;
  std::vector<std::byte> out_;
};

template <class Types>
ObjectWriter<Types>::ObjectWriter(const Image& image, const Parts& parts) : image_(image), parts_(parts) {
  const auto& header = table_at<typename Types::Ehdr>(image.bytes(), 0, 1)->front();
  const auto old = *table_at<Shdr>(image.bytes(), header.e_shoff, image.sections().size());
  headers_.assign(old.begin(), old.end());
}

template <class Types>
void ObjectWriter<Types>::append(std::uint32_t index, std::span<const std::byte> bytes, std::uint64_t align) {
  if (!bytes.empty()) { // SHT_NOBITS has a size but no bytes
    out_.resize(align_up(out_.size(), valid_align(align, max_file_align)));
    headers_[index].sh_size = bytes.size();
  }
  headers_[index].sh_offset = out_.size();
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

template <class Types>
void ObjectWriter<Types>::set_headers(std::uint32_t sframe, std::uint32_t rela, const SectionNames& names) {
  Shdr section{}, relocations{};
  section.sh_name = names.sframe;
  section.sh_type = sht_gnu_sframe;
  section.sh_flags = shf_alloc;
  section.sh_addralign = sframe_align;
  relocations.sh_name = names.rela;
  relocations.sh_type = sht_rela;
  relocations.sh_flags = shf_info_link;
  relocations.sh_link = parts_.symbols;
  relocations.sh_info = sframe;
  relocations.sh_addralign = 8;
  relocations.sh_entsize = sizeof(typename Types::Rela);
  headers_[sframe] = section;
  headers_[rela] = relocations;
}

template <class Types> void ObjectWriter<Types>::write_headers() {
  out_.resize(align_up(out_.size(), 8));
  auto& header = *reinterpret_cast<typename Types::Ehdr*>(out_.data());
  header.e_shoff = out_.size();
  // From SHN_LORESERVE on, the number is in the null section's header.
  const bool many = headers_.size() >= llvm::ELF::SHN_LORESERVE;
  header.e_shnum = static_cast<std::uint16_t>(many ? 0 : headers_.size());
  headers_[0].sh_size = many ? headers_.size() : 0;
  const auto bytes = std::as_bytes(std::span(headers_));
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

template <class Types> std::vector<std::byte> ObjectWriter<Types>::write(const Written& written) {
  const auto contents = [&](std::uint32_t index) { return bytes_of(image_, image_.sections()[index]); };
  const auto number = [&](std::uint32_t old) {
    if (old) return old;
    headers_.emplace_back();
    return static_cast<std::uint32_t>(headers_.size() - 1);
  };
  const std::uint32_t sframe = number(parts_.sframe), rela = number(parts_.rela);
  const SectionNames names = make_names(contents(parts_.names));
  set_headers(sframe, rela, names);

  out_.reserve(image_.bytes().size() + written.section.size() + written.relocations.size() +
               names.bytes.size() + 4 * max_file_align + 2 * sizeof(Shdr));
  const auto elf_header = image_.bytes().first(sizeof(typename Types::Ehdr));
  out_.assign(elf_header.begin(), elf_header.end());
  for (const std::uint32_t index : parts_.kept)
    append(index, contents(index), image_.sections()[index].align);
  append(sframe, written.section, sframe_align);
  append(rela, written.relocations, 8);
  append(parts_.names, names.bytes, 1);
  write_headers();
  return std::move(out_);
}

} // namespace

Result<Edit> add_section_to_object(const ObjectLayout& object, std::span<const std::byte> section) {
  const auto parts = find_parts(object.image());
  if (!parts) return unexpected(parts.error());
  return with_types(object.image().byte_order(), [&]<class Types>(Types) -> Result<Edit> {
    const auto written = relocate<Types>(object, *parts, section, object.end());
    if (!written) return unexpected(written.error());
    return Edit::replace_all(ObjectWriter<Types>(object.image(), *parts).write(*written));
  });
}

} // namespace sframe::edit
