// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where the fields of a runtime's structures are, according to the DWARF of the program.

#pragma once

#include "sframe/modules/llvm_debug_info.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::languages {

/// A part of a structure.
struct Field {
  std::uint64_t offset = 0; ///< bytes
  std::uint64_t size = 0;   ///< bytes; 0 if the type does not state it
  modules::DebugEntry type; ///< without type definitions and qualifiers
};

class DebugTypes {
public:
  /// The types of the unit that has the code at `address`, an address in the process. Finds nothing if the
  /// module has no debug information.
  DebugTypes(modules::Module& module, modules::DebugInfoCache& cache, std::uint64_t address);

  /// A variable of the unit, as a field at offset 0. Linear in the unit at the first call.
  std::optional<Field> variable(std::string_view name);
  /// What a pointer refers to.
  std::optional<Field> target(const Field& pointer);
  /// A field, by the names on the way to it. Nothing if one is missing, or too much would be read.
  std::optional<Field> field(const Field& structure, std::initializer_list<std::string_view> path);

private:
  std::optional<Field> of_type(const modules::DebugEntry& entry);
  std::optional<Field> member(const Field& structure, std::string_view name);

  std::optional<modules::DebugReader> reader_;
  std::map<std::string_view, llvm::DWARFDie> variables_; ///< names are in the file
};

} // namespace sframe::languages
