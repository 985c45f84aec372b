// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The places and names of a section's functions. Symbols and relocations of an object are read on first use,
// so formats without names do not pay for them.

#pragma once

#include "object.h"

#include <sframe/elf/symbols.h>
#include <sframe/files/opened_file.h>
#include <sframe/section.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::dump {

/// The start of a function: an address, or in a relocatable object an offset in a section.
struct FunctionLocation {
  std::uint64_t start = 0;
  std::uint32_t section = 0;                   ///< 0 = an address
  const elf::Relocation* relocation = nullptr; ///< gives the start, in a relocatable object
};

/// A symbol, and the function's offset from its start.
struct FunctionName {
  std::string_view raw;
  std::uint64_t offset = 0;
  Budget* budget = nullptr; ///< charged for demangling

  /// "name", "name+0x10"; demangled if `demangled`.
  std::string text(bool demangled) const;
};

/// Looks up the debug file of an object's image, if it has one.
using FindDebugFile = std::function<std::optional<files::OpenedFile>(const Object& object)>;

class Names {
public:
  /// `find_debug` is asked when the first name of a file is needed; empty: debug files are not used.
  explicit Names(FindDebugFile find_debug = {}) : find_debug_(std::move(find_debug)) {}

  /// Selects another object or section; `object` and `section` must live until the next call.
  void select(const Object& object);
  void select(const ObjectSection& section);

  /// The start of function `fde` of the SFrame section at `part_offset` in the selected section.
  FunctionLocation locate(const sframe::Section& part, std::uint64_t part_offset, const EncodedFde& fde);

  /// The symbol that covers the place, if any.
  std::optional<FunctionName> find(const FunctionLocation& location);

  /// The functions that start inside an FDE of `size` bytes, after its own start: an FDE may have several. By
  /// address, one name for each. Logarithmic, and linear in the symbols there.
  struct Inner {
    std::uint64_t start = 0; ///< as FunctionLocation::start
    FunctionName name;
  };
  std::vector<Inner> inside(const FunctionLocation& location, std::uint64_t size);

  /// ".text" for a place in a relocatable object, else empty.
  std::string_view section_name(const FunctionLocation& location) const;

  /// True if the object or its debug file has symbols of functions.
  bool any() { return !symbols().symbols().empty(); }

  /// The error in reading the section's relocations, if any.
  const std::optional<Problem>& problem() const { return problem_; }

private:
  const elf::SymbolTable& symbols();
  const elf::Relocation* relocation_at(std::uint64_t offset) const;
  bool starts_as_written(const sframe::Section& part, std::uint64_t part_offset);

  FindDebugFile find_debug_;
  const Object* object_ = nullptr;
  std::optional<files::OpenedFile> debug_; ///< of the object; symbols_ refers to its bytes
  std::optional<elf::SymbolTable> symbols_;
  std::vector<elf::Relocation> relocations_; ///< by offset
  std::optional<Problem> problem_;
  /// The result of starts_as_written() for the part at that offset.
  struct Reading {
    std::uint64_t part_offset;
    bool as_written;
  };
  std::optional<Reading> reading_;
};

} // namespace sframe::dump
