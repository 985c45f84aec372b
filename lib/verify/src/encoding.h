// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: how a section is encoded: widths (S012), reserved bits (S014), and which bytes its rows take:
// those that none takes (S015) and those that several functions take (S021).

#pragma once

#include "sframe/section.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <vector>

namespace sframe::verify {

/// Widths and reserved bits of one section. Each function is reported once for each of them.
class EncodingCheck {
public:
  EncodingCheck(const SframeTable& table, const SframePart& part, Sink& sink)
      : table_(table), part_(part), section_(part.section), sink_(sink) {}

  void check_header();
  void check_function(const EncodedFde& fde, const Location& at);
  /// `row` stands before a row that can be read.
  void check_row(const EncodedFde& fde, RowCursor row, const Location& at);

private:
  void report(Id id, std::string message, std::uint64_t offset, std::optional<Location> at = {});
  bool fits(const EncodedFde& fde, const EncodedRow& row, std::uint32_t size) const;

  const SframeTable& table_;
  const SframePart& part_;
  const Section& section_;
  Sink& sink_;
  bool width_told_ = false, sign_told_ = false; ///< of the function at hand
};

/// The bytes that the functions' rows take.
class RowExtents {
public:
  RowExtents(const SframeTable& table, const SframePart& part, Sink& sink)
      : table_(table), part_(part), section_(part.section), sink_(sink) {}

  /// The rows of `fde` end at `end` (bytes from the section's start).
  void add(const EncodedFde& fde, std::uint64_t end);

  /// Reports what is shared and, where all functions were added whole, what is not referred to.
  void check(bool complete);

  /// Rows, those that are shared counted once. After check().
  std::uint64_t distinct_rows() const { return distinct_rows_; }

private:
  struct Extent {
    std::uint64_t begin, end;
    std::uint32_t function, rows;
  };
  void check_gap(std::uint64_t begin, std::uint64_t end, const char* where);

  const SframeTable& table_;
  const SframePart& part_;
  const Section& section_;
  Sink& sink_;
  std::vector<Extent> extents_;
  std::uint64_t distinct_rows_ = 0;
};

/// Reports bytes behind the last section of each table, beyond the padding to 8 bytes (S015).
void check_tails(const Input& input, Sink& sink);

} // namespace sframe::verify
