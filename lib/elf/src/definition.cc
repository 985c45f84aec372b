// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds one symbol by name. Does not use hash tables: .symtab has none, and most files lack the name, which a
// search through the string table detects fast.

#include "sframe/elf/llvm_types.h"
#include "sframe/elf/symbols.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <cstring>

namespace sframe::elf {

namespace {

template <class Types>
std::optional<std::uint64_t> find_in(const Image& image, const SectionHeader& table, std::string_view name) {
  const auto sections = image.sections();
  if (table.link >= sections.size() || sections[table.link].type != sht_strtab) return std::nullopt;
  const auto symbols = image.contents(table), names = image.contents(sections[table.link]);
  if (!symbols || !names) return std::nullopt;
  if (!::memmem(names->bytes().data(), names->size(), name.data(), name.size())) return std::nullopt;
  const auto entries = whole_table<typename Types::Sym>(symbols->bytes());
  const auto found = std::ranges::find_if(entries, [&](const auto& symbol) {
    return symbol.st_shndx != llvm::ELF::SHN_UNDEF && symbol.getType() != llvm::ELF::STT_TLS &&
           string_at(names->bytes(), symbol.st_name, name.size() + 1) == name;
  });
  return found == entries.end() ? std::nullopt : std::optional<std::uint64_t>(found->st_value);
}

} // namespace

std::optional<std::uint64_t> find_definition(const Image& image, std::string_view name) {
  for (const std::uint32_t wanted : {sht_dynsym, sht_symtab}) {
    const auto table =
        std::ranges::find(image.sections(), wanted, &SectionHeader::type); // a file has one of each
    if (table == image.sections().end()) continue;
    const auto found = with_types(image.byte_order(),
                                  [&]<class Types>(Types) { return find_in<Types>(image, *table, name); });
    if (found) return found;
  }
  return std::nullopt;
}

} // namespace sframe::elf
