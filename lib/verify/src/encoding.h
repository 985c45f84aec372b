// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: checks how a section is encoded: widths (S012), reserved bits (S014), row bytes that no function
// uses (S015) and row bytes that several functions use (S021, S026).

#pragma once

#include "sframe/section.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"

#include <vector>

namespace sframe::verify {

/// Widths and reserved bits of one section. Each is reported once per function.
class EncodingCheck {
public:
  EncodingCheck(const SframeTable& table, const SframePart& part, Sink& sink)
      : table_(table), part_(part), section_(part.section), sink_(sink) {}

  void check_header();
  void check_function(const EncodedFde& fde, const Location& at);
  /// `row` is positioned before a row that can be read.
  void check_row(const EncodedFde& fde, RowCursor row, const Location& at);

private:
  void report(Id id, std::string message, std::uint64_t offset, std::optional<Location> at = {});
  bool fits(const EncodedFde& fde, const EncodedRow& row, std::uint32_t size) const;

  const SframeTable& table_;
  const SframePart& part_;
  const Section& section_;
  Sink& sink_;
  bool width_reported_ = false, sign_reported_ = false; ///< of the current function
};

/// The bytes used by the functions' rows.
class RowExtents {
public:
  /// `relocatable`: the section is in an object, where sharing is an error.
  RowExtents(const SframeTable& table, const SframePart& part, bool relocatable, Sink& sink)
      : table_(table), part_(part), section_(part.section), relocatable_(relocatable), sink_(sink) {}

  /// The rows of `fde` end at `end` (bytes from the section's start).
  void add(const EncodedFde& fde, std::uint64_t end);

  /// Reports shared bytes and, if `complete` (the rows of all functions were added in full), unreferenced
  /// bytes.
  void check(bool complete);

  /// Number of rows, shared ones counted once. Call after check().
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
  bool relocatable_;
  Sink& sink_;
  std::vector<Extent> extents_;
  std::uint64_t distinct_rows_ = 0;
};

/// Reports bytes after the last section of each table, beyond the padding to 8 bytes (S015).
void check_tails(const Input& input, Sink& sink);

} // namespace sframe::verify
