// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols, sorted and cut into pieces. One sweep over the symbols by address cuts them, with a stack of open
// symbols: a new symbol is pushed; at the end of the top one, the next lower one that extends further takes
// over. Each symbol is pushed and popped once, and each event makes one piece, so there are at most two
// pieces per symbol.

#include "sframe/elf/symbols.h"

#include "sframe/address.h"
#include "sframe/elf/llvm_types.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <tuple>

namespace sframe::elf {

namespace {

using namespace llvm::ELF;

/// $x, $d, $t ("mapping symbols", ELF for the Arm architectures): they mark code and data, not functions.
bool is_mapping_symbol(std::string_view name) {
  return name.size() >= 2 && name[0] == '$' && std::string_view("adtx").contains(name[1]) &&
         (name.size() == 2 || name[2] == '.');
}

bool in_section(const SectionHeader& section, std::uint64_t address, bool relocatable) {
  const std::uint64_t offset = relocatable ? address : address - section.address;
  return offset < section.size;
}

/// Sort key: the preferred symbol has the lowest.
std::uint64_t preference(const Symbol& symbol) {
  const std::uint64_t binding = symbol.binding == STB_GLOBAL ? 0 : symbol.binding == STB_WEAK ? 1 : 2;
  return std::uint64_t{symbol.size == 0} << 3 | std::uint64_t{!symbol.function()} << 2 | binding;
}

/// Converts the symbol; nothing if it is not a function.
template <class Sym>
std::optional<Symbol> function_symbol(const Sym& symbol, std::uint32_t section_index,
                                      std::span<const SectionHeader> sections,
                                      std::span<const std::byte> names, bool relocatable) {
  const unsigned type = symbol.getType();
  const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (!function && type != STT_NOTYPE) return std::nullopt;
  if (section_index == SHN_UNDEF) return std::nullopt;
  const SectionHeader* section = section_index < sections.size() ? &sections[section_index] : nullptr;
  if (!function &&
      (!section || !section->executable() || !in_section(*section, symbol.st_value, relocatable)))
    return std::nullopt;
  if (relocatable && !section) return std::nullopt;
  const std::string_view name = string_at(names, symbol.st_name, SymbolTable::max_name_size);
  if (name.empty() || (!function && is_mapping_symbol(name))) return std::nullopt;
  // An end past the address space is clamped, so that start + size never wraps.
  const std::uint64_t address = symbol.st_value;
  const std::uint64_t size = std::min<std::uint64_t>(symbol.st_size, ~address);
  return Symbol{address,
                size,
                name,
                section_index,
                static_cast<std::uint8_t>(type),
                static_cast<std::uint8_t>(symbol.getBinding())};
}

template <class Types>
Result<std::vector<Symbol>> read_symbols(const Image& image, const SectionHeader& table) {
  auto bytes = image.contents(table);
  if (!bytes) return unexpected(bytes.error());
  const auto sections = image.sections();
  if (table.link >= sections.size() || sections[table.link].type != sht_strtab)
    return fail("symbol table without a string table", table.name);
  // Names must stay in the file, so compressed tables, which no tool makes, are refused.
  if ((table.flags | sections[table.link].flags) & shf_compressed)
    return fail("compressed symbol table is not supported", table.name);
  auto names = image.contents(sections[table.link]);
  if (!names) return unexpected(names.error());
  Contents extended_bytes;
  if (const SectionHeader* numbers = image.section_numbers_of(table.index))
    if (auto indices = image.contents(*numbers)) extended_bytes = std::move(*indices);
  const auto extended = whole_table<typename Types::Word>(extended_bytes.bytes());

  const auto entries = whole_table<typename Types::Sym>(bytes->bytes());
  std::vector<Symbol> result;
  result.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::uint32_t index = entries[i].st_shndx;
    if (index == SHN_XINDEX) index = i < extended.size() ? std::uint32_t(extended[i]) : 0;
    if (auto symbol = function_symbol(entries[i], index, sections, names->bytes(), image.relocatable()))
      result.push_back(*symbol);
  }
  return result;
}

} // namespace

SymbolTable SymbolTable::load(const Image& image) {
  SymbolTable result;
  result.relocatable_ = image.relocatable();
  for (std::uint32_t wanted : {sht_symtab, sht_dynsym}) {
    auto table = std::ranges::find_if(
        image.sections(), [&](const SectionHeader& s) { return s.type == wanted && s.size != 0; });
    if (table == image.sections().end()) continue;
    auto symbols = with_types(image.byte_order(),
                              [&]<class Types>(Types) { return read_symbols<Types>(image, *table); });
    if (!symbols && !result.problem_) result.problem_ = symbols.error();
    if (!symbols || symbols->empty()) continue;
    result.symbols_ = std::move(*symbols);
    break;
  }
  std::ranges::stable_sort(result.symbols_, {}, [&](const Symbol& symbol) {
    return std::tuple(result.space_of(symbol), symbol.address, preference(symbol));
  });
  result.cut(image);
  return result;
}

namespace {

/// The sweep. `Emit` takes (address, symbol number or none).
template <class Emit> class Sweep {
public:
  Sweep(std::uint32_t none, Emit emit) : none_(none), emit_(emit) {}

  /// Ends all open symbols up to `address`.
  void advance(std::uint64_t address) {
    while (!open_.empty() && open_.back().end <= address) {
      const std::uint64_t end = open_.back().end;
      while (!open_.empty() && open_.back().end <= end) open_.pop_back();
      emit_(end, open_.empty() ? none_ : open_.back().symbol);
    }
  }
  bool inside() const { return !open_.empty(); }
  void open(std::uint64_t end, std::uint32_t symbol) { open_.push_back({end, symbol}); }
  void show(std::uint64_t address) { emit_(address, open_.back().symbol); }

private:
  struct Open {
    std::uint64_t end;
    std::uint32_t symbol;
  };
  std::uint32_t none_;
  Emit emit_;
  std::vector<Open> open_;
};

/// The end of the symbol's section; the symbol's own address if the section is invalid.
std::uint64_t section_end(const Image& image, const Symbol& symbol) {
  if (symbol.section >= image.sections().size()) return symbol.address;
  const SectionHeader& section = image.sections()[symbol.section];
  if (!in_section(section, symbol.address, image.relocatable())) return symbol.address;
  const std::uint64_t start = image.relocatable() ? 0 : section.address;
  return range_end(start, section.size);
}

} // namespace

void SymbolTable::cut(const Image& image) {
  pieces_.reserve(symbols_.size() + symbols_.size() / 8);
  std::uint32_t space = 0;
  auto emit = [&](std::uint64_t address, std::uint32_t symbol) {
    if (!pieces_.empty() && pieces_.back().space == space && pieces_.back().address == address)
      pieces_.back().symbol = symbol;
    else
      pieces_.push_back({address, space, symbol});
  };
  Sweep sweep(no_symbol, emit);
  for (std::size_t first = 0, last; first < symbols_.size(); first = last) {
    const Symbol& best = symbols_[first];
    if (space_of(best) != space) {
      sweep.advance(~std::uint64_t(0));
      space = space_of(best);
    }
    last = first + 1;
    while (last < symbols_.size() && space_of(symbols_[last]) == space &&
           symbols_[last].address == best.address)
      ++last;
    sweep.advance(best.address);
    if (best.size != 0) {
      // The preferred symbol goes on top; an alias below it matters only if it extends further.
      for (std::size_t i = last; i-- > first;)
        if (symbols_[i].size != 0) sweep.open(best.address + symbols_[i].size, static_cast<std::uint32_t>(i));
    } else {
      if (sweep.inside()) continue; // a label inside a function of known size
      std::uint64_t end = section_end(image, best);
      if (last < symbols_.size() && space_of(symbols_[last]) == space)
        end = std::min(end, symbols_[last].address);
      if (end <= best.address) continue;
      sweep.open(end, static_cast<std::uint32_t>(first));
    }
    sweep.show(best.address);
  }
  sweep.advance(~std::uint64_t(0));
}

std::optional<SymbolTable::Match> SymbolTable::find(std::uint32_t section, std::uint64_t offset) const {
  const auto key = std::tuple(section, offset);
  auto after = std::ranges::upper_bound(pieces_, key, {},
                                        [](const Piece& p) { return std::tuple(p.space, p.address); });
  if (after == pieces_.begin()) return std::nullopt;
  const Piece& piece = after[-1];
  if (piece.space != section || piece.symbol == no_symbol) return std::nullopt;
  const Symbol& symbol = symbols_[piece.symbol];
  return Match{&symbol, offset - symbol.address};
}

std::span<const Symbol> SymbolTable::at(std::uint32_t section, std::uint64_t offset) const {
  const auto key = std::tuple(section, offset);
  auto place = [&](const Symbol& symbol) { return std::tuple(space_of(symbol), symbol.address); };
  auto [first, last] = std::ranges::equal_range(symbols_, key, {}, place);
  return {first, last};
}

std::span<const Symbol> SymbolTable::in(std::uint32_t section, std::uint64_t offset,
                                        std::uint64_t size) const {
  const auto place = [&](const Symbol& symbol) { return std::tuple(space_of(symbol), symbol.address); };
  const auto first = std::ranges::lower_bound(symbols_, std::tuple(section, offset), {}, place);
  const auto last = std::partition_point(first, symbols_.end(), [&](const Symbol& symbol) {
    return space_of(symbol) == section && symbol.address - offset < size;
  });
  return {first, last};
}

} // namespace sframe::elf
