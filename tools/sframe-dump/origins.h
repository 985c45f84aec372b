// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --origin: where the rows of a section come from, by sframe-gen's report on it (--report=json,
// docs/json.md).

#pragma once

#include "dumper.h"
#include "object.h"

#include <sframe/base/address_ranges.h>
#include <sframe/base/problem.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::dump {

class Origins {
public:
  /// The most values (numbers, strings, lists, objects) and levels that a report may have: LLVM's parser,
  /// which is recursive, needs up to 100 bytes of memory for each value.
  static constexpr std::size_t max_values = 4'000'000, max_depth = 16;

  /// Reads a report. Fails if it is not one, or if it is not about one section. Linear; N log N in its
  /// ranges.
  static Result<Origins> parse(std::string_view json);

  /// Why the report is not about this section; empty if it may be. Compares build IDs, if both have one, and
  /// the numbers of bytes, FDEs and rows.
  std::optional<std::string> mismatch(const Object& object, const ObjectSection& section,
                                      const Part& part) const;

  /// The kinds of origin of rows, as bits in the order of names().
  enum : unsigned { cfi = 1, code = 2, stub = 4, orc = 8, go = 16, repaired = 32 };
  /// Those of the bytes of a range. Logarithmic.
  unsigned of(const AddressRange& range) const;
  /// The names of a set of origins: "cfi", "code", "stub", "orc", "go", "repaired".
  static std::vector<std::string_view> names(unsigned origins);

private:
  AddressSet code_, stubs_, orc_, go_, repaired_, all_; ///< all_: the others together
  std::string build_id_;                                ///< empty: none
  std::uint64_t bytes_ = 0, fdes_ = 0, rows_ = 0;
};

/// A row with the bytes that it is for, from the function's start.
struct PlacedRow {
  EncodedRow row;
  std::uint64_t begin = 0, size = 0;
};

/// The next row of a function; false at the end. Rows of a PCMASK function are for all of it. `begin` and
/// `size` are set only with `placed`, which costs decoding the row after it, too.
bool next_row(RowCursor& rows, const EncodedFde& fde, bool placed, PlacedRow& row);

} // namespace sframe::dump
