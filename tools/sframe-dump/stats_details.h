// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page of --stats shows beyond the numbers of --format=json: the functions with the most rows or
// bytes, how many functions have how many rows, and the maps of the code. The size is limited for each
// section and for the page as a whole.

#pragma once

#include "names.h"
#include "stats.h"

#include <llvm/Support/JSON.h>

#include <array>
#include <cstdint>
#include <vector>

namespace sframe::dump {

class Details {
public:
  explicit Details(Names& names) : names_(&names) {}

  void begin_part();
  void add(const EncodedFde& fde, const FunctionLocation& location, const FunctionStats& stats);
  /// Writes "largest", "not_listed" and "rows_per_function" as keys of the part.
  void write_part(llvm::json::OStream& json);

private:
  static constexpr std::size_t most_of_a_part = 1000; ///< by rows, and as many by bytes
  static constexpr std::size_t most_of_a_page = 20'000;

  struct Function {
    FunctionLocation location;
    std::uint32_t size = 0;
    FunctionStats stats;
    FdeType type{};
    std::uint32_t number = 0; ///< in the part
  };

  void keep_largest();

  Names* names_;
  std::vector<Function> functions_;                   ///< candidates: more than are kept
  std::uint32_t count_ = 0;                           ///< functions of the part
  std::size_t listed_ = 0;                            ///< in the page
  std::array<std::uint64_t, 34> functions_by_rows_{}; ///< by the number of bits in the number of rows
};

/// Writes "maps" as a key of the object.
void write_maps(llvm::json::OStream& json, const CodeMaps& maps);

} // namespace sframe::dump
