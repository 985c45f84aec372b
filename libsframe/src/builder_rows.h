// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Encoded rows one by one, for the steps of Builder::optimize().

#pragma once

#include "format/version.h"
#include "sframe/builder.h"
#include "sframe/section.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sframe {

/// An encoded row.
struct RowBytes {
  std::uint32_t at;                ///< from the run's first row
  std::uint32_t offset;            ///< from the function's start
  std::span<const std::byte> body; ///< info byte and words
};

/// The row that begins `at` bytes from the run's first one.
inline RowBytes Builder::row_at(const Run& run, std::uint32_t at) const {
  const std::byte* const bytes = encoded_.data() + run.at + version_->attribute_size + at;
  const std::uint32_t width = run.offset_size();
  const EncodedRow row{.info = std::to_integer<std::uint8_t>(bytes[width])};
  return {
      at, format::load_field(bytes, width, order_), {bytes + width, 1 + row.word_count() * row.word_size()}};
}

/// The last row of a run that has rows.
inline RowBytes Builder::last_row(const Run& run) const {
  return row_at(run, run.size - version_->attribute_size - run.offset_size() - run.last_body);
}

/// Calls f(RowBytes) for `count` rows of the run; the first one begins `at` bytes from the run's first.
template <class F>
void Builder::each_row(const Run& run, std::uint32_t at, std::uint32_t count, F&& f) const {
  for (std::uint32_t i = 0; i < count; ++i) {
    const RowBytes row = row_at(run, at);
    f(row);
    at += run.offset_size() + static_cast<std::uint32_t>(row.body.size());
  }
}

/// The same for all rows.
template <class F> void Builder::each_row(const Run& run, F&& f) const {
  each_row(run, 0, run.num_fres, f);
}

} // namespace sframe
