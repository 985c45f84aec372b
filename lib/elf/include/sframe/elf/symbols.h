// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the function of an address. The table takes the function symbols of .symtab, else .dynsym: STT_FUNC,
// STT_GNU_IFUNC, and STT_NOTYPE in executable sections, used by hand-written assembly. It sorts them once and
// cuts the address space into pieces, each owned by the innermost enclosing symbol. Names stay in the file.
//
// In a relocatable object all sections start at the same address, so symbols are looked up by section and
// offset.

#pragma once

#include "sframe/elf/image.h"

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

namespace sframe::elf {

struct Symbol {
  std::uint64_t address = 0; ///< st_value: in a relocatable object, the offset in `section`
  std::uint64_t size = 0;    ///< st_size, 0 if unknown
  std::string_view name;     ///< raw; valid as long as the image's bytes
  std::uint32_t section = 0; ///< index of the defining section
  std::uint8_t type = 0;     ///< STT_NOTYPE 0, STT_FUNC 2, STT_GNU_IFUNC 10
  std::uint8_t binding = 0;  ///< STB_LOCAL 0, STB_GLOBAL 1, STB_WEAK 2

  /// True unless the symbol has no type.
  bool function() const { return type != 0; }
};

class SymbolTable {
public:
  /// Names are truncated to this length, which bounds the cost of hostile tables.
  static constexpr std::size_t max_name_size = 65536;

  /// A table without symbols.
  SymbolTable() = default;

  /// Reads the image's symbols; invalid entries are skipped, and an unreadable table counts as empty
  /// (problem() has the reason). N log N, two allocations for any number of symbols.
  static SymbolTable load(const Image& image);

  struct Match {
    const Symbol* symbol = nullptr; ///< valid as long as the table
    std::uint64_t offset = 0;       ///< of the address from the symbol's start
  };

  /// The innermost symbol that encloses the address. A symbol of size 0 outside all others extends to the
  /// next symbol or to its section's end. Of several at one address: with a size rather than without,
  /// functions rather than untyped ones, global rather than weak rather than local. Nothing if no symbol
  /// covers the address. Logarithmic.
  std::optional<Match> find(std::uint64_t address) const { return find(0, address); }

  /// Same, in a relocatable object: `offset` bytes from the start of section `section`. In other images
  /// `section` must be 0.
  std::optional<Match> find(std::uint32_t section, std::uint64_t offset) const;

  /// All symbols that start at the address, the preferred one first.
  std::span<const Symbol> at(std::uint64_t address) const { return at(0, address); }
  std::span<const Symbol> at(std::uint32_t section, std::uint64_t offset) const;

  /// All symbols that start in [offset, offset + size), by address and preference. Logarithmic.
  std::span<const Symbol> in(std::uint32_t section, std::uint64_t offset, std::uint64_t size) const;

  /// All symbols: by section (in a relocatable object), address and preference.
  std::span<const Symbol> symbols() const { return symbols_; }

  /// Why symbols are missing, if any are.
  const std::optional<Problem>& problem() const { return problem_; }

private:
  /// Addresses from `address` to the next piece belong to symbols_[symbol], or to no symbol.
  struct Piece {
    std::uint64_t address;
    std::uint32_t space; ///< section index in a relocatable object, else 0
    std::uint32_t symbol;
  };
  static constexpr std::uint32_t no_symbol = 0xffffffff;
  std::uint32_t space_of(const Symbol& symbol) const { return relocatable_ ? symbol.section : 0; }
  void cut(const Image& image);

  std::vector<Symbol> symbols_;
  std::vector<Piece> pieces_;
  std::optional<Problem> problem_;
  bool relocatable_ = false;
};

/// The value (st_value) of the defined symbol of that name, function or variable: from .dynsym, else from
/// .symtab. Nothing if there is none, or if the table cannot be read. Linear in the size of the string table;
/// if it has the name, also in the number of symbols. Allocates nothing.
std::optional<std::uint64_t> find_definition(const Image& image, std::string_view name);

} // namespace sframe::elf

#pragma GCC visibility pop
