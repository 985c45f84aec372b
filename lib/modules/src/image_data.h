// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read of an image at the first question, and kept for all modules of it.

#pragma once

#include "plt_names.h"

#include "sframe/base/address_ranges.h"
#include "sframe/base/lazy.h"
#include "sframe/elf/go_functions.h"
#include "sframe/elf/mapped_images.h"
#include "sframe/elf/symbols.h"
#include "sframe/elf/unpack.h"
#include "sframe/files/open_files.h"
#include "sframe/modules/tables.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::modules {

/// Symbols from .gnu_debugdata: an xz-compressed ELF file with the stripped symbols that are not in .dynsym.
struct DebugData {
  std::optional<elf::Unpacked> contents; ///< nothing if there is no section, or it cannot be read
  elf::SymbolTable symbols;
  std::string problem; ///< why it cannot be read
};

struct ImageData {
  Lazy<elf::BiasFinder> bias_finder;
  Lazy<AddressSet> code; ///< executable segments
  /// Those of an object that are in memory, by address; there may be very many.
  Lazy<std::vector<const elf::SectionHeader*>> loaded_sections;
  Lazy<elf::SymbolTable> symbols;
  std::map<std::string, std::optional<std::uint64_t>, std::less<>> definitions; ///< by name
  Lazy<DebugData> debugdata;
  Lazy<std::optional<elf::GoFunctions>> go;
  std::map<std::uint64_t, elf::Symbol> go_symbols; ///< of the functions asked for, by address
  Lazy<PltNames> plt;
  std::unique_ptr<UnwindTables> tables;
  Lazy<bool> has_debug_frame; ///< whether .debug_frame of the separate debug file is among the tables
};

inline ImageData& data_of(files::SharedImage& image) {
  return image.derived<ImageData>();
}

inline const elf::SymbolTable& symbols_of(files::SharedImage& image) {
  return data_of(image).symbols.get(
      [&] { return image.image() ? elf::SymbolTable::load(*image.image()) : elf::SymbolTable(); });
}

} // namespace sframe::modules
