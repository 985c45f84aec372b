// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources of rows in this process that belong to no file: generated code (lib/jit). Walks of the own stack
// (lib/here) ask them for addresses that are in no module. Neither library needs the other.

#pragma once

#include "sframe/row.h"

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe {

/// The row for an address; `fixed` rules are replaced by locations.
struct SourcedRow {
  FrameRow row;
  bool signal_frame = false;
};

/// An object with static storage duration, in code that is never unloaded: sources are not removed.
struct RowSource {
  /// False if the source has no row for the address. Async-signal-safe.
  bool (*find)(std::uint64_t pc, SourcedRow& found) noexcept = nullptr;
  RowSource* next = nullptr; ///< set by add_row_source()
};

/// Adds a source, which must not have been added before.
void add_row_source(RowSource& source);

/// The row of the first source that has one. Async-signal-safe if the sources are, as they must be.
bool find_sourced_row(std::uint64_t pc, SourcedRow& found);

} // namespace sframe

#pragma GCC visibility pop
