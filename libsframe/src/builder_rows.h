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

/// An encoded row: its offset, and its info byte and words.
struct RowBytes {
  std::uint32_t offset;
  std::span<const std::byte> body;
};

/// Calls f(RowBytes) for `count` rows of the run; the first one begins `at` bytes from the run's first.
template <class F>
void Builder::each_row(const Run& run, std::uint32_t at, std::uint32_t count, F&& f) const {
  auto bytes = run_bytes(run).subspan(version_->attribute_size + at);
  const std::uint32_t width = 1u << static_cast<std::uint32_t>(run.fre_type);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t offset = format::load_field(bytes.data(), width, order_);
    const EncodedRow row{.info = std::to_integer<std::uint8_t>(bytes[width])};
    const std::uint32_t body = 1 + row.word_count() * row.word_size();
    f(RowBytes{offset, bytes.subspan(width, body)});
    bytes = bytes.subspan(width + body);
  }
}

/// The same for all rows.
template <class F> void Builder::each_row(const Run& run, F&& f) const {
  each_row(run, 0, run.num_fres, f);
}

} // namespace sframe
